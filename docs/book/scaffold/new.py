"""A new page starts complete: it builds, its cells run, its exercise can fail.

    python -m book.scaffold.new shard_map/varying
    python -m book.scaffold.new vmap/options look-up
    python -m book.scaffold.new errors/inconsistent_sizes
    python -m book.scaffold.new learn/one_example lesson

writes a page from the folder `templates`: a concept with its exercise, in `errors/` the
page of a message, or a lesson with its exercise and its program.  It says where the
page goes in the table of contents.  What is to be written says TODO, and the tests
object until the last of them is gone.  Nothing that exists is ever overwritten.
"""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

TEMPLATE = Path(__file__).parent / "templates"
KINDS = ("concept", "look-up", "lesson")
TAKEN = frozenset({"book", "exercises"})  # folders that are not chapters
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
    """Says why nothing was written, and what to do instead."""


def files(name: str, kind: str = "concept") -> dict[str, str]:
    """The path of each new file -> its template; raises `Refusal` for a bad name."""
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
    if folder in TAKEN:
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
    """Write the files of the page `name`; return their paths below `root`.

    Raises `Refusal`, and writes none, when one of them exists or the name is bad.
    """
    wanted = files(name, kind)
    if not (root / "docs" / "index.md").is_file():
        raise Refusal("there is no docs/index.md here; run it where noxfile.py is.")
    if there := [path for path in wanted if (root / path).exists()]:
        raise Refusal(f"there already: {', '.join(there)}; nothing was written.")
    folder, _, page = name.partition("/")
    for path, template in wanted.items():
        text = (TEMPLATE / template).read_text(encoding="utf-8")
        text = text.replace("NAME", page).replace("FOLDER", folder)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("x", encoding="utf-8") as file:
            file.write(text)
    return list(wanted)


def place(docs: Path, name: str) -> str:
    """Where the page `name` goes, in words: its folder's own contents or the index."""
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
    """Create the page that `arguments` name; return the exit status."""
    try:
        if len(arguments) not in (1, 2):
            raise Refusal(f"which page? Say: python -m nox -s new -- {_EXAMPLE}")
        for path in create(Path.cwd(), *arguments):
            print(f"wrote {path}")
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print("\n" + place(Path("docs"), arguments[0]))
    print("\nThen: python -m nox -s live")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
