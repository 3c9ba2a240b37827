"""The record of a build: what it verified, and on what.

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
from typing import Any

from sphinx.application import Sphinx

from book.state import Book, book_of

Record = dict[str, Any]
RECORD = "record.json"


def make_record(book: Book) -> Record:
    """The record of a build whose pages have run."""
    target = book.kernels["target"]
    pages: Record = {}
    for name, state in sorted(book.states.items()):
        page, entry = state.page, state.entry
        if page is None or entry is None or state.problems or page.kernel is None:
            continue
        simulated = book.kernels[page.kernel].simulated
        pages[name] = {
            "kernel": page.kernel,
            "devices": "simulated" if simulated else "real",
            "executed": state.executed,
            "ran": entry.executed,
            "seconds": entry.seconds,
            "cells": len(page.cells),
            "checks": sum(cell.check for cell in page.cells),
            "assertions": sum(cell.assertions for cell in page.cells),
            "snippets": len(state.programs),
        }
    return {
        "jax": target.jax,
        "jaxlib": target.jaxlib,
        "python": target.python,
        "target": target.target.name,
        "platform": target.target.platform,
        "device_kind": target.kind,
        "device_count": target.count,
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
        "pages": pages,
    }


def write(app: Sphinx) -> None:
    """Write the record beside the pages."""
    text = json.dumps(make_record(book_of(app)), indent=1, ensure_ascii=False)
    Path(app.outdir, RECORD).write_text(f"{text}\n", encoding="utf-8")
