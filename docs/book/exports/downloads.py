"""A page as files to take along: a notebook, and a script, beside the page.

Both have the page's lessons and its text, and run as they are in an empty folder where
JAX is installed; the tests run every one.
"""

from __future__ import annotations

import ast
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat import v4
from sphinx.application import Sphinx

from book.build.stale_files import beside_pages, unchanged
from book.exports.notebook import Step, head, packages
from book.exports.prose import Prose
from book.files import write_changed_remove_rest
from book.snippets.program import sets_devices
from book.source import dependencies
from book.source.page import Cell, Page
from book.state import PageState

ENDS = (".ipynb", ".py")
COLAB = "https://colab.research.google.com/github/{}/blob/notebooks/{}.ipynb"


def cells(
    page: Page, steps: dict[int, list[Step]], jax: str, site: str = ""
) -> list[str | Step]:
    """What the files of `page` have: texts, and steps; `jax` verified them."""
    prose = Prose(page.name, page.path, site)
    code = [step for made in steps.values() for step in made]
    title = prose.markdown(page.headings[0].text) if page.headings else page.name
    eight = page.kernel == "mesh-of-eight" and not in_view(page)
    first = head(title, jax, packages(code), eight)
    found: list[str | Step] = [Step("verified-on", first, first)]
    if prose.address:
        found.append(f"From [One Function, Many Devices]({prose.address}).")
    for piece in page.pieces():
        if isinstance(piece, Cell):
            found += steps.get(piece.number, []) or figures(piece)
        elif text := prose.markdown(piece[1]):
            found.append(text)
    return found


def in_view(page: Page) -> bool:
    """Whether the first lesson of a page sets its devices; then nothing else does."""
    lessons = [cell for cell in page.cells if cell.visible and not cell.fresh]
    return any(sets_devices(cell.source) for cell in lessons[:1])


def figures(cell: Cell) -> list[str]:
    """The words of the figures that a cell draws, which only the site shows."""
    nodes = () if cell.check else ast.walk(dependencies.parsed(cell.source))
    named = (one for one in nodes if isinstance(one, ast.keyword) and one.arg == "alt")
    said = (one.value.value for one in named if isinstance(one.value, ast.Constant))
    return [f"*A figure on the site: {text}*" for text in said]


def notebook(made: list[str | Step]) -> str:
    """The notebook of what `cells` made."""
    nodes = []
    for number, one in enumerate(made):
        if isinstance(one, str):
            node = {"cell_type": "markdown", "id": f"text{number}", "source": one}
            nodes.append(node | {"metadata": {}})
        elif one.notebook:
            node = {"cell_type": "code", "id": one.id, "source": one.notebook}
            tags = {"tags": ["raises-exception"]} if one.raises else {}
            node |= {"metadata": tags, "outputs": [], "execution_count": None}
            nodes.append(node)
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": nodes, "metadata": {"kernelspec": spec}}
    whole |= {"nbformat": 4, "nbformat_minor": 5}
    return v4.writes_json(nbformat.from_dict(whole)) + "\n"  # tests validate it


def script(made: list[str | Step]) -> str:
    """The same as a script, in cells as editors know them."""
    parts = []
    for one in made:
        if isinstance(one, str):
            lines = (f"# {line}".rstrip() for line in one.splitlines())
            parts.append("\n".join(["# %% [markdown]", *lines]))
        elif one.script:
            parts.append(f"# %%\n{one.script}")
    return "\n\n".join(parts) + "\n"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the files of each page beside it; remove those of pages that are gone."""
    if exception is not None or app.builder.format != "html":
        return
    out, book = Path(app.outdir), app.book
    wanted, kept = {}, unchanged(app, ENDS)
    for name, state in book.states.items():
        if not state.steps or state.problems:
            continue
        if name in kept:
            wanted |= {out / (name + end): None for end in ENDS}
            continue
        with book.blame(name):
            jax = book.kernels[state.page.kernel].jax
            made = cells(state.page, state.steps, jax, app.config.html_baseurl)
            texts = (notebook(made), script(made))
            wanted |= {out / (name + e): t for e, t in zip(ENDS, texts, strict=True)}
    write_changed_remove_rest(beside_pages(out, ENDS), wanted)


def buttons(app: Sphinx, name: str, template, context: dict, doctree) -> None:
    """Offer the files in the theme's download menu, and the notebook in Colab."""
    state: PageState | None = app.book.states.get(name)
    groups = {one.get("label"): one for one in context.get("header_buttons", ())}
    if not (state and state.steps) or "download-buttons" not in groups:
        return
    file = name.rpartition("/")[2]
    told = {".ipynb": "Notebook of this page's lessons", ".py": "The same as a script"}
    links = [_link(quote(file + end), end, told[end], "fa-download") for end in ENDS]
    repository = app.config.html_theme_options.get("repository_url", "").strip("/")
    if "github.com/" in repository:
        url = COLAB.format(repository.partition("github.com/")[2], quote(name))
        links.append(
            _link(url, "Open in Colab", "Run the notebook in Colab", "fa-expand")
        )
    groups["download-buttons"]["buttons"][:0] = links


def _link(url: str, text: str, tooltip: str, icon: str) -> dict:
    label = f"download-{text.strip('.').replace(' ', '-').lower()}-button"
    made = {"type": "link", "url": url, "text": text, "tooltip": tooltip}
    return made | {"icon": f"fas {icon}", "label": label}
