"""Run the cells of a page once, on the right hardware, and keep what they put out."""
