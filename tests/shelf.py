"""Rules for the shelf of errors, `docs/errors/`, where readers arrive with a message.

Like the rules of `tests/house.py`, each is a function from what it judges to sentences
of complaint.
"""

from __future__ import annotations

import importlib
import re
import warnings
from functools import cache

from book.pages import Page
from book.wordings import SHELF, kept, raising
from tests import house

_SHARE = 0.5  # of the words of a message that a title has, at least


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return re.findall(r"\w+", text.lower())


def spoken(page: Page) -> list[str]:
    """Return the words of the message that a page is about, or the name of its error.

    A message is known by its words; where it has none, by the name of its error.
    """
    kind, _, message = page.error.words.partition(":")
    return words(message) or words(kind)


def title(page: Page) -> str:
    """Return the title of a page."""
    return next((h.text for h in page.headings if h.level == 1), "")


def lists(page: Page) -> set[str]:
    """Return the orders in which a page lists the messages."""
    return {fence.argument for fence in page.fences if fence.name == "messages"}


def it_is_about_a_message(page: Page) -> list[str]:
    """A page of the shelf says which message it is about, unless it lists them all."""
    if page.error or lists(page):
        return []
    return [house.at(page, 1, "its front matter has no `error:`")]


def the_title_has_the_words(page: Page) -> list[str]:
    """Half of the words of a message, or more, are in the title, where one looks."""
    if not page.error:
        return []
    asked, named = set(spoken(page)), set(words(title(page)))
    if len(asked & named) >= _SHARE * len(asked):
        return []
    missing = ", ".join(sorted(asked - named))
    return [house.at(page, 1, f"the title lacks words of the message: {missing}")]


def the_words_are_raised(page: Page) -> list[str]:
    """What a page says is raised was raised, in these words and in this order.

    Nothing is known of a new page, nor of a warning: only what is raised is kept.
    """
    if not page.error:
        return []
    docs = page.path.parents[page.name.count("/")]
    known = [messages.get(page.name, {}) for messages in kept(docs).values()]
    kind, _, message = page.error.words.partition(":")
    told = [one for messages in known for one in messages.values()]
    told = [one for one in told if one.partition(":")[0] == kind]
    if not told or any(in_order(words(message), words(one)) for one in told):
        return []
    what = f"no message kept of this page has these words: {page.error.words}"
    return [house.at(page, 1, what)]


def in_order(wanted: list[str], there: list[str]) -> bool:
    """Whether all that is wanted is there, in this order, other words between."""
    rest = iter(there)
    return all(word in rest for word in wanted)


def other_wordings_are_shown(page: Page) -> list[str]:
    """Below a message stands how other releases word it, if they do."""
    shown = [fence.line for fence in page.fences if fence.name == "wordings"]
    cells = raising(page)
    if not page.error or not cells or any(line > cells[0].line for line in shown):
        return []
    what = "there is no ```{wordings} below the cell that raises"
    return [house.at(page, cells[0].line, what)]


def what_was_called_exists(page: Page) -> list[str]:
    """A function that a reader had called can be called, or is said to be gone."""
    found = []
    for name in page.error.called if page.error else ():
        gone = page.path.with_name("gone.md")
        told = gone.is_file() and name in gone.read_text(encoding="utf-8")
        if not exists(name) and not told:
            found.append(house.at(page, 1, f"there is no {name}, and gone.md has none"))
    return found


@cache
def exists(name: str) -> bool:
    """Whether a dotted name can be imported, deprecated or not."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                there = importlib.import_module(".".join(parts[:count]))
            except ImportError:
                continue
            for part in parts[count:]:
                there = getattr(there, part, None)
            return there is not None
    return False


RULES = (
    it_is_about_a_message,
    the_title_has_the_words,
    the_words_are_raised,
    other_wordings_are_shown,
    what_was_called_exists,
)


def every_message_is_listed(book: house.Book) -> list[str]:
    """A page of the book lists the messages, by function called and by words."""
    pages = [book.page(name) for name in book.page_names]
    about = [page for page in pages if page.error]
    found = [
        house.at(page, 1, f"it has an `error:`, so it belongs into docs/{SHELF}")
        for page in about
        if not page.name.startswith(SHELF)
    ]
    listed = set().union(*map(lists, pages))
    for order in sorted({"called", "words"} - listed if about else ()):
        found.append(f"docs/{SHELF}:1: no page has ```{{messages}} {order}```")
    return found


BOOK_RULES = (every_message_is_listed,)
