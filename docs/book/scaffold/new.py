"""Writes a new page, with its exercise and its program, from templates: `nox -s new`.

    python -m book.scaffold.new shard_map/varying
    python -m book.scaffold.new vmap/options look-up
    python -m book.scaffold.new errors/inconsistent_sizes "the message, as printed"
    python -m book.scaffold.new learn/one_example lesson
    python -m book.scaffold.new vmap/options exercise

A concept comes with an exercise, a lesson with an exercise and a program; a page in
`errors/` is about one message that no page has; `anyway` behind a message writes the
page although another one is about it.  A page starts with eight devices where
most pages of its chapter do.  The new page builds, its cells run and its exercise can
fail.  What is left to be written says TODO, and the tests object until the last of them
is gone.  Nothing that exists is ever overwritten.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from book.html.error_links import page_about
from book.source.front_matter import KERNELS, KINDS
from book.source.parser import read

TEMPLATES = Path(__file__).parent / "templates"
NOT_CHAPTERS = frozenset({"book", "exercises"})  # folders of docs/ and examples/
_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
_EXAMPLE = "shard_map/varying"
EXERCISE = "exercise"  # asked for alone: a page that is there gets one
DEFAULT = "mesh-of-eight"  # the kernel of a chapter that has no page yet
CHAPTER = """---
book:
  short: {folder}
---

# TODO: what {folder} is

TODO: what is in this chapter, and in what order to read it, in five sentences.

```{{chapter}}
```

