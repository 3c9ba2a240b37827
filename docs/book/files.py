"""How builds write files, and the strings of this machine that no file may hold."""

from __future__ import annotations

import errno
import getpass
import hashlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeGuard
from uuid import uuid4

# Errors of the machine, and of no page, with what would help.
_CURES = {
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there",
    errno.EROFS: "build into another folder",
    errno.EACCES: "let the user who builds read and write there",
    errno.EPERM: "let the user who builds read and write there",
    errno.EISDIR: "remove the folder that stands there",
    errno.ENOTDIR: "remove the file that stands where a folder belongs",
    errno.EFBIG: "raise the limit of the size of files, `ulimit -f`",
    errno.EMFILE: "raise the limit of open files, `ulimit -n`",
    errno.ENFILE: "raise the limit of open files, `ulimit -n`",
}
_OPENED = {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE}


def digest_of(path: Path) -> str | None:
    """A digest of what is in the file at `path`; None where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def is_of_machine(error: object) -> TypeGuard[OSError]:
    """Whether `error` is of the machine: a full disk, a folder nobody may write to."""
    return isinstance(error, OSError) and error.errno in _CURES


def sentence(error: OSError) -> str:
    """What the machine would not do, in a sentence: the file, the reason, the cure."""
    # Of a copy, the file that was written is the second.
    name = error.filename2 or error.filename or "a file of the build"
    file = os.fsdecode(name) if isinstance(name, str | bytes) else "a file of the build"
    did = "opened" if error.errno in _OPENED else "written"
    cure = f"; {_CURES[error.errno]}" if error.errno in _CURES else ""
    return f"{file} could not be {did}: {error.strerror or error}{cure}."


def write_changed_remove_rest(
    existing: Iterable[Path], wanted: dict[Path, str | None]
) -> None:
    """Write what is new or has changed of `wanted`, and remove the rest of `existing`.

    A file without a text stays as it is.
    """
    for path in set(existing) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if text is None:
            continue
        if not path.exists() or path.read_bytes() != text.encode():
            write_atomically(path, text)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a text, or bytes, to `path`; the file appears complete or not at all.

    Raises `OSError` with the name of the file.  Whoever may read what the user writes
    may read it, as a web server has to; `tempfile` would make it the owner's only.
    """
    part = path.with_name(f"{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None


def local_strings(*roots: Path) -> list[str]:
    """Paths and names of this machine, none of which may be published.

    `roots` are folders that count among them.
    """
    host = socket.gethostname()
    found = {str(root) for root in roots} | {sys.prefix, tempfile.gettempdir() + "/"}
    with suppress(OSError, KeyError):  # a user id without a name
        user = getpass.getuser()
        found |= {f"/home/{user}", f"/Users/{user}", f"{user}@"}
    with suppress(RuntimeError):  # nor a folder
        if len(str(Path.home())) > 1:
            found.add(f"{Path.home()}/")
    if len(host) > 4 and host != "localhost":
        found.add(host)
    return sorted(found)
