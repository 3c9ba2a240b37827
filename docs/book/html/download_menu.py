"""The download menu of a page: its notebook, its script, its Markdown, and Colab."""

from __future__ import annotations

from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from book.state import book_of

COLAB = "https://colab.research.google.com/github/{}/blob/notebooks/{}.ipynb"


def offer(
    app: Sphinx,
    name: str,
    template: str,
    context: dict,
    document: nodes.document | None,
) -> None:
    """Offer the files in the theme's download menu, and the notebook in Colab."""
    book = book_of(app)
    state, file = book.states.get(name), quote(name.rpartition("/")[2])
    groups = {one.get("label"): one for one in context.get("header_buttons", ())}
    if not state or "download-buttons" not in groups:
        return
    if book.pages_written is not None:  # the source of the page is in English
        for button in groups["download-buttons"]["buttons"]:
            if button.get("label") == "download-source-button":
                button["url"] = f"{file}.md"
    if not state.code_cells:
        return
    links = [
        _button(f"{file}.ipynb", ".ipynb", _("Notebook of this page's lessons")),
        _button(f"{file}.py", ".py", _("The same as a script")),
    ]
    repository = app.config.html_theme_options.get("repository_url", "").strip("/")
    if "github.com/" in repository:
        url = COLAB.format(repository.partition("github.com/")[2], quote(name))
        told = _("Run the notebook in Colab")
        links.append(_button(url, "Open in Colab", told, "fa-expand"))
    groups["download-buttons"]["buttons"][:0] = links


def _button(url: str, text: str, tooltip: str, icon: str = "fa-download") -> dict:
    label = f"download-{text.strip('.').replace(' ', '-').lower()}-button"
    return {
        "type": "link",
        "url": url,
        "text": text,
        "tooltip": tooltip,
        "icon": f"fas {icon}",
        "label": label,
    }