```{{toctree}}
:hidden:

{page}
```"""


class Refusal(Exception):
    """Why no page was written, and what to do instead."""


def templates(name: str, kind: str = "concept") -> dict[str, str]:
    """The template of each new file, by its path; raises `Refusal` for a bad name.

    Of a page in `errors/`, `kind` is the message.
    """
    folder, slash, page = name.partition("/")
    if not slash:
        raise Refusal(f"{name!r} has no folder; a page is called like {_EXAMPLE}.")
    for part in (folder, page):
        if not _NAME.fullmatch(part) or keyword.iskeyword(part):
            raise Refusal(
                f"{part!r} cannot be imported, or has more than lower-case letters and "
                f"single underscores; a page is called like {_EXAMPLE}."
            )
    if folder in NOT_CHAPTERS:
        raise Refusal(f"{folder!r} is no chapter; a page is called like {_EXAMPLE}.")
    if kind == EXERCISE:
        return {f"examples/exercises/{page}.py": "exercise.py"}
    if folder == "errors":
        return {f"docs/{name}.md": "error.md"}
    kinds = (*KINDS, EXERCISE)
    if kind not in kinds:
        raise Refusal(f"{kind!r} is no kind of page; there are {', '.join(kinds)}.")
    found = {f"docs/{name}.md": f"{kind}.md"}
    if kind in ("concept", "lesson"):
        found[f"examples/exercises/{page}.py"] = "exercise.py"
    if kind == "lesson":
        found[f"examples/{name}.py"] = "program.py"
    return found


def create(
    root: Path, name: str, kind: str = "concept", *, anyway: bool = False
) -> list[str]:
    """Write the files of the page called `name`; return their paths below `root`.

    `anyway`, a page on a message is written although another page is about it.
    Raises `Refusal`, and writes none, when one of them exists or the name is bad.
    """
    wanted = templates(name, kind)
    if not (root / "docs" / "index.md").is_file():
        raise Refusal("there is no docs/index.md here; run it where noxfile.py is.")
    there = [path for path in wanted if (root / path).exists()]
    if there:
        raise Refusal(f"there already: {', '.join(there)}; nothing was written.")
    folder, _, page = name.partition("/")
    if kind == EXERCISE and not (root / "docs" / f"{name}.md").is_file():
        raise Refusal(f"there is no docs/{name}.md that could get an exercise.")
    if folder == "errors" and kind != EXERCISE:
        _refuse_known(root / "docs", kind, anyway)
    kernel = kernel_of(root / "docs", folder, page)
    for path, template in wanted.items():
        text = _template(template, kernel).read_text(encoding="utf-8")
        text = text.replace("NAME", page).replace("FOLDER", folder)
        text = text.replace("MESSAGE", kind)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("x", encoding="utf-8") as file:
            file.write(text)
    return list(wanted)


def _refuse_known(docs: Path, message: str, anyway: bool) -> None:
    """Raise `Refusal` where the book leads from `message` to a page, or it is none."""
    if len(message.split()) < 2:
        raise Refusal(
            "which message? Say it behind the name, in quotes, as it was printed, with "
            "its type: pages that have it are looked for first."
        )
    paths = sorted((docs / "errors").glob("*.md"))
    pages = [read(path, f"errors/{path.stem}") for path in paths]
    found = page_about(message, [page for page in pages if page.error])
    if found and not anyway:
        raise Refusal(
            f"a page is about this message already: docs/{found.name}.md\n"
            "If yours is another message, say `anyway` behind it."
        )


def kernel_of(docs: Path, folder: str, page: str) -> str:
    """The kernel of a page that is there, or of most pages of its chapter."""
    own = docs / folder / f"{page}.md"
    pages = [own] if own.is_file() else sorted((docs / folder).glob("*.md"))
    texts = [path.read_text(encoding="utf-8") for path in pages]
    count = {one: sum(f"\n  name: {one}\n" in t for t in texts) for one in KERNELS}
    most = max(KERNELS, key=count.__getitem__)
    return most if count[most] else DEFAULT


def _template(name: str, kernel: str) -> Path:
    """The template called `name` for a kernel, or the only one that there is."""
    own = TEMPLATES / kernel / name
    return own if own.is_file() else next(TEMPLATES.glob(f"*/{name}"))


def say_cell(docs: Path, name: str) -> str:
    """What the page called `name` wants for its exercise: text, a cell, the answer."""
    folder, _, page = name.partition("/")
    concept = _template("concept.md", kernel_of(docs, folder, page))
    text = concept.read_text(encoding="utf-8").replace("NAME", page)
    start, end = text.index("## TODO: exercise"), text.index(":::{admonition} In short")
    return f"docs/{name}.md wants above its last box\n\n{text[start:end].rstrip()}"


def say_where(docs: Path, name: str) -> str:
    """A sentence that says into which table of contents the page called `name` goes."""
    folder, _, page = name.partition("/")
    for path in sorted((docs / folder).glob("*.md")):
        if "```{toctree}" in path.read_text(encoding="utf-8"):
            return f"docs/{folder}/{path.name} wants in its toctree the line\n\n{page}"
    lines = (docs / "index.md").read_text(encoding="utf-8").splitlines()
    beside = [n for n, line in enumerate(lines, 1) if line.startswith(f"{folder}/")]
    if beside:
        return f"docs/index.md, below line {beside[-1]}, wants the line\n\n{name}"
    block = CHAPTER.format(folder=folder, page=page)
    return f"""docs/index.md wants in its toctree the line\n\n{folder}/index

and docs/{folder}/index.md, a new chapter, five sentences and its pages:\n\n{block}"""


def say_next(name: str, written: list[str]) -> str:
    """The commands that follow, in their order."""
    lines = ["Then: python -m nox -s live"]
    exercises = [Path(path).stem for path in written if path.startswith("examples/ex")]
    if exercises:
        lines.append(f"When `check` is right: python -m nox -s said -- {exercises[0]}")
    if name.startswith("errors/") and not exercises:
        lines.append(f'Parts of the message, under "{name}": tests/fragments.toml')
    return "\n".join([*lines, f"At the end: python -m nox -s page -- {name}"])


def main(arguments: list[str]) -> int:
    """Create the page that `arguments` name: `NAME [KIND]`; return the exit status."""
    try:
        anyway = arguments[2:] == ["anyway"]
        if not arguments or len(arguments) > 2 + anyway:
            raise Refusal(f"which page? Say: python -m nox -s new -- {_EXAMPLE}")
        written = create(Path.cwd(), *arguments[:2], anyway=anyway)
        print(*(f"wrote {path}" for path in written), sep="\n")
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    say = say_cell if arguments[1:] == [EXERCISE] else say_where
    print("\n" + say(Path("docs"), arguments[0]))
    print("\n" + say_next(arguments[0], written))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
