"""The files of the site as the last build left them: what has changed since is noticed.

An editor, another program or a full disk may change a file of the site, or remove it.
Sphinx compares the time of a page with that of its source, and leaves such a file as it
is.  Here the size, the time and a digest of each file are kept beside the doctrees.
Those that differ are removed, and the pages that they belong to are written again.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from book.exports import markdown_export, notebook
from book.files import digest_of, write_atomically

logger = logging.getLogger(__name__)
_ENDS = (".html", markdown_export.END, *notebook.ENDS)  # of the files of a page
_SEARCH = "searchindex.js"
_IN_EACH_BUILD = ("_static/", "_downloads/")  # what Sphinx copies, whatever has changed
_TEMPLATES = ("_t", ".jinja")  # ends of files that Sphinx fills in
# Its size, the time it was written in nanoseconds, and a digest of what is in it.
_Left = tuple[int, int, str | None]


def remove_changed(app: Sphinx, env: BuildEnvironment) -> set[str]:
    """Remove the files that are not as the last build left them.

    Returns the pages to write, so that all of them are there again.
    """
    try:
        before = _left_before(app)
    except (ValueError, TypeError, LookupError):
        return set(env.found_docs)
    out = Path(app.outdir)
    changed = [name for name in before if _differs(out / name, before[name])]
    for name in changed:
        _remove(out / name)
    if changed:
        logger.info(
            "files that are not as the last build left them are written again: %d, "
            "%s among them",
            len(changed),
            out / min(changed),
        )
    owners = _owners(env)
    pages: set[str] = set()
    for name in changed:
        if not name.startswith(_IN_EACH_BUILD):
            pages |= owners.get(name, env.found_docs)
    return pages


def keep(app: Sphinx) -> None:
    """Keep how this build leaves the site; after one that broke off, all is read."""
    try:
        before = _left_before(app)
    except (ValueError, TypeError, LookupError):
        before = {}
    found = {}
    for name in _names(Path(app.outdir), app.env.found_docs):
        if left := _left(Path(app.outdir, name), before.get(name)):
            found[name] = left
    write_atomically(_kept_in(app), json.dumps(found))


def refuse_folders(sources: Iterable[Path], static: Path) -> None:
    """Raise `IsADirectoryError` for a folder in `static` where a file is to be copied.

    `sources` are the folders whose files are; Sphinx would name only the file there.
    """
    for source in sources:
        for path in source.rglob("*"):
            name = path.relative_to(source).as_posix()
            for end in _TEMPLATES:
                name = name.removesuffix(end)
            if (static / name).is_dir() and not path.is_dir():
                reason = os.strerror(errno.EISDIR)
                raise IsADirectoryError(errno.EISDIR, reason, str(static / name))


def _kept_in(app: Sphinx) -> Path:
    """The file that says how a build has left the site in this folder."""
    return Path(app.doctreedir, f"site-{Path(app.outdir).name}.json")


def _left_before(app: Sphinx) -> dict[str, _Left]:
    """How the last build left each file; raises where what it kept is damaged."""
    try:
        kept = json.loads(_kept_in(app).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {name: (size, time, digest) for name, (size, time, digest) in kept.items()}


def _left(path: Path, before: _Left | None) -> _Left | None:
    """How the file at `path` is, read only if its size or time differ from `before`."""
    try:
        found = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    if before and before[:2] == (found.st_size, found.st_mtime_ns):
        return before
    return found.st_size, found.st_mtime_ns, digest_of(path)


def _differs(path: Path, before: _Left) -> bool:
    """Whether something else is in the file at `path`, whatever its time is."""
    now = _left(path, before)
    return now is None or now[2] != before[2]


def _remove(path: Path) -> None:
    """Remove what stands at `path`, or a file in the place of one of its folders."""
    path = next((above for above in path.parents if above.is_file()), path)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _names(out: Path, pages: set[str]) -> Iterator[str]:
    """What to look after: files of pages, those in the folders of Sphinx, the search.

    All else in the site is written by each build, or somebody has put it there.
    """
    for page in pages:
        for end in _ENDS:
            yield f"{page}{end}"
    for folder in out.glob("_*/"):
        for path in folder.rglob("*"):
            yield path.relative_to(out).as_posix()
    yield _SEARCH


def _owners(env: BuildEnvironment) -> dict[str, set[str]]:
    """The pages with which each file is written; those of no page are not there."""
    found = {f"{page}{end}": {page} for page in env.found_docs for end in _ENDS}
    for page in env.found_docs:
        source = f"_sources/{page}{Path(env.doc2path(page)).suffix}"
        found |= {source: {page}, f"{source}.txt": {page}}
    for pages, name in env.images.values():
        found[f"_images/{name}"] = set(pages)
    return found
