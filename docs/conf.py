"""How the book is made; every line is chosen."""

import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the book's own extensions

project = "One Function, Many Devices"
author = "The authors of One Function, Many Devices"
project_copyright = "2026, " + author

extensions = [
    "book.extension",  # first: while it looks for the hardware, the others load
    "myst_nb",
    "sphinx_design",
]
exclude_patterns = ["_build", "book", "locale"]

# The pages in other languages: docs/locale/LANGUAGE has a catalogue for each.
language = "en"
locale_dirs = ["locale"]
gettext_compact = False
gettext_location = False

# The build executes pages; MyST-NB reads each as a notebook that has its outputs
# (book.build.executed_notebook).
nb_execution_mode = "off"
nb_custom_formats = {".md": ["nbformat.reads", {"as_version": 4}]}
suppress_warnings = ["mystnb.nbcell"]  # book.source.parser says it, with page and line
nb_merge_streams = True
nb_render_markdown_format = "myst"  # a cell may show a table
for chatty in (
    "myst_nb.sphinx_ext",
    "myst_parser.sphinx_ext.main",
):  # settings at length
    logging.getLogger(f"sphinx.{chatty}").setLevel(logging.WARNING)
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# A reference that leads nowhere, or a listing that is gone, fails the build.
nitpicky = True
highlight_language = "python"

# Where the book lives, such as https://github.com/someone/book: pages lead to it and to
# its issues, and to Colab; without it there are no such links. The workflow sets it.
repository = os.environ.get("BOOK_REPOSITORY", "")

# Where the site is published, such as https://someone.github.io/book/: the one place
# for canonical addresses, pictures in shared links, and the links of 404.html.
html_baseurl = ""

html_theme = "sphinx_book_theme"
html_theme_options = {
    "repository_url": repository,
    "path_to_docs": "docs",
    "use_repository_button": bool(repository),
    "use_issues_button": bool(repository),
    "use_sidenotes": True,
    "show_toc_level": 2,
    "collapse_navbar": True,  # the many pages of errors stand in their own sidebar
    "footer_content_items": "licence.html",
    "primary_sidebar_end": [],  # the theme keeps a place for advertisements there
    "navigation_with_keys": True,
    "navbar_persistent": [],  # the sidebar and the article's header have the search
    "back_to_top_button": False,  # it would stand over code
}
html_context = {"default_mode": "auto"}
html_title = project
html_favicon = "_static/logo.svg"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("versions.js", "book.js")]
html_use_index = False  # nothing leads to an index; the search finds more
html_copy_source = True  # the download menu offers each page's Markdown
html_show_sphinx = False
