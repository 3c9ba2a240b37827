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

from sphinx.application import Sphinx


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


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the record beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    text = json.dumps(make(app.book), indent=1, ensure_ascii=False) + "\n"
    Path(app.outdir, "record.json").write_text(text, encoding="utf-8")
