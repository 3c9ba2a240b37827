"""What XLA has compiled is kept: another page, build or test compiles what is new.

Two thirds of a page's processor time go into XLA, and a lesson's program compiles again
what its page did. JAX's own cache on disk knows when it may be used: its keys hold the
code, the options, the devices, the features of the CPU and the version of XLA.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from book.source.model import Page

MOST = 500_000_000  # bytes; a whole book takes a fiftieth
_LOOKS = re.compile(r"\.as_text\(|_analysis\(|compilation_cache")
_FOLDER = "JAX_COMPILATION_CACHE_DIR"
_EVERYTHING = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}


def environment(folder: Path) -> dict[str, str]:
    """The variables that make JAX keep all that it compiles in `folder`."""
    return {_FOLDER: str(folder), **_EVERYTHING}


def settings(page: Page, folder: Path) -> dict[str, str]:
    """The same for the kernel of `page`; none where a page would show the difference.

    What measures must compile as its reader's program does. A compiled program that was
    kept tells of itself in another order.
    """
    looks = any(cell.alone or _LOOKS.search(cell.source) for cell in page.cells)
    return {} if looks else environment(folder)


def sweep(folder: Path) -> None:
    """Begin anew where too much has been kept."""
    if sum(path.stat().st_size for path in folder.glob("*")) > MOST:
        shutil.rmtree(folder, ignore_errors=True)
