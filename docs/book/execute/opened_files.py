"""The part of a page's processes that notes which files of the repository they read.

`kernel` sends the text of this module to the page's kernel.  In every other Python that
a page starts, as a fresh cell is, it runs as `sitecustomize`; so it imports only what
each Python has loaded by then.
"""

from __future__ import annotations

import os
import sys


def note_opened_files(root: str, log: str) -> None:
    """Write the path of each file below `root` that is opened to be read to `log`."""
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError:
        return  # the page has ended, and this process has not
    inside, seen = os.path.join(root, ""), set()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        path, _, flags = arguments
        if not isinstance(path, str | bytes) or not isinstance(flags, int):
            return
        if flags & os.O_ACCMODE == os.O_WRONLY:
            return
        path = os.path.abspath(os.fsdecode(path))
        if path.startswith(inside) and path not in seen:
            seen.add(path)
            try:  # noqa: SIM105
                os.write(file, os.fsencode(path) + b"\0")
            except OSError:
                pass

    sys.addaudithook(hook)


def import_next_sitecustomize(folder: str) -> None:
    """Import the `sitecustomize` that there is beside the one in `folder`, if any."""
    own = sys.modules.pop("sitecustomize")
    sys.path[:] = [path for path in sys.path if path != folder]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    sys.modules.setdefault("sitecustomize", own)
