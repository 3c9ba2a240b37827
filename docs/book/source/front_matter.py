"""What a page says of itself before it begins: YAML between two lines of `---`."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath
from typing import Any

import yaml

from book.source.model import Answer, Raised
from book.state import Problem

KERNELS = ("target", "mesh-of-eight")
KINDS = ("concept", "look-up", "lesson")
_BOOK = {"budget", "kind", "needs", "short"}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class FrontMatter:
    """The front matter of a page, checked; whatever is wrong raises a `Problem`.

    `found` is all that it says, as it stands there.
    """

    def __init__(self, name: str, text: str):
        self.name, self._text = name, text
        try:
            self.found = yaml.safe_load(text) or {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            what = getattr(error, "problem", None) or error
            line = mark.line + 2 if mark else 1
            why = f"its front matter is not YAML: {what}"
            raise Problem(name, why, line) from None
        self._require(
            isinstance(self.found, dict),
            "its front matter is no list of `key: value` lines",
        )

    def _require(self, fits: bool, why: str, *way: str | int) -> None:
        """Raise a `Problem` at the line of the value at `way` unless it fits."""
        if not fits:
            raise Problem(self.name, why, self._line(*way))

    def _line(self, *way: str | int) -> int:
        """The line of the value at `way`, or of the last part of it that is there."""
        node, line = yaml.compose(self._text) if way else None, 1
        for key in way:
            if isinstance(node, yaml.MappingNode):
                pairs = [pair for pair in node.value if pair[0].value == key]
                if not pairs:
                    break
                key_node, node = pairs[0]
                line = key_node.start_mark.line + 2
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                node = node.value[key]
                line = node.start_mark.line + 2
        return line

    def settings(self, runs: bool) -> dict[str, Any]:
        """The fields of a `Page` that it sets; kernel and budget only where it runs."""
        why = "has code cells but no front matter, so none would run"
        self._require(bool(self.found) or not runs, why)
        book = self.found.get("book", {})
        self._require(
            isinstance(book, dict) and set(book) <= _BOOK,
            "its `book:` takes `budget`, `kind`, `needs` and `short`, and no more",
            "book",
        )
        kind, short = book.get("kind"), book.get("short")
        self._require(
            kind in KINDS or not (runs or "kind" in book),
            f"is of kind {kind!r}; there are {', '.join(KINDS)}",
            *("book", "kind"),
        )
        self._require(
            short is None or _is_text(short),
            f"its `short` is {short!r}, not a short title",
            *("book", "short"),
        )
        found = {"kind": kind, "short": short}
        found |= {"error": self._error(), "needs": self._needs(book)}
        return found | (self._hardware(book) if runs else {})

    def _needs(self, book: dict[str, Any]) -> tuple[tuple[int, str], ...]:
        """The lessons that a lesson builds on: the line and the name of each."""
        if "needs" not in book:
            return ()
        names, way = book["needs"], ("book", "needs")
        why = "has `needs`, which only a page of kind lesson has"
        self._require(book.get("kind") == "lesson", why, *way)
        why = "its `needs` is a list of pages beside it, like [from_a_loop]"
        self._require(_are_texts(names), why, *way)
        folder = PurePosixPath(self.name).parent
        return tuple(
            (self._line(*way, number), str(folder / name))
            for number, name in enumerate(names)
        )

    def _hardware(self, book: dict[str, Any]) -> dict[str, Any]:
        """On what a page runs, and for how many seconds."""
        why = "needs `file_format: mystnb`, or no cell would run"
        self._require(self.found.get("file_format") == "mystnb", why, "file_format")
        spec = self.found.get("kernelspec")
        kernel = spec.get("name") if isinstance(spec, dict) else None
        why = f"its kernelspec is called {kernel!r}; it runs on {' or '.join(KERNELS)}"
        self._require(kernel in KERNELS, why, "kernelspec", "name")
        budget: Any = book.get("budget")
        why = "needs `book: {budget: SECONDS}`, a positive number"
        self._require(_is_positive(budget), why, "book", "budget")
        return {"kernel": kernel, "budget": float(budget)}

    def answers(self, anchors: set[str]) -> tuple[Answer, ...]:
        """The questions that the page answers, at some of its `anchors`."""
        given = self.found.get("answers", [])
        why = "its `answers` are a list of `question` and `at`"
        self._require(isinstance(given, list), why, "answers")
        for number, one in enumerate(given):
            fits = isinstance(one, dict) and set(one) == {"question", "at"}
            why = "each of its `answers` has a `question` and `at`, both texts"
            self._require(fits and _are_texts([*one.values()]), why, "answers", number)
            why = f"answers at {one['at']!r}, which is no heading's address here"
            self._require(one["at"] in anchors, why, "answers", number, "at")
        return tuple(Answer(**one) for one in given)

    def _error(self) -> Raised | None:
        """The message that the page is about, if it is about one."""
        if "error" not in self.found:
            return None
        given = self.found["error"]
        fits = isinstance(given, dict) and set(given) - {"general"} == {
            "called",
            "raised",
        }
        why = "its `error:` has `called`, a list of functions, and `raised`, a text"
        self._require(fits, why, "error")
        called, words = given["called"], given["raised"]
        fits = bool(called) and _are_texts(called)
        fits = fits and all(_DOTTED.fullmatch(name) for name in called)
        why = "its `called` is a list like [jax.vmap, jax.pmap]"
        self._require(fits, why, "error", "called")
        why = "its `raised` is the words of a message, a text"
        self._require(_is_text(words), why, "error", "raised")
        general = given.get("general", False)
        why = "its `general` is true: the message needs no map and no mesh"
        self._require(isinstance(general, bool), why, "error", "general")
        return Raised(tuple(called), words, general)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(map(_is_text, values))


def _is_positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < math.inf
