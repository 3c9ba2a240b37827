"""Each build writes down what it verified, and on what.

`record.json`, beside the built pages:

    jax, jaxlib, python   versions, as strings
    target                the table of docs/targets.toml that was asked for
    platform              the JAX platform of its devices
    device_kind, device_count
    built                 when the build ended, UTC, ISO 8601
    pages                 docname -> kernel   "target" or "mesh-of-eight"
                                     devices  "real" or "simulated"
                                     executed false where outputs came from the cache
                                     ran      when they were made, UTC, ISO 8601
                                     seconds  how long that took
                                     cells, checks (cells that only prove),
                                     assertions, snippets: counts

A page that failed is not in it.  Only builds without a failure should be kept under
`docs/evidence/records/`, one file a machine.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def make(book) -> dict:
    """The record of a build, a `book.build.Book` after its pages have run."""
    target = book.kernels["target"]
    return {
        "jax": target.jax,
        "jaxlib": target.jaxlib,
        "python": target.python,
        "target": target.target.name,
        "platform": target.target.platform,
        "device_kind": target.kind,
        "device_count": target.count,
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
        "pages": {state.name: _page(book, state) for state in _shown(book)},
    }


def _shown(book) -> list:
    """The states of the pages that ran, now or before, and have not failed."""
    states = book.states.items()
    return [s for _, s in sorted(states) if s.entry and not s.problems]


def _page(book, state) -> dict:
    page, entry = state.page, state.entry
    hardware = book.kernels[page.kernel]
    return {
        "kernel": page.kernel,
        "devices": "simulated" if hardware.simulated else "real",
        "executed": state.executed,
        "ran": entry.executed,
        "seconds": entry.seconds,
        "cells": len(page.cells),
        "checks": sum(cell.check for cell in page.cells),
        "assertions": sum(cell.assertions for cell in page.cells),
        "snippets": len(state.programs),
    }


class RecordTables(SphinxDirective):
    """`{record}`: this build, then each record kept under `evidence/records/`.

    `{record} summary` is what this build verified in a sentence.
    """

    optional_arguments = 1
    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Write the tables as Markdown and let the page's own parser read them."""
        docs = set(getattr(self.env, "book_record_pages", set()))
        self.env.book_record_pages = docs | {self.env.docname}
        book = self.app.book
        if self.arguments == ["summary"]:
            return self.parse_text_to_nodes(summary(make(book)))
        text = table(make(book), "This build", self.env.found_docs)
        for path in _kept(book):
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                text += table(kept, path.stem, self.env.found_docs)
            except (ValueError, LookupError, TypeError, AttributeError):
                raise self.error(f"records/{path.name} is no record") from None
        return self.parse_text_to_nodes(text, offset=self.content_offset)


def counts(record: dict) -> dict[str, float]:
    """What the pages of a record add up to."""
    pages = record["pages"].values()
    counted = ("cells", "assertions", "snippets", "seconds")
    return {key: sum(page[key] for page in pages) for key in counted}


def summary(record: dict) -> str:
    """What a record verified, in a sentence."""
    total = {key: f"{number:,.0f}" for key, number in counts(record).items()}
    return (
        f"Verified in this build, on JAX {record['jax']}: {len(record['pages'])} "
        f"pages, {total['cells']} cells, {total['assertions']} assertions, and "
        f"{total['snippets']} programs to copy."
    )


def table(record: dict, title: str, links: set[str]) -> str:
    """A record as a Markdown table of pages under a line about the machine.

    The pages in `links` are there; an older record may know others.
    """
    total = counts(record)
    rows = [
        f"**{title}:** JAX {record['jax']} on Python {record['python']}, "
        f"target `{record['target']}`: {record['device_count']} devices of kind "
        f"{record['device_kind']}. "
        f"{len(record['pages'])} pages, {total['cells']} cells, "
        f"{total['assertions']} assertions, {total['snippets']} programs, "
        f"{total['seconds']:.0f} s of execution.",
        "",
        "| page | devices | ran | cells | assertions | programs | seconds |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for name, page in record["pages"].items():
        shown = [f"[](/{name})" if name in links else name, page["devices"]]
        shown += [_day(page["ran"]), page["cells"], page["assertions"]]
        shown += [page["snippets"], f"{page['seconds']:.1f}"]
        rows.append(f"| {' | '.join(map(str, shown))} |")
    return "\n".join([*rows, "", ""])


def _day(moment: str) -> str:
    """Return the day of an ISO 8601 moment, in one unbreakable piece."""
    return moment[:10].replace("-", "\N{NON-BREAKING HYPHEN}")


def again(app: Sphinx, env, *_changes: object) -> list[str]:
    """A page that shows records is read again when what they say has changed."""
    shown = [_told(make(app.book))]
    shown += [p.read_bytes() for p in _kept(app.book)]
    before, env.book_record_shown = getattr(env, "book_record_shown", None), shown
    pages = getattr(env, "book_record_pages", set())
    return [] if shown == before else sorted(pages & env.found_docs)


def merge(app: Sphinx, env, _names: object, other) -> None:
    """Take over what a process that read other pages found."""
    pages = getattr(env, "book_record_pages", set())
    env.book_record_pages = pages | getattr(other, "book_record_pages", set())


def _told(record: dict) -> dict:
    """What the tables show of a record: no moment, and not what the cache gave."""
    pages = {
        name: {key: value for key, value in page.items() if key != "executed"}
        for name, page in record["pages"].items()
    }
    return {**record, "built": None, "pages": pages}


def _kept(book) -> list[Path]:
    """The records of other machines."""
    return sorted((book.docs / "evidence" / "records").glob("*.json"))


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the record beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    text = json.dumps(make(app.book), indent=1, ensure_ascii=False) + "\n"
    Path(app.outdir, "record.json").write_text(text, encoding="utf-8")
