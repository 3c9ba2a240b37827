"""The index of the search, in half its bytes.

Sphinx's index names each address of a section beside its heading, keeps the words of
titles apart, and has a list of numbers for each word.  Here an address is made of its
heading, and a word is followed by the steps between its pages, a character each;
`unpack.js` in front makes of it what the search asks for.  Sphinx reads its own index
again in the next build, so that is kept beside the site, and comes back before.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from docutils.nodes import make_id
from sphinx.application import Sphinx

NAME = "searchindex.js"
MARKS = "".join(chr(code) for code in range(35, 126) if chr(code) != "\\")
UNPACK = Path(__file__).with_name("unpack.js")


def restore(app: Sphinx) -> None:
    """Let Sphinx find the index that it wrote."""
    kept = app.book.made / NAME
    if kept.exists() and app.builder.format == "html":
        shutil.copy(kept, Path(app.outdir, NAME))


def write(app: Sphinx, exception: Exception | None) -> None:
    """Keep Sphinx's index, and publish it packed."""
    path = Path(app.outdir, NAME)
    if exception is not None or app.builder.format != "html" or not path.exists():
        return
    shutil.copy(path, app.book.made / NAME)
    text = path.read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    path.write_text(pack(index), encoding="utf-8")


def pack(index: dict) -> str:
    """The script that hands `index` to the search."""
    count = len(index["docnames"])
    files: dict[str, set[int]] = {}
    for table in (index["terms"], index["titleterms"]):
        for word, found in table.items():
            found = found if isinstance(found, list) else [found]
            files.setdefault(word, set()).update(found)
    still = sorted(item for item in files.items() if item[1])
    words = [f"{word} {steps(found, count)}" for word, found in still]
    heads: list[list[str]] = [[] for _ in range(count)]
    for text, places in index["alltitles"].items():
        for file, address in places:
            if address:
                line = text if address == make_id(text) else f"{text}\t{address}"
                heads[file].append(line)
    parts = {
        "d": index["docnames"],
        "n": index["titles"],
        "h": ["\n".join(one) for one in heads],
        "t": "\n".join(words),
    }
    packed = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    unpack = UNPACK.read_text(encoding="utf-8").partition("\n")[2].strip()
    return f"Search.setIndex({unpack}({packed},{json.dumps(MARKS)}))\n"


def steps(files: set[int], count: int) -> str:
    """The steps from page to page, or behind "!" those between all other pages."""
    most = len(files) > count / 2
    out, last = "!" if most else "", -1
    for file in sorted(set(range(count)) - files if most else files):
        far, near = divmod(file - last - 1, len(MARKS))
        out, last = out + "~" * far + MARKS[near], file
    return out
