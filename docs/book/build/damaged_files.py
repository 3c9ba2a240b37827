"""Finds files of the last build that Sphinx reads again, and that are damaged.

A disk that was full, or an editor, leaves half of one; Sphinx ends in a traceback.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from sphinx.util import logging

logger = logging.getLogger(__name__)
_INFO = "# Sphinx build info version 1", "#", "config: ", "tags: "


def remove_damaged(out: Path) -> bool:
    """Remove what is damaged in the site at `out`, and return whether anything was."""
    checks = {out / ".buildinfo": _is_info, out / "searchindex.js": _is_index}
    damaged = [
        path for path, is_intact in checks.items() if not _holds(path, is_intact)
    ]
    for path in damaged:
        logger.info("%s was damaged; every page is written again", path)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return bool(damaged)


def _holds(path: Path, is_intact: Callable[[str], bool]) -> bool:
    """Whether the file at `path` is as it should be; one that is not there is."""
    try:
        return not path.exists() or is_intact(path.read_text(encoding="utf-8"))
    except (ValueError, IsADirectoryError):
        return False


def _is_info(text: str) -> bool:
    """Whether `text` is what Sphinx writes of its settings."""
    lines = text.splitlines()
    return len(lines) == len(_INFO) and all(
        line.startswith(begin) for line, begin in zip(lines, _INFO, strict=True)
    )


def _is_index(text: str) -> bool:
    """Whether `text` is what Sphinx writes for its search."""
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    return isinstance(index, dict) and bool(index.get("docnames"))
