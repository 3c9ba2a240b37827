"""JAX's cache of compiled programs on disk, shared by pages, builds and tests.

Two thirds of a page's processor time go into XLA, and a lesson's program compiles again
what its page did. JAX's own cache on disk knows when it may be used: its keys hold the
code, the options, the devices, the features of the CPU and the version of XLA.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from book.source.model import Page

MAX_BYTES = 500_000_000  # all pages together take a fiftieth
# What is in a cell that shows something of its compiled program; of this cache.
_LOOKS = re.compile(r"\.as_text\(|_analysis\(")
_CACHE = "compilation_cache"
_FOLDER = "JAX_COMPILATION_CACHE_DIR"
# The same folder, for the kernel of a page that keeps what it compiles there, and reads
# nothing.  What the page starts finds no folder.
ONLY_KEEPS = "BOOK_ONLY_KEEPS_COMPILED"
_EVERYTHING = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def environment(folder: Path) -> dict[str, str]:
    """The variables that make JAX keep all that it compiles in `folder`."""
    return {_FOLDER: str(folder), **_EVERYTHING}


def environment_of_page(page: Page, folder: Path) -> dict[str, str]:
    """The variables with which the kernel of `page` uses the cache, if it does.

    A page shows nothing of what others have compiled: a compiled program that was kept
    tells of itself in another order.  So a page that looks at one compiles all of its
    own, and keeps it for its lessons' programs.  What measures keeps nothing, and
    compiles as its reader's program does.
    """
    if any(cell.alone or _CACHE in cell.source for cell in page.cells):
        return {}
    looks = any(_LOOKS.search(cell.source) for cell in page.cells)
    return {ONLY_KEEPS: str(folder), **_EVERYTHING} if looks else environment(folder)


def remove_if_too_large(folder: Path) -> None:
    """Begin anew where more than MAX_BYTES are kept."""
    if sum(path.stat().st_size for path in folder.glob("*")) > MAX_BYTES:
        shutil.rmtree(folder, ignore_errors=True)
