"""What this build verified, in words: the directive `{record}`, a page's last line.

`{record}` lists the pages in the order of the contents, a table for each chapter.  What
is the same for all, as the day and the devices may be, is said once, and else in a
column.  Each row has an address, to which the last line of its page leads.  A record
kept under `evidence/records/` is told in a line.  `{record} summary` is this build in a
sentence.
"""

from __future__ import annotations

import json
from collections import Counter

from docutils import nodes
from sphinx.locale import _

from book.compilers.tables import plain
from book.directives.base import BookDirective
from book.directives.build_record import Record, make_record
from book.directives.shown import CannotShow
from book.hardware.targets import MESH
from book.source.chapters import table_of_contents
from book.source.model import Page
from book.state import Book, PageState

SUMMARY = "summary"
FEW = 12  # names of pages that are listed where they are missing in a record


class BuildTable(BookDirective):
    """A sentence, or tables of this build and a line for each record that is kept."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write Markdown and let the page's own parser read it."""
        if SUMMARY in self.arguments:
            return self.parsed(self.shown(summary))
        text, names = self.shown(tables, self.config.root_doc)
        made = nodes.container("", *self.parsed(text))
        for table in made.findall(nodes.table):
            table["classes"].append("recorded")
        rows = [row for body in made.findall(nodes.tbody) for row in body.children]
        for name, row in zip(names, rows, strict=True):
            row["ids"].append(row_address(name))
        return made.children


def row_address(name: str) -> str:
    """Where on the page of records the row of the page `name` is."""
    return nodes.make_id(f"record-{name}")


def page_of_records(pages: list[Page]) -> str | None:
    """The first page that has the tables; None where none has."""
    fences = [(page.name, fence) for page in pages for fence in page.fences]
    shown = (n for n, f in fences if f.name == "record" and f.argument != SUMMARY)
    return next(shown, None)


def summary(book: Book) -> str:
    """What this build verified, in a sentence."""
    record = make_record(book)
    said = _(
        "Verified in this build, on JAX {jax}: {pages} pages, {cells} cells, "
        "{assertions} assertions, and {programs} programs to copy."
    )
    return said.format(
        jax=record["jax"],
        pages=len(record["pages"]),
        cells=_total(record, "cells"),
        assertions=_total(record, "assertions"),
        programs=_total(record, "snippets"),
    )


def tables(book: Book, root: str) -> tuple[str, list[str]]:
    """The record in Markdown, and the names of the pages in the rows of its tables.

    `root` is the first page.  Raises `CannotShow` where a file is no record.
    """
    record = make_record(book)
    ran = {name: _when_and_where(page) for name, page in record["pages"].items()}
    answers = {word: {one[word] for one in ran.values()} for word in ("ran", "devices")}
    same = [
        found for word in answers for found in answers[word] if len(answers[word]) == 1
    ]
    differ = [word for word, found in answers.items() if len(found) > 1]
    head = ["page", *differ, "cells", "assertions", "programs", "seconds"]
    rule = ["---"] * (1 + len(differ)) + ["---:"] * 4
    parts = [_machine(record, "This build")]
    if same:
        parts[0] += f" Each ran {', '.join(same)}."
    names: list[str] = []
    for chapter, inside in table_of_contents(book.pages(), root):
        rows = []
        for page in inside:
            if one := record["pages"].get(page.name):
                title = plain(page.short) if page.short else page.title
                link = f"[{title}](/{page.name}.md)"
                said = [ran[page.name][word] for word in differ]
                counts = [one["cells"], one["assertions"], one["snippets"]]
                rows.append([link, *said, *counts, f"{one['seconds']:.1f}"])
                names.append(page.name)
        if rows:
            parts.append(f"**{chapter.short or chapter.title}**")
            lines = (f"| {' | '.join(map(str, row))} |" for row in [head, rule, *rows])
            parts.append("\n".join(lines))
    return "\n\n".join([*parts, _other_machines(book)]), names


def _other_machines(book: Book) -> str:
    """A line for each record that is kept; raises `CannotShow`."""
    lines = []
    for path in sorted((book.docs / "evidence" / "records").glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            pages = record["pages"].values()
            days = sorted(page["ran"][:10] for page in pages)
            kinds = sorted(Counter(page["devices"] for page in pages).items())
            devices = ", ".join(f"{count} on {kind} devices" for kind, count in kinds)
            ran = f"They ran from {days[0]} to {days[-1]}: {devices}."
            missing = _pages_missing_in(record, book)
            lines.append(f"- {_machine(record, path.stem)} {ran}{missing}")
        except (ValueError, LookupError, TypeError, AttributeError):
            raise CannotShow(f"records/{path.name} is no record") from None
    return "\n".join(lines)


def _pages_missing_in(record: Record, book: Book) -> str:
    """Say which pages of this book a kept record does not have, or how many."""
    names = [
        name
        for name, state in sorted(book.states.items())
        if state.page and state.page.kernel and name not in record["pages"]
    ]
    if not names:
        return ""
    links = ", ".join(f"[{name}](/{name}.md)" for name in names)
    said = links if len(names) <= FEW else f"{len(names)} pages"
    return f" Not in it, because they failed there or are newer: {said}."


def _machine(record: Record, title: str) -> str:
    """The machine of a record, and what its pages add up to."""
    return (
        f"**{title}:** JAX {record['jax']} on Python {record['python']}, "
        f"target `{record['target']}`: {record['device_count']} devices of kind "
        f"{record['device_kind']}. "
        f"{len(record['pages'])} pages, {_total(record, 'cells')} cells, "
        f"{_total(record, 'assertions')} assertions, "
        f"{_total(record, 'snippets')} programs, "
        f"{_total(record, 'seconds')} s of execution."
    )


def _total(record: Record, count: str) -> str:
    """What the pages of a record add up to."""
    return f"{sum(page[count] for page in record['pages'].values()):,.0f}"


def _when_and_where(page: Record) -> dict[str, str]:
    """When and where a page ran, in words for a sentence and for a table."""
    when = "in this build" if page["executed"] else "in an earlier build"
    return {
        "ran": f"on {page['ran'][:10]}, {when}",
        "devices": f"on {page['devices']} devices",
    }


def last_line(book: Book, state: PageState) -> str:
    """The last line of a page: when its outputs were made, by which JAX, on what.

    An empty one for a page that runs nothing.
    """
    if state.problems:
        return _("This page failed in this build; nothing on it is verified.")
    page, entry, machine = state.page, state.entry, book.kernels["target"]
    if page is None or entry is None or page.kernel is None:
        return ""
    hardware = book.kernels[page.kernel]
    if hardware.simulated:
        devices = _("{count} simulated CPU devices").format(count=hardware.count)
    else:
        count = MESH if page.kernel == "mesh-of-eight" else hardware.count
        devices = f"{count} × {hardware.kind}"
    if hardware.simulated and not machine.simulated:
        more = _(" (this machine has {count} × {kind})")
        devices += more.format(count=machine.count, kind=machine.kind)
    return _("Run on {day}, JAX {jax}, {devices}.").format(
        day=entry.executed[:10], jax=hardware.jax, devices=devices
    )
