"""The directives of the book: lists and tables that are made from its pages."""
