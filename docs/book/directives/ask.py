"""The directive `{ask}`: a field for what one searches, as on the front page."""

from __future__ import annotations

from html import escape

from docutils import nodes
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective


class Ask(SphinxDirective):
    """A form that leads to the page of the search."""

    def run(self) -> list[nodes.Node]:
        """Write it as HTML; it works without a script."""
        address = "../" * self.env.docname.count("/") + "search.html"
        said, search = escape(_("Paste the message")), escape(_("Search"))
        field = f'<input type="search" name="q" placeholder="{said}"'
        form = (
            f'<form class="ask" action="{address}" role="search">{field}'
            f' aria-label="{said}"><button>{search}</button></form>'
        )
        return [nodes.raw("", form, format="html")]
