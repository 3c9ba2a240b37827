"""Writes a new page, with its exercise and its program, from templates: `nox -s new`.

    python -m book.scaffold.new shard_map/varying
    python -m book.scaffold.new vmap/options look-up
    python -m book.scaffold.new errors/inconsistent_sizes
    python -m book.scaffold.new learn/one_example lesson

A concept comes with an exercise, a lesson with an exercise and a program; a page in
`errors/` is about one message.  The new page builds, its cells run and its exercise can
fail.  What is left to be written says TODO, and the tests object until the last of them
is gone.  Nothing that exists is ever overwritten.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from book.source.front_matter import KINDS

TEMPLATES = Path(__file__).parent / "templates"
NOT_CHAPTERS = frozenset({"book", "exercises"})  # folders of docs/ and examples/
_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
_EXAMPLE = "shard_map/varying"
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
    """The template of each new file, by its path; raises `Refusal` for a bad name."""
    if kind not in KINDS:
        raise Refusal(f"{kind!r} is no kind of page; there are {', '.join(KINDS)}.")
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
    if folder == "errors":
        return {f"docs/{name}.md": "error.md"}
    found = {f"docs/{name}.md": f"{kind}.md"}
    if kind in ("concept", "lesson"):
        found[f"examples/exercises/{page}.py"] = "exercise.py"
    if kind == "lesson":
        found[f"examples/{name}.py"] = "program.py"
    return found


def create(root: Path, name: str, kind: str = "concept") -> list[str]:
    """Write the files of the page called `name`; return their paths below `root`.

    Raises `Refusal`, and writes none, when one of them exists or the name is bad.
    """
    wanted = templates(name, kind)
    if not (root / "docs" / "index.md").is_file():
        raise Refusal("there is no docs/index.md here; run it where noxfile.py is.")
    there = [path for path in wanted if (root / path).exists()]
    if there:
        raise Refusal(f"there already: {', '.join(there)}; nothing was written.")
    folder, _, page = name.partition("/")
    for path, template in wanted.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        text = text.replace("NAME", page).replace("FOLDER", folder)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("x", encoding="utf-8") as file:
            file.write(text)
    return list(wanted)


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


def main(arguments: list[str]) -> int:
    """Create the page that `arguments` name: `NAME [KIND]`; return the exit status."""
    try:
        if len(arguments) not in (1, 2):
            raise Refusal(f"which page? Say: python -m nox -s new -- {_EXAMPLE}")
        for path in create(Path.cwd(), *arguments):
            print(f"wrote {path}")
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print("\n" + say_where(Path("docs"), arguments[0]))
    print("\nThen: python -m nox -s live")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
