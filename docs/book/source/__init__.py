"""Read a page: its cells, listings, front matter, and the files that its code uses."""
