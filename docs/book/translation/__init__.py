"""The book in other languages: which pages there are, and what is to be translated."""
