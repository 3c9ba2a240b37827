"""The index of the search, in half its bytes.

Sphinx's index names each address of a section beside its heading, keeps the words of
titles apart, and has a list of numbers for each word.  Here an address is made of its
heading, a word says how many letters it shares with the one before, and its pages are
the steps between them, a character each; `unpack.js` in front makes of it what the
search asks for.  Pages of many words come first, so that most steps are short ones.

Under each heading stand the words of the questions that its section answers, and first
what the sidebar calls the page: a reader's own words, which the page need not have.
The search finds a page by all of these, so a word of them is not listed again.

Sphinx reads its own index again in the next build, so that is kept beside the site, and
comes back before.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from docutils.nodes import make_id
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from book.source.model import Answer

NAME = "searchindex.js"
MARKS = "".join(chr(code) for code in range(35, 126) if chr(code) != "\\")
_WORDS, _COMMON = SearchEnglish({}), SearchEnglish.stopwords
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
    asked = {}
    for page in app.book.pages():
        short = [Answer(page.short, page.title)] if page.short else []
        asked[page.name] = [*short, *page.answers]
    path.write_text(pack(index, asked), encoding="utf-8")


def pack(index: dict, asked: Mapping[str, Sequence[Answer]]) -> str:
    """The script that hands to the search `index`, and what is `asked` of pages."""
    index = _longest_first(index)
    count = len(index["docnames"])
    files = _files(index)
    heads: list[list[str]] = [[] for _ in range(count)]
    questions = [_under(asked.get(name, ())) for name in index["docnames"]]
    for text, places in index["alltitles"].items():
        for file, address in places:
            below = questions[file].pop(_plain(text), [])
            if address:
                line = text if address == make_id(text) else f"{text}\t{address}"
                heads[file] += [line, *below]
            else:
                heads[file][:0] = below
    for file, title in enumerate(index["titles"]):
        for word in _stems([title, *heads[file]]):
            files.get(word, set()).discard(file)
    still = sorted((word, on) for word, on in files.items() if on and _is_asked(word))
    parts = {
        "d": index["docnames"],
        "n": index["titles"],
        "h": ["\n".join(one) for one in heads],
        "w": "\n".join(_differing(word for word, _ in still)),
        "s": "\n".join(steps(found, count) for _, found in still),
    }
    packed = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    unpack = UNPACK.read_text(encoding="utf-8").partition("\n")[2].strip()
    return f"Search.setIndex({unpack}({packed},{json.dumps(MARKS)}))\n"


def _longest_first(index: dict) -> dict:
    """The index with its pages in another order: those of the most words first."""
    files = _files(index)
    words = Counter(file for on in files.values() for file in on)
    old = sorted(range(len(index["docnames"])), key=lambda file: -words[file])
    new = {file: at for at, file in enumerate(old)}
    heads = index["alltitles"].items()
    return {
        "docnames": [index["docnames"][file] for file in old],
        "titles": [index["titles"][file] for file in old],
        "terms": {word: [new[file] for file in on] for word, on in files.items()},
        "titleterms": {},
        "alltitles": {text: [(new[f], a) for f, a in at] for text, at in heads},
    }


def _files(index: dict) -> dict[str, set[int]]:
    """Which pages have a word."""
    files: dict[str, set[int]] = {}
    for table in (index["terms"], index["titleterms"]):
        for word, found in table.items():
            found = found if isinstance(found, list) else [found]
            files.setdefault(word, set()).update(found)
    return files


def _stems(lines: Iterable[str]) -> set[str]:
    """The words by which the search knows headings and questions, as it makes them."""
    texts = (line.partition("\t") for line in lines)
    words = _WORDS.split(" ".join(text or below for text, _, below in texts).lower())
    return {_WORDS.stem(word) for word in words if word not in _COMMON}


def _is_asked(word: str) -> bool:
    """Whether a query may hold it: lower case, two letters, no number, but `2d`."""
    number = word[0].isdigit() and not re.fullmatch(r"\dd", word)
    return word == word.lower() and len(word) > 1 and not number


def _differing(words: Iterable[str]) -> Iterator[str]:
    """How many letters each word shares with the one before, and its others."""
    last = ""
    for word in words:
        same = next(n for n in range(9, -1, -1) if word[:n] == last[:n])
        yield f"{same}{word[same:]}"
        last = word


def _under(answers: Sequence[Answer]) -> dict[str, list[str]]:
    """The words of the questions, below the address of the section that answers."""
    found: dict[str, list[str]] = {}
    for one in answers:
        words = [w for w in _WORDS.split(one.question.lower()) if w not in _COMMON]
        found.setdefault(_plain(one.at), []).append("\t" + " ".join(words))
    return found


def _plain(text: str) -> str:
    """A heading as its address says it, whoever made the address."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def steps(files: set[int], count: int) -> str:
    """The steps from page to page, or behind "!" those between all other pages."""
    most = len(files) > count / 2
    out, last = "!" if most else "", -1
    for file in sorted(set(range(count)) - files if most else files):
        far, near = divmod(file - last - 1, len(MARKS))
        out, last = out + "~" * far + MARKS[near], file
    return out
