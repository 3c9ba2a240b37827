"""Rules for the pages of `docs/errors/`, the shelf that a message leads readers to."""

from __future__ import annotations

import builtins
import importlib
import re
import warnings
from functools import cache
from pathlib import Path

from book.html.error_links import APART, SHELF, in_order, page_about, words
from book.html.release_diff import Outputs, code, kept, raising
from book.source.model import Page
from tests.house.book import Book, at

_SHARE = 0.5  # of the words of a message that a title has, at least,
_ROW = 3  # or so many of them in a row, in quotes
_OUT = re.compile(r"\]\(\.\./(?!evidence/)")  # a link to a page that is no record
_OTHERWISE = ("If ", "When ", "Where ")
OF_ITSELF = {
    "AssertionError": "it has no words, so a sentence above it leads to its page",
    "AssertionError: Not equal to tolerance rtol=1e-07, atol=0": "the page's subject",
    "IndexError: index out of range": "Python's own, of any list",
    "NameError: unbound axis name: data": "errors/unbound_axis_name has both wordings",
    "TypeError: cannot reshape array": "NumPy's own, of any array",
    "RuntimeError: Profile has already been started. Only one profile may be run "
    "at a time.": "its section on jit/profiling has the cure",
    "RuntimeError: re-tracing function scale at": "its section on jit/retracing has "
    "the cure",
    "ValueError: User-provided restore item and on-disk value metadata tree "
    "structures do not match": "Orbax's, with the cure on scale/checkpoints_in_detail",
    "JaxRuntimeError: x must be positive, got [ 1. -2.]": "the lesson's own words",
    "ValueError: w has 3 dimensions, not 2": "the lesson's own words",
    "ValueError: Cannot map in_axis=0 for BCOO array with n_batch=0": "its section on "
    "vmap/axes_in_detail has the cure",
    "ValueError: Invalid shapes for solve": "its section on vmap/linear_algebra has "
    "the cure",
    "Exception: performing a set/swap operation with vmapped value on an unbatched "
    "array reference": "its section on vmap/mutable_arrays has the cure",
    "TypeError: JAX array with PRNGKey dtype cannot be converted to a NumPy array. Use "
    "jax.random.key_data(arr)": "its section on vmap/random_keys_in_detail has "
    "the cure",
}  # what pages raise and no page of the shelf is about, and why


@cache
def said_once(docs: Path) -> dict[str, Outputs]:
    """Return what was kept, read once for all pages."""
    return kept(docs)


def spoken(page: Page) -> list[tuple[str, list[str]]]:
    """Return the messages that a page is about: the kind of error, and its words.

    None where there may be no error, and a result is wrong.
    """
    if not page.error or "no error" in page.error.words:
        return []
    parts = (one.partition(":") for one in APART.split(page.error.words))
    return [(kind, words(said)) for kind, _, said in parts if kind.isidentifier()]


def lists(page: Page) -> set[str]:
    """Return the orders in which a page lists the messages."""
    return {fence.argument for fence in page.fences if fence.name == "messages"}


def it_is_about_a_message(page: Page) -> list[str]:
    """A page of the shelf says which message it is about, unless it lists them all."""
    if page.error or lists(page):
        return []
    return [at(page, 1, "its front matter has no `error:`")]


def the_title_has_the_words(page: Page) -> list[str]:
    """Half of the words of a message are in the title, or it quotes three in a row."""
    messages = spoken(page)
    named, quoted = set(words(page.title)), re.findall(r'"([^"]+)"', page.title)
    quotes = [set(words(one)) for one in quoted if len(words(one)) >= _ROW]
    lacking = []
    for kind, said in messages:
        asked = set(said or [kind.lower()])
        if len(asked & named) >= _SHARE * len(asked) or any(q <= asked for q in quotes):
            return []
        lacking += sorted(asked - named)
    what = f"the title lacks words of the message: {', '.join(lacking)}"
    return [at(page, 1, what)] if lacking else []


# Pages that print their message, since the release decides which call raises it.
PRINTED = {"errors/axis_shapes"}


