"""Which pages are written again because what they lead to has changed elsewhere.

A link shows the title of another page and leads to one of its anchors, a `{term}` to an
entry of its glossary, and `{glue}` shows one of its values.  Sphinx works that out when
it writes a page, and writes a page only when the page itself has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path

from docutils import nodes
from myst_nb.ext.glue.utils import PendingGlueReference
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join

from book.page_memory import PageMemory

Inventory = dict[str, set[tuple[str, ...]]]


class CrossReferences(PageMemory[set[str]]):
    """The names of all that each page leads to: labels, terms, other pages."""

    attribute = "book_led_to"

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget what a page led to, and the values that it lent to others."""
        super().clear_doc(app, env, docname)
        _glued(app, docname).unlink(missing_ok=True)

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Remember what a page leads to."""
        here, found = app.env.docname, set()
        for node in doctree.findall(pending_xref):
            target = node.get("reftarget") or ""
            found |= {target, target.lower(), docname_join(here, target)}
        for node in doctree.findall(PendingGlueReference):
            found.add(node.refdoc)
        self.known(app.env)[here] = found

    def get_outdated_docs(
        self,
        app: Sphinx,
        env: BuildEnvironment,
        added: set[str],
        changed: set[str],
        removed: set[str],
    ) -> list[str]:
        """The pages whose tables of contents name a page that is gone.

        And those whose values were damaged: MyST-NB writes them as it reads a page.
        """
        listed = env.toctree_includes.items()
        found = {name for name, pages in listed if removed & set(pages)}
        return sorted(found | {n for n in env.found_docs if _is_damaged(app, n)})


def update(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages that lead to what is not where, or what, it was in the last build."""
    before, now = getattr(env, "book_inventory", {}), _inventory(app, env)
    env.book_inventory = now
    names = before.keys() | now.keys()
    changed = {name for name in names if before.get(name) != now.get(name)}
    return sorted(
        name
        for name, led_to in CrossReferences.known(env).items()
        if name in env.found_docs and led_to & changed
    )


def _inventory(app: Sphinx, env: BuildEnvironment) -> Inventory:
    """All that pages can lead to, under its own name and under that of its page."""
    found: Inventory = defaultdict(set)
    for name, domain in env.domains.items():
        for item in domain.get_objects():
            words = (name, *map(str, item))
            for key in (item[0], item[0].lower(), item[3]):
                found[key].add(words)
    for page in env.all_docs:
        slugs = env.metadata[page].get("myst_slugs", {})
        found[page].add(("slugs", repr(sorted(slugs.items()))))
        if _glued(app, page).exists():
            values = _glued(app, page).read_bytes()
            found[page].add(("glue", hashlib.sha256(values).hexdigest()))
    return dict(found)


def _glued(app: Sphinx, name: str) -> Path:
    """The file in which MyST-NB keeps the values that a page lends to others."""
    folder = Path(app.env.mystnb_config.output_folder)
    return folder / f"{name}.glue.json"


def _is_damaged(app: Sphinx, name: str) -> bool:
    """Whether the file with the values of a page is there, and holds none."""
    try:
        return not isinstance(json.loads(_glued(app, name).read_bytes()), dict)
    except FileNotFoundError:
        return False
    except (ValueError, IsADirectoryError):
        return True
