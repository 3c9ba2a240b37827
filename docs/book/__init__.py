"""The engine of the book: a Sphinx extension, in a folder for each stage of a build.

`extension.py` connects all of it to Sphinx.  Imports go one way, from `publish` down to
`source`: the list is in `pyproject.toml`, and `nox -s lint` checks it.
"""
