"""A page's cells run once, on the right hardware, while nothing changes."""
