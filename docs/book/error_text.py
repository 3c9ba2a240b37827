r"""What is shown of an error: its type, and all lines that say something.

Places in files of this machine say nothing to a reader, and neither do the colours of a
terminal or JAX's remark that it has left out frames:

>>> print(whole("ValueError", "odd\n\n\n  * f at /a/program.py:3 got 1"))
ValueError: odd
<BLANKLINE>
  * f got 1
"""

from __future__ import annotations

import re
import textwrap

WIDTH = 80
LONGEST = 4000  # characters of a message that a page shows
BRIEF = 300  # and that a problem repeats
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[0-~])?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_FILE = r"(?:[A-Za-z]:\\|/)[^\s:,;()'\"]*\.py"
_PLACE = rf"{_FILE}(?::\d+)*(?:, line \d+)?(?: \([\w<>.]+\))?"
_ALONE = re.compile(rf"\s*{_PLACE}\s*")
# A remark that stands at the end of a message.
_FRAMES = re.compile(r"\n?-{10,}\s*\nFor simplicity, JAX has removed.*", re.DOTALL)
_SAYS_NOTHING = re.compile(
    rf"-{{10,}}\s*|\s*{_PLACE}\s*"
    r"|This \w*Tracer with object id \d+ was created on line:"
    r"|When the value was created, the final \d+ stack frames.*"
    rf"|The leaked intermediate value was created on line (?:{_PLACE})?\s*\.?\s*"
)
_REMARK = re.compile(rf"\s*This error occurs at source:\s*{_PLACE}")
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}\b")


def plain(text: str) -> str:
    """Return `text` without escapes and control characters, but for line ends."""
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def whole(name: str, message: str) -> str:
    """The lines to show of the error called `name` with the text `message`."""
    rest = len(message) - LONGEST
    text = plain(message[:LONGEST])
    text = _REMARK.sub("", _FRAMES.sub("", text))
    lines = [line.rstrip() for line in text.splitlines()]
    lines = [_placeless(line) for line in lines if not _SAYS_NOTHING.fullmatch(line)]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    first = f"{name}: {text}" if text else name
    shown = [piece for line in first.split("\n") for piece in _wrapped(line)]
    if rest > 0:
        shown.append(f"(The message goes on for {rest:,} more characters.)")
    return "\n".join(shown)


def brief(name: str, message: str) -> str:
    """The first line of the error, for a sentence of the build."""
    lines = [x.strip() for x in plain(message[:LONGEST]).splitlines() if x.strip()]
    text = f"{name}: {lines[0] if lines else ''}".rstrip(": ")
    return text if len(text) <= BRIEF else f"{text[:BRIEF]} …"


def without_places(printed: str) -> str:
    """Return what a cell printed, without lines that are a place in a file only.

    JAX 0.12 prints one before it raises `IndivisibleError`.
    """
    lines = printed.splitlines(keepends=True)
    return "".join(line for line in lines if not _ALONE.fullmatch(line))


def _placeless(line: str) -> str:
    def shorter(match: re.Match) -> str:
        _, library, path = match[2].rpartition("site-packages/")
        return f"{match[1] or ''}{path}" if library else ""

    line = re.sub(
        rf"( at | in | from )?({_FILE})(?::\d+)*(?:, line \d+)?", shorter, line
    )
    return _ADDRESS.sub("", line)


def _wrapped(line: str) -> list[str]:
    """Wrap a line, keeping its indentation, and that of what follows a bullet."""
    indent = re.match(r"\s*(?:[*•-] )?", line)[0]
    wrapped = textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped or [""]
