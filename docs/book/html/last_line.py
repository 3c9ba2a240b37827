"""The last line of a page says where its outputs are from: when, which JAX, on what.

Promise: it is true of this build.  A page whose line has changed is written again, even
where nothing else on it has.
"""

from __future__ import annotations

from sphinx.application import Sphinx

from book.directives import build_table
from book.hardware.targets import MESH, Hardware
from book.html import release_diff


def line(book, state, elsewhere: release_diff.Other) -> str:
    """The last line of a page: where its outputs are from; `elsewhere` they differ."""
    if state.problems:
        return "This page failed in this build; nothing on it is verified."
    page, entry = state.page, state.entry
    hardware = book.kernels[page.kernel]
    words = [f"JAX {hardware.jax}", devices(hardware, page.kernel)]
    other = book.kernels["target"]
    if hardware.simulated and not other.simulated:
        words[-1] += f" (this machine has {other.count} × {other.kind})"
    found = [f"Run on {', '.join([entry.executed[:10], *words])}."]
    return " ".join([*found, release_diff.sentence(elsewhere)]).rstrip()


def devices(hardware: Hardware, kernel: str) -> str:
    """The devices of a page in words: what they are, and whether they are simulated."""
    if hardware.simulated:
        return f"{hardware.count} simulated CPU devices"
    count = MESH if kernel == "mesh-of-eight" else hardware.count
    return f"{count} × {hardware.kind}"


def changed(app: Sphinx, env) -> list[str]:
    """Pages whose last line is another one are written again, if they were not read."""
    book, shown = app.book, build_table.shown(env)
    listing = sorted(n for n, what in shown.items() if what == build_table.TABLES)
    found = {
        name: {
            "provenance": line(book, state, env.book_others.get(name, {})),
            "record_page": (listing or [None])[0],
            "record_row": "" if state.problems else f"#{build_table.address(name)}",
        }
        for name, state in book.states.items()
        if state.entry or state.problems
    }
    before, env.book_provenance = getattr(env, "book_provenance", {}), found
    return sorted(n for n in env.found_docs if before.get(n) != found.get(n))


def last_line(app: Sphinx, name, template, context, doctree) -> None:
    """Hand the template what `changed` compared."""
    context.update(app.env.book_provenance.get(name, {}))
