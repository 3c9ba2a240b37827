"""What a page's kernel writes below Python: to its file descriptors 1 and 2.

XLA and the programs that a cell starts write there.  Both lead to files, and a write is
in its file when it returns: what is new after a cell was written until its end.  (The
kernel would capture it, too, in a thread that may come to it when the next cell runs.)
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode


class LowLevelOutput:
    """The files in `folder` to which a kernel's standard streams lead."""

    def __init__(self, folder: Path):
        self.paths = {name: folder / name for name in ("stdout", "stderr")}
        self._seen = dict.fromkeys(self.paths, 0)  # bytes

    def unseen(self) -> int:
        """How many bytes have not been taken."""
        sizes = sum(path.stat().st_size for path in self.paths.values())
        return sizes - sum(self._seen.values())

    def take(self) -> list[NotebookNode]:
        """Outputs, as of a notebook, with what was written since the last call."""
        outputs = []
        for name, path in self.paths.items():
            with path.open("rb") as file:
                file.seek(self._seen[name])
                new = file.read()
            self._seen[name] += len(new)
            if new:
                text = new.decode(errors="replace")
                outputs.append(nbformat.v4.new_output("stream", name=name, text=text))
        return outputs
