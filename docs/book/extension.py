"""What Sphinx calls: the book's settings, directives and steps.

The package `book` itself imports nothing, so what pages take from `book.draw` does not
depend on the rest of the engine: a change there runs no page again.
"""

from importlib.metadata import version


def setup(app) -> dict:
    """Ask for the hardware, and let Sphinx call each step."""
    from book import light, probe

    probe.setup(app)  # the answer comes while the rest loads
    light.leave_out()

    from book import place, questions, recorded, shelf
    from book.compilers import show
    from book.steps import STEPS

    app.add_config_value("book_jobs", 0, "", types=(int,))
    app.add_directive("compiled", show.Compiled)
    recorded.Recorded.app = app
    app.add_directive("record", recorded.Recorded)
    place.Chapter.app = app
    app.add_directive("chapter", place.Chapter)
    questions.Questions.app = app
    app.add_directive("questions", questions.Questions)
    shelf.Messages.app = app
    app.add_directive("messages", shelf.Messages)
    for order, (event, step) in enumerate(STEPS):
        app.connect(event, step, priority=800 + order)
    return {"version": version("sphinx"), "parallel_read_safe": True}
