"""What a build needs of the machine and of its folders, looked at before it begins.

Sphinx, Jupyter and Python would say it later, in a traceback, and of something else.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path

from sphinx.application import Sphinx

FILES = 256  # that a build has to be able to open at a time


def check(app: Sphinx) -> None:
    """End the build with a sentence where something is missing, and name the cure."""
    _use_own_warning_filters()
    _check_paths(Path(app.confdir))
    for folder in (app.outdir.parent, app.outdir, app.doctreedir):
        _check_writable(Path(folder))
    _check_open_files()


def _use_own_warning_filters() -> None:
    """Forget PYTHONWARNINGS: one of them would end a build for what a package does."""
    if sys.warnoptions:
        sys.warnoptions.clear()
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
            warnings.filterwarnings("ignore", category=kind)
        warnings.filterwarnings("ignore", category=ResourceWarning)


def _check_paths(docs: Path) -> None:
    """Refuse names that import paths or pages cannot have, and links that go round."""
    if os.pathsep in str(docs):
        raise SystemExit(
            f"\n{docs} has {os.pathsep!r} in its path, which separates folders in "
            "PYTHONPATH: rename or move the folder."
        )
    if not (docs.parent / "examples").is_dir():
        raise SystemExit(
            f"\n{docs.parent} has no folder examples/, which the pages import from. "
            f"Is the folder that you build a link to {docs}? Build the repository "
            "that it belongs to."
        )
    _check_folder(docs, {docs.resolve()})


def _check_folder(folder: Path, above: set[Path]) -> None:
    """Look at what is in `folder`, which is in those `above`."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        if entry.name == "_build" or entry.name.startswith("."):
            continue
        if not _is_utf_8(entry.name):
            name = str(os.fsencode(entry.path))[2:-1]
            raise SystemExit(f"\n{name}: its name is not UTF-8; rename the file.")
        real = Path(os.path.realpath(path))
        if real == path.parent.resolve() / path.name and path.is_symlink():
            raise SystemExit(f"\n{path} is a link to itself; remove the link.")
        if path.is_dir():
            if any(one.is_relative_to(real) for one in above):
                raise SystemExit(
                    f"\n{path} is a link to {real}, which it is in: its pages would "
                    "be found without end; remove the link."
                )
            _check_folder(path, {*above, real})


def _is_utf_8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise SystemExit(
            f"\n{folder} cannot be written to: {error.strerror}. Make room there, or "
            "build into another folder: sphinx-build -b html docs FOLDER/html"
        ) from None


def _check_open_files() -> None:
    """Raise the limit of open files, if it is low, as far as that is allowed."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= FILES:
        return
    if hard != resource.RLIM_INFINITY and hard < FILES:
        raise SystemExit(
            f"\nOnly {hard} files may be open at a time here, and a build needs "
            f"{FILES}: raise the limit, as by `ulimit -n 1024`."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
