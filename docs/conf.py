"""How the book is made; every line is chosen."""

import logging
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the book's own extensions

project = "One Function, Many Devices"
author = "The authors of One Function, Many Devices"
project_copyright = "2026, " + author

extensions = [
    "book",  # first: while it looks for the hardware, the others load
    "myst_nb",
    "sphinx_design",
]
exclude_patterns = ["_build", "book"]

# Pages are executed by book.build, before MyST-NB reads them with their outputs.
nb_execution_mode = "off"
nb_custom_formats = {".md": "book.build.with_outputs"}
suppress_warnings = ["mystnb.nbcell"]  # book.pages says it, with page and line
nb_merge_streams = True
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

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = [("book.js", {"defer": "defer"})]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
