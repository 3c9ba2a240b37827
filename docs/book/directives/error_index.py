"""`{messages}`: every page that is about a message, by function called and by words.

    ```{messages} called
    ```

lists the functions that raise, and the pages of each; `{messages} words` lists the
messages in the order of their words, with the kind of error in front.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book.html import error_links
from book.source.model import Page


class Messages(SphinxDirective):
    """The pages with an `error:`, in one of two orders."""

    required_arguments = 1
    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Write lists of links and let the page's own parser read them."""
        order = self.arguments[0]
        text = order in ORDERS and text_of(self.app.book.pages(), order)
        if not text:
            known = order in ORDERS
            why = "no page has `error:`" if known else "it lists by called or by words"
            raise self.error(f"{{messages}} {order}: {why}")
        return self.parse_text_to_nodes(text, offset=self.content_offset)


def text_of(pages: list[Page], order: str) -> str:
    """The messages in an order, in Markdown; nothing where no page is about one."""
    return ORDERS[order]([page for page in pages if page.error])


def by_function(about: list[Page]) -> str:
    """A list below each function; those that most messages are of come first."""
    called: dict[str, list[Page]] = {}
    for page in sorted(about, key=title):
        for name in page.error.called:
            called.setdefault(name, []).append(page)
    lines = []
    for name in sorted(called, key=lambda name: (-len(called[name]), name)):
        lines += [f"`{name}`", "", *map(link, called[name]), ""]
    return "\n".join(lines)


def by_words(about: list[Page]) -> str:
    """One list, each message behind its kind of error."""
    return "\n".join(f"{link(page)}{kind(page)}" for page in sorted(about, key=title))


def link(page: Page) -> str:
    """A line that leads to the page."""
    return f"- [](/{page.name}.md)"


def title(page: Page) -> str:
    """The words of the page's title, to sort by."""
    text = next((h.text for h in page.headings if h.level == 1), page.name)
    return "".join(c for c in text.casefold() if c.isalnum() or c == " ").strip()


def kind(page: Page) -> str:
    """The error that the message is of, where its page's title does not say it."""
    first, colon, _ = page.error.words.partition(":")
    named = colon and first.isidentifier() and first.casefold() not in title(page)
    return f" ({first})" if named else ""


ORDERS = {"called": by_function, "words": by_words}


def again(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """What lists messages, or leads to one, is read again when one has changed."""
    pages = app.book.pages()
    about = [(page.name, page.error, title(page)) for page in pages if page.error]
    before, env.book_messages = getattr(env, "book_messages", None), about
    lists = [p.name for p in pages if any(f.name == "messages" for f in p.fences)]
    return [] if about == before else lists + error_links.again(pages)
