"""The engine: a page is read, run, cut into programs, rendered, and recorded.

The rooms are `run`, `cut`, `compilers` and `draw`; what is beside them is the hall.
"""