def the_words_are_raised(page: Page) -> list[str]:
    """What a page says is raised was raised, in these words and in this order.

    Nothing is known of a new page, nor of a warning: only what is raised is kept.
    """
    if page.name in PRINTED:
        return []
    messages = spoken(page)
    docs = page.path.parents[page.name.count("/")]
    known = [kept_there.get(page.name, {}) for kept_there in said_once(docs).values()]
    pairs = [
        (said, words(one))
        for kind, said in messages
        for there in known
        for one in there.values()
        if one.partition(":")[0] == kind
    ]
    if not pairs or any(in_order(*pair) for pair in pairs):
        return []
    what = f"no message kept of this page has these words: {page.error.words}"
    return [at(page, 1, what)]


def what_a_cell_declares_was_raised(page: Page) -> list[str]:
    """What a cell declares is in a message that was kept of it, where one was.

    A build shows what a message of the shelf says now, also where the words are new.
    """
    docs, found = page.path.parents[page.name.count("/")], []
    known = [kept_there.get(page.name, {}) for kept_there in said_once(docs).values()]
    for cell in raising(page):
        of_cell = code(page, cell)
        said = [words(there[of_cell]) for there in known if of_cell in there]
        if said and not any(in_order(words(cell.raises), one) for one in said):
            what = f"no message kept of this cell has the words {cell.raises!r}"
            found.append(at(page, cell.line, what))
    return found


def it_leads_to_a_page_that_teaches(page: Page) -> list[str]:
    """Who is cured can learn; the sentence that says how to get devices is no link."""
    lines = page.text.splitlines()[page.ends :]
    if not page.error or any(
        _OUT.search(one) and "ight devices" not in one for one in lines
    ):
        return []
    return [at(page, 1, "it has no link to a page that teaches")]


def it_ends_with_other_causes(page: Page) -> list[str]:
    """The last section is for whoever has none of the causes above it."""
    last = [one for one in page.headings if one.level == 2][-1:]
    if not page.error or any(one.text.startswith(_OTHERWISE) for one in last):
        return []
    what = "its last section is for readers with none of these causes, so its "
    what += "heading begins with If, When or Where"
    return [at(page, last[0].line if last else 1, what)]


def what_was_called_exists(page: Page) -> list[str]:
    """A function that a reader had called can be called, or is said to be gone."""
    found = []
    for name in page.error.called if page.error else ():
        gone = page.path.with_name("gone.md")
        told = gone.is_file() and name in gone.read_text(encoding="utf-8")
        if not exists(name) and not told:
            found.append(at(page, 1, f"there is no {name}, and gone.md has none"))
    return found


@cache
def exists(name: str) -> bool:
    """Whether a dotted name is Python's own or can be imported, deprecated or not."""
    if hasattr(builtins, name):
        return True
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


def every_message_is_listed(book: Book) -> list[str]:
    """A page of the book lists the messages, by function called and by words."""
    pages = [book.page(name) for name in book.page_names]
    about = [page for page in pages if page.error]
    found = [
        at(page, 1, f"it has an `error:`, so it belongs into docs/{SHELF}")
        for page in about
        if not page.name.startswith(SHELF)
    ]
    listed = set().union(*map(lists, pages))
    for order in sorted({"called", "words"} - listed if about else ()):
        found.append(f"docs/{SHELF}:1: no page has ```{{messages}} {order}```")
    return found


def what_pages_raise_is_on_the_shelf(book: Book) -> list[str]:
    """A message that another page raises has a page, unless an exercise gives it."""
    pages, releases = (
        list(map(book.page, book.page_names)),
        said_once(book.root / "docs"),
    )
    about, found = [page for page in pages if page.error], []
    for page in pages:
        for cell in () if page.name.startswith(SHELF) else raising(page):
            if "examples.exercises" in cell.source or cell.raises in OF_ITSELF:
                continue
            of_cell = code(page, cell)
            told = [
                known.get(page.name, {}).get(of_cell) for known in releases.values()
            ]
            if any(one and not page_about(one, about) for one in told):
                what = f"no page of docs/{SHELF} is about {cell.raises!r}"
                found.append(at(page, cell.line, what))
    return found
