"""`{record}`: what this build verified, page by page, and what other machines did.

The pages stand in the order of the contents, a table for each chapter.  What is the
same for all, as the day and the devices may be, is said once, and else in a column.
Each row has an address, to which the last line of its page leads.  A record kept under
`evidence/records/` is told in a line.  `{record} summary` is this build in a sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from docutils import nodes
from docutils.nodes import make_id
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.html.build_record import make
from book.source.chapters import table_of_contents
from book.source.model import Page

SUMMARY, TABLES = "summary", "tables"
_COUNTS = ("cells", "assertions", "snippets", "seconds")


class Recorded(SphinxDirective):
    """A sentence, or tables of this build and a line for each record that is kept."""

    optional_arguments = 1
    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Write Markdown and let the page's own parser read it."""
        book = self.app.book
        what = (self.arguments or [TABLES])[0]
        self.env.book_records = {**shown(self.env), self.env.docname: what}
        record = make(book)
        if what == SUMMARY:
            return self.parse_text_to_nodes(summary(record))
        found = self.parse_text_to_nodes(
            f"{told(record, 'This build')} {alike(record)}"
        )
        for title, names, text in tables(record, book.pages(), self.config.root_doc):
            made = self.parse_text_to_nodes(f"{title}\n\n{text}")
            table = next(node for one in made for node in one.findall(nodes.table))
            table["classes"].append("recorded")
            [body] = table.findall(nodes.tbody)
            for name, row in zip(names, body.findall(nodes.row), strict=True):
                row["ids"].append(address(name))
            found += made
        try:
            return found + self.parse_text_to_nodes(others(book))
        except NoRecord as error:
            raise self.error(str(error)) from None


class NoRecord(Exception):
    """A file among the records is none; the text names it."""


def text_of(book, root: str, what: str) -> str:
    """What the directive says, in Markdown."""
    record = make(book)
    if what == SUMMARY:
        return summary(record)
    chapters = [
        f"{title}\n\n{text}" for title, _, text in tables(record, book.pages(), root)
    ]
    first = f"{told(record, 'This build')} {alike(record)}"
    return "\n\n".join([first, *chapters, others(book)])


def others(book) -> str:
    """A line for each record of another machine; raises `NoRecord`."""
    lines = []
    for path in _kept(book):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            lines.append(f"- {told(record, path.stem)} {ran_on(record)}")
        except (ValueError, LookupError, TypeError, AttributeError):
            raise NoRecord(f"records/{path.name} is no record") from None
    return "\n".join(lines)


def address(name: str) -> str:
    """Where on the page of records the row of the page `name` is."""
    return make_id(f"record-{name}")


def counts(record: dict) -> dict[str, str]:
    """What the pages of a record add up to."""
    pages = record["pages"].values()
    return {key: f"{sum(page[key] for page in pages):,.0f}" for key in _COUNTS}


def summary(record: dict) -> str:
    """What a record verified, in a sentence."""
    total = counts(record)
    return (
        f"Verified in this build, on JAX {record['jax']}: {len(record['pages'])} "
        f"pages, {total['cells']} cells, {total['assertions']} assertions, and "
        f"{total['snippets']} programs to copy."
    )


def told(record: dict, title: str) -> str:
    """The machine of a record, and what its pages add up to."""
    total = counts(record)
    return (
        f"**{title}:** JAX {record['jax']} on Python {record['python']}, "
        f"target `{record['target']}`: {record['device_count']} devices of kind "
        f"{record['device_kind']}. "
        f"{len(record['pages'])} pages, {total['cells']} cells, "
        f"{total['assertions']} assertions, {total['snippets']} programs, "
        f"{total['seconds']} s of execution."
    )


def ran_on(record: dict) -> str:
    """When the pages of another machine's record ran, and how many on which devices."""
    pages = record["pages"].values()
    days = sorted({page["ran"][:10] for page in pages})
    on = Counter(page["devices"] for page in pages).items()
    devices = ", ".join(f"{count} on {kind} devices" for kind, count in sorted(on))
    return f"They ran from {days[0]} to {days[-1]}: {devices}."


def alike(record: dict) -> str:
    """What is so for all pages of this build, in a sentence."""
    same = [found.pop() for found in _differ(record).values() if len(found) == 1]
    return f"Each ran {', '.join(same)}." if same else ""


def tables(record: dict, pages: list[Page], root: str) -> list:
    """Of each chapter its title, the names of its pages, and a table of them."""
    differ = [name for name, found in _differ(record).items() if len(found) > 1]
    columns = ["page", *differ, "cells", "assertions", "programs", "seconds"]
    right = ["---:"] * (len(columns) - 1 - len(differ))
    head = [_row(columns), _row(["---"] * (1 + len(differ)) + right)]
    found = []
    for chapter, inside in table_of_contents(pages, root):
        rows = {}
        for page in inside:
            if one := record["pages"].get(page.name):
                said = [_said(one)[name] for name in differ]
                numbers = [one["cells"], one["assertions"], one["snippets"]]
                link = f"[{page.short or page.title}](/{page.name}.md)"
                rows[page.name] = _row([link, *said, *numbers, f"{one['seconds']:.1f}"])
        if rows:
            title = f"**{chapter.short or chapter.title}**"
            found.append((title, [*rows], "\n".join([*head, *rows.values()])))
    return found


def _differ(record: dict) -> dict[str, set[str]]:
    """What the pages say of when and where they ran: all answers to each."""
    said = [_said(page) for page in record["pages"].values()]
    return {name: {one[name] for one in said} for name in ("ran", "devices")}


def _said(page: dict) -> dict[str, str]:
    """When and where a page ran, in words for a sentence and for a table."""
    when = "in this build" if page["executed"] else "in an earlier build"
    return {
        "ran": f"on {page['ran'][:10]}, {when}",
        "devices": f"on {page['devices']} devices",
    }


def _row(cells: list) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def shown(env) -> dict[str, str]:
    """The pages that show records, and what of them."""
    known = getattr(env, "book_records", {})
    return {name: what for name, what in known.items() if name in env.found_docs}


def again(app: Sphinx, env, *_changes: object) -> list[str]:
    """A page that shows records is read again when what they say has changed."""
    book, record = app.book, make(app.book)
    kept = [path.read_bytes() for path in _kept(book)]
    listed = tables(record, book.pages(), app.config.root_doc)
    now = {SUMMARY: summary(record)}
    now[TABLES] = told(record, ""), alike(record), listed, kept
    before, env.book_recorded = getattr(env, "book_recorded", {}), now
    return sorted(n for n, what in shown(env).items() if before.get(what) != now[what])


def merge(app: Sphinx, env, _names: object, other) -> None:
    """Take over what a process that read other pages found."""
    env.book_records = {**shown(env), **shown(other)}


def _kept(book) -> list[Path]:
    """The records of other machines."""
    return sorted((book.docs / "evidence" / "records").glob("*.json"))
