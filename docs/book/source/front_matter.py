"""What a page says of itself before it begins."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath

import yaml

from book.source import markdown
from book.source.model import Answer, Raised
from book.state import Problem

KERNELS = ("target", "mesh-of-eight")
KINDS = ("concept", "look-up", "lesson")
_SAYS = {"budget", "kind", "needs", "short"}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*").fullmatch


class Front:
    """The front matter of a page, and what it may say."""

    def __init__(self, name: str, text: str, found: markdown.Document):
        self.name, self.found = name, {}
        if found.front is None:
            if text.startswith("---"):
                raise self._problem("its front matter has no end: a line of `---`", 1)
            return
        self._text = found.front
        try:
            self.found = yaml.safe_load(found.front) or {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            what = getattr(error, "problem", None) or error
            line = mark.line + 2 if mark else 1
            raise self._problem(f"its front matter is not YAML: {what}", line) from None
        if not isinstance(self.found, dict):
            raise self._problem("its front matter is no list of `key: value` lines", 1)

    def _problem(self, reason: str, line: int) -> Problem:
        return Problem(self.name, reason, line)

    def _line(self, *way: str | int) -> int:
        """The line of the value at `way`, or of the last part of it that is there."""
        node, line = yaml.compose(self._text) if self.found else None, 1
        for key in way:
            if isinstance(node, yaml.MappingNode):
                pair = next((p for p in node.value if p[0].value == key), None)
                if pair is None:
                    break
                line, node = pair[0].start_mark.line + 2, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                node = node.value[key]
                line = node.start_mark.line + 2
        return line

    def settings(self, runs: bool) -> dict:
        """What a page says of itself; kernel and budget only where it runs."""
        if runs and not self.found:
            why = "has code cells but no front matter, so none would run"
            raise self._problem(why, 1)
        told = {"kind": self._kind(runs), "error": self._error()}
        told["short"] = self._short()
        told["needs"] = self._needs()
        return told | (self._hardware() if runs else {})

    def _kind(self, needed: bool) -> str | None:
        book = self.found.get("book", {})
        if not isinstance(book, dict) or not set(book) <= _SAYS:
            why = "its `book:` takes `budget`, `kind`, `needs` and `short`, and no more"
            raise self._problem(why, self._line("book"))
        kind = book.get("kind")
        if (needed or "kind" in book) and kind not in KINDS:
            why = f"is of kind {kind!r}; there are {', '.join(KINDS)}"
            raise self._problem(why, self._line("book", "kind"))
        return kind

    def _short(self) -> str | None:
        """What the sidebar calls the page."""
        short = self.found.get("book", {}).get("short")
        if short is not None and not (isinstance(short, str) and short.strip()):
            why = f"its `short` is {short!r}, not a short title"
            raise self._problem(why, self._line("book", "short"))
        return short

    def _needs(self) -> tuple[tuple[int, str], ...]:
        """The lessons that a lesson builds on: the line and the name of each."""
        book = self.found.get("book", {})
        if "needs" not in book:
            return ()
        if book.get("kind") != "lesson":
            why = "has `needs`, which only a page of kind lesson has"
            raise self._problem(why, self._line("book", "needs"))
        given = book["needs"]
        names = given if isinstance(given, list) else [given]
        if given is not names or not all(isinstance(n, str) and n for n in names):
            why = "its `needs` is a list of pages beside it, like [from_a_loop]"
            raise self._problem(why, self._line("book", "needs"))
        folder = PurePosixPath(self.name).parent
        return tuple(
            (self._line("book", "needs", k), str(folder / name))
            for k, name in enumerate(names)
        )

    def _hardware(self) -> dict:
        """On what a page runs, and for how long."""
        if self.found.get("file_format") != "mystnb":
            why = "needs `file_format: mystnb`, or no cell would run"
            raise self._problem(why, self._line("file_format"))
        spec = self.found.get("kernelspec")
        kernel = spec.get("name") if isinstance(spec, dict) else None
        if kernel not in KERNELS:
            why = f"its kernelspec is called {kernel!r}; it runs on "
            why += " or ".join(KERNELS)
            raise self._problem(why, self._line("kernelspec", "name"))
        budget = self.found.get("book", {}).get("budget")
        number = isinstance(budget, int | float) and not isinstance(budget, bool)
        if not number or not 0 < budget < math.inf:
            why = "needs `book: {budget: SECONDS}`, a positive number"
            raise self._problem(why, self._line("book", "budget"))
        return {"kernel": kernel, "budget": float(budget)}

    def answers(self, anchors: set[str]) -> tuple[Answer, ...]:
        """The questions that the page answers, at some of its `anchors`."""
        given = self.found.get("answers", [])
        if not isinstance(given, list):
            why = "its `answers` are a list of `question` and `at`"
            raise self._problem(why, self._line("answers"))
        found = []
        for k, one in enumerate(given):
            fits = isinstance(one, dict) and set(one) == {"question", "at"}
            if not fits or not all(isinstance(v, str) and v for v in one.values()):
                why = "each of its `answers` has a `question` and `at`, both texts"
                raise self._problem(why, self._line("answers", k))
            if one["at"] not in anchors:
                why = f"answers at {one['at']!r}, which is no heading's address here"
                raise self._problem(why, self._line("answers", k, "at"))
            found.append(Answer(**one))
        return tuple(found)

    def _error(self) -> Raised | None:
        """The message that the page is about, if it is about one."""
        if "error" not in self.found:
            return None
        given = self.found["error"]
        if not isinstance(given, dict) or set(given) != {"called", "raised"}:
            why = "its `error:` has `called`, a list of functions, and `raised`, a text"
            raise self._problem(why, self._line("error"))
        called, words = given["called"], given["raised"]
        names = called if isinstance(called, list) else [None]
        if not names or not all(isinstance(n, str) and _DOTTED(n) for n in names):
            why = "its `called` is a list like [jax.vmap, jax.pmap]"
            raise self._problem(why, self._line("error", "called"))
        if not isinstance(words, str) or not words.strip():
            why = "its `raised` is the words of a message, a text"
            raise self._problem(why, self._line("error", "raised"))
        return Raised(tuple(names), words)
