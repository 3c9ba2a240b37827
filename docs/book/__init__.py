"""The engine: a page is read, run, cut into programs, rendered, and recorded.

The rooms are `run`, `cut`, `compilers` and `draw`; what is beside them is the hall.
"""

from importlib.metadata import version


def setup(app) -> dict:
    """Connect the rooms to a build, in the order in which a build goes through them."""
    from book import build, fold, private, record, slim, targets
    from book.compilers import show
    from book.cut import button

    for room in (targets, build, show, button, fold, record, slim, private):
        room.setup(app)
    return {"version": version("sphinx"), "parallel_read_safe": True}
