"""The book's own Sphinx extensions: one module per promise."""
