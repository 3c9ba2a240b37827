r"""The text of an error as a page shows it: its type, and all lines that say something.

Places in files of this machine say nothing to a reader, and neither do addresses, the
colours of a terminal, or JAX's remark that it has left out frames:

>>> print(message("ValueError", "odd\n\n\n  * f at /a/program.py:3 got 1"))
ValueError: odd
<BLANKLINE>
  * f got 1
"""

from __future__ import annotations

import re
import textwrap

WIDTH = 80
MAX_MESSAGE = 4000  # characters of a message that a page shows
MAX_WARNED = 1000  # of what a cell wrote to stderr
MAX_FIRST_LINE = 300  # and that a problem repeats
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
# Of the log and the stack trace of C++.
_STACK = re.compile(r"@ +0x[0-9a-f]+|\*\*\* |PC: @|Fatal Python error: Aborted")
_LOG_PREFIX = re.compile(r"^[IWEF]\d{4} .*?\w+\.(?:cc|cpp|h):\d+\] ")
# An object's address, as in `<function f at 0x7f0012345678>`, `<dict 139780121203648>`.
_NUMBER = r"(?:0x[0-9a-f]{6,}|\d{9,})\b"
_AT = r"\bat 0x[0-9a-f]{6,}\b"
_ID = rf"(<[A-Za-z_][\w.]*\s+|\bid[ =:]\s*){_NUMBER}|(\bobject (?:with )?id )\d+"
ADDRESS = re.compile(f"{_AT}|{_ID}")


def printable(text: str) -> str:
    """Return `text` without escapes and control characters, but for line ends."""
    return _CONTROL.sub("", _ESCAPE.sub("", text))


def plain(text: str) -> str:
    r"""Return `text` as a terminal shows it in the end, without colours.

    >>> plain("20% done\r40% done\n")
    '40% done\n'
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return printable("\n".join(lines))


def message(name: str, said: str) -> str:
    """The lines to show of the error called `name` that says `said`."""
    rest = len(said) - MAX_MESSAGE
    text = plain(said[:MAX_MESSAGE])
    text = _REMARK.sub("", _FRAMES.sub("", text))
    lines = [line.rstrip() for line in text.splitlines()]
    lines = [_without_place(x) for x in lines if not _SAYS_NOTHING.fullmatch(x)]
    text = without_addresses("\n".join(lines))
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    first = f"{name}: {text}" if text else name
    shown = [part for line in first.split("\n") for part in _wrapped(line)]
    if rest > 0:
        shown.append(f"(The message goes on for {rest:,} more characters.)")
    return "\n".join(shown)


def first_line(name: str, said: str) -> str:
    """The first line of the error, for a sentence of the build."""
    lines = [x.strip() for x in plain(said[:MAX_MESSAGE]).splitlines() if x.strip()]
    text = f"{name}: {lines[0]}".rstrip(": ") if lines else name
    return text if len(text) <= MAX_FIRST_LINE else f"{text[:MAX_FIRST_LINE]} …"


def without_addresses(text: str) -> str:
    """Return `text` with `…` for each address, and without those that follow "at".

    >>> without_addresses("<dict 139780121203648> holds <function f at 0x7f0012345678>")
    '<dict …> holds <function f>'
    """
    text = re.sub(f" {_AT}", "", text)
    return re.sub(_ID, lambda match: f"{match[1] or match[2]}…", text)


def without_places(printed: str) -> str:
    """Return what a cell printed, without lines that are a place in a file only.

    JAX 0.12 prints one before it raises `IndivisibleError`.
    """
    lines = printed.splitlines(keepends=True)
    return "".join(line for line in lines if not _ALONE.fullmatch(line))


def _without_place(line: str) -> str:
    """Return a line without paths, but for those of installed packages, shortened."""

    def shorter(match: re.Match) -> str:
        _, library, path = match[2].rpartition("site-packages/")
        return f"{match[1] or ''}{path}" if library else ""

    place = rf"( at | in | from )?({_FILE})(?::\d+)*(?:, line \d+)?"
    return re.sub(place, shorter, line)


def _wrapped(line: str) -> list[str]:
    """Wrap a line, keeping its indentation, and that of what follows a bullet."""
    text = line.lstrip()
    bullet = 2 if text.startswith(("* ", "• ", "- ")) else 0
    wrapped = textwrap.wrap(
        line,
        WIDTH,
        subsequent_indent=" " * (len(line) - len(text) + bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped or [""]


def last_words(said: str) -> str:
    r"""The line of what a process wrote to stderr that says why it ended.

    It is the last one, but for the stack trace that C++ prints below its reason.

    >>> last_words("F1127 7 env.cc:93] Check failed: x\n*** Check\n    @  0x7f f()")
    'Check failed: x'
    """
    lines = [line.strip() for line in plain(said).splitlines()]
    lines = [line for line in lines if line and not _STACK.match(line)]
    return first_line(_LOG_PREFIX.sub("", lines[-1]), "") if lines else ""
