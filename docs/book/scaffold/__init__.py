"""`nox -s new`: a new page, its program and its exercise, from templates."""
