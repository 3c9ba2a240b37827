"""The engine: a page is read, run, cut into programs, rendered, and recorded.

The rooms are `run`, `cut`, `compilers`, `draw` and `play`; what is beside them is the
hall, where a build begins and ends and the site is finished.
"""
