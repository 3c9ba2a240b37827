"""`{messages}`: every page that is about a message, by function called and by words.

    ```{messages} called
    ```

lists the functions that raise, and the pages of each; `{messages} words` lists the
messages of maps, meshes and devices in the order of their words, with the kind of
error; `{messages} general` those that have nothing to do with these.
"""

from __future__ import annotations

from docutils import nodes

from book.directives.base import BookDirective
from book.directives.shown import CannotShow
from book.source.model import Page, Raised
from book.state import Book

About = tuple[Page, Raised]  # a page, and the message that it is about


class ErrorIndex(BookDirective):
    """The pages with an `error:`, in one of three lists."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write lists of links and let the page's own parser read them."""
        [order] = self.arguments
        return self.parsed(self.shown(markdown, order))


def markdown(book: Book, order: str) -> str:
    """The list `called`, `words` or `general`, as Markdown.

    Raises `CannotShow` for another list, and where no page is about a message.
    """
    if order not in ("called", "words", "general"):
        raise CannotShow(f"{{messages}} {order}: it lists called, words or general")
    about = [(page, page.error) for page in book.pages() if page.error]
    if not about:
        raise CannotShow(f"{{messages}} {order}: no page has `error:`")
    about.sort(key=lambda one: (one[1].general, _sortable_title(one[0])))
    if order == "called":
        return _by_function(about)
    chosen = [one for one in about if one[1].general == (order == "general")]
    return "\n".join(f"{_link(page)}{_kind(page, error)}" for page, error in chosen)


def _by_function(about: list[About]) -> str:
    """A list below each function; those that most messages are of come first."""
    called: dict[str, list[Page]] = {}
    for page, error in about:
        for name in error.called:
            called.setdefault(name, []).append(page)
    lines = []
    for name in sorted(called, key=lambda name: (-len(called[name]), name)):
        lines += [f"`{name}`", "", *map(_link, called[name]), ""]
    return "\n".join(lines)


def _link(page: Page) -> str:
    """A line that leads to the page."""
    return f"- [](/{page.name}.md)"


def _sortable_title(page: Page) -> str:
    """The letters, digits and spaces of the page's title."""
    letters = (c for c in page.title.casefold() if c.isalnum() or c == " ")
    return "".join(letters).strip()


def _kind(page: Page, error: Raised) -> str:
    """The error that the message is of, where the page's title does not say it."""
    kind, colon, _ = error.words.partition(":")
    if not colon or not kind.isidentifier():
        return ""
    return "" if kind.casefold() in _sortable_title(page) else f" ({kind})"
