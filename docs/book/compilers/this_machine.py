"""What the compiler for this build's own devices makes of programs that pages show.

Promise: what is kept of a program was made of its present text, by this JAX, for these
devices; a program that does not compile is a problem of each page that shows it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from book import error_text
from book.files import write_atomically
from book.hardware import targets
from book.source.dependencies import NotPython, imported_files
from book.state import Book, Problem, book_of

ENGINE = Path(__file__).parents[2], Path(__file__).parents[3]  # `book`, `examples`


def place(made: Path, program: str) -> Path:
    """Where what this build's compiler says of `program` is kept."""
    return made / "compiled" / f"{program}.json"


def kept_key(path: Path) -> str | None:
    """What the file at `path` was made for; None where there is none, or no such."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["key"]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def compile_here(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Compile what is not compiled yet; name the pages that show it, to read again."""
    book = book_of(app)
    users = _users(book)
    wanted = {place(book.made, program) for program in users}
    for path in set((book.made / "compiled").rglob("*.json")) - wanted:
        path.unlink()
    stale = {}
    for program in sorted(users):
        try:
            key = _key(book, program)
        except NotPython as error:
            for name in users[program]:
                book.fail(Problem(name, str(error)))
            continue
        if key and kept_key(place(book.made, program)) != key:
            stale[program] = key
    found = _ask(book, list(stale)) if stale else {}
    for program, key in stale.items():
        if refused := found[program].get("refused"):
            for name in users[program]:
                said = f"examples/{program}.py does not compile: {refused}"
                book.fail(Problem(name, said))
            continue
        kept = json.dumps({"key": key, "found": found[program]})
        write_atomically(place(book.made, program), kept)
    return sorted({name for program in stale for name in users[program]})


def _users(book: Book) -> dict[str, list[str]]:
    """The programs of which pages show what compilers say, and these pages."""
    users: dict[str, list[str]] = {}
    for page in book.pages():
        for fence in page.fences:
            if fence.name == "compiled":
                users.setdefault(fence.argument, []).append(page.name)
    return users


def _key(book: Book, program: str) -> str | None:
    """A digest of all that the answer depends on; None where there is no program.

    The directive names a program that is missing, with the line.
    """
    if not (book.root / "examples" / f"{program}.py").is_file():
        return None
    module = "examples." + program.replace("/", ".")
    digest = hashlib.sha256(book.kernels["mesh-of-eight"].fingerprint.encode())
    code = f"import {module}, book.compilers.command"
    for path in sorted(imported_files(code, book.roots)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _ask(book: Book, programs: list[str]) -> dict[str, dict]:
    """Compile in a process of its own, on the mesh of eight.

    Of a program that does not compile, the answer is what was "refused"; the last line
    of what was said is that of all where the process itself ends otherwise.
    """
    target = book.kernels["mesh-of-eight"].target
    done = subprocess.run(
        [sys.executable, "-m", "book.compilers.command", "--here", *programs],
        env=targets.environment(target, *book.roots, *ENGINE),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = error_text.last_words(done.stderr) or "nothing was said"
        return {program: {"refused": said} for program in programs}
    return json.loads(done.stdout.strip().splitlines()[-1])
