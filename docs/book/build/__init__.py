"""One build, from its beginning to its end."""
