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
# What is in a cell that shows something of its compiled program.
_LOOKS = re.compile(r"\.as_text\(|_analysis\(|compilation_cache")
_FOLDER = "JAX_COMPILATION_CACHE_DIR"
_EVERYTHING = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def environment(folder: Path) -> dict[str, str]:
    """The variables that make JAX keep all that it compiles in `folder`."""
    return {_FOLDER: str(folder), **_EVERYTHING}


def environment_of_page(page: Page, folder: Path) -> dict[str, str]:
    """The same for the kernel of `page`; nothing where it would show the difference.

    What measures must compile as its reader's program does. A compiled program that was
    kept tells of itself in another order.
    """
    looks = any(cell.alone or _LOOKS.search(cell.source) for cell in page.cells)
    return {} if looks else environment(folder)


def remove_if_too_large(folder: Path) -> None:
    """Begin anew where more than MAX_BYTES are kept."""
    if sum(path.stat().st_size for path in folder.glob("*")) > MAX_BYTES:
        shutil.rmtree(folder, ignore_errors=True)
