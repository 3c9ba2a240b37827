"""What a page's cells may put out; anything else is a `Problem` of the page.

A cell may raise only what it declares, write nothing to stderr, show no path of this
machine and no address, and what it puts out has an end and no escape codes.

On a page about a message JAX may change its words: what it says now is shown, and
`html.release_diff` tells that it is not as kept. Only another type of error breaks a
build.
"""

from __future__ import annotations

import re

import nbformat
from nbformat import NotebookNode

from book import error_text
from book.hardware.targets import Target
from book.source.model import Cell, Page
from book.state import Problem

MAX_OUTPUT = 1_000_000  # characters that a cell may put out
MAX_LINE = 20_000  # characters in a line of them

# How a message of XLA's log begins: a letter for its severity, the day, and the time.
LOGGED = re.compile(r"^(?=[IWEF]\d{4} \d\d:\d\d:\d\d)", re.MULTILINE)


class OutputRules:
    """The rules for the cells of `page`, run on `target`.

    `private` are strings of this machine, none of which may be shown.
    """

    def __init__(self, page: Page, target: Target, private: list[str]):
        self.page, self.private = page, private
        self._quiet = [re.compile(pattern) for pattern in target.quiet]

    def problem(self, cell: Cell, reason: str) -> Problem:
        """A problem of this page that names the cell."""
        return Problem(self.page.name, reason, cell.line, cell.number)

    def apply(self, cell: Cell, node: NotebookNode) -> None:
        """Leave in `node` the outputs that a reader sees.

        Raises `Problem` where `cell` breaks a rule.
        """
        if is_too_much(node.outputs):
            raise self.problem(cell, f"it puts out more than {MAX_OUTPUT:,} letters")
        node.outputs, errors, warned = self._separate(node.outputs)
        if warned:
            raise self.problem(cell, f"wrote to stderr: {warned}")
        if errors:
            self._check_declared(cell, errors[0])
            self._show_error(node, errors[0])
        elif cell.raises:
            raise self.problem(cell, f"declares {cell.raises!r}, but raised nothing")
        for output in node.outputs:
            if "execution_count" in output:
                output.execution_count = None
            self._remove_escape_codes(output)
            self._check_lines(cell, output)
        self._check_private(cell, node.outputs)

    def check_stderr(self, cell: Cell, outputs: list[NotebookNode]) -> None:
        """Raise `Problem` for `cell` when there are warnings among `outputs`."""
        if warned := self._separate(outputs)[2]:
            raise self.problem(cell, f"wrote to stderr: {warned}")

    def _separate(
        self, outputs: list[NotebookNode]
    ) -> tuple[list[NotebookNode], list[NotebookNode], str]:
        """What a reader sees, the errors, and what went to stderr, in one line."""
        shown: list[NotebookNode] = []
        errors, warned = [], []
        for output in outputs:
            if output.output_type == "error":
                errors.append(output)
            elif output.get("name") == "stderr":
                warned += self._warnings(error_text.plain(output.text))
            elif shown and output.get("name") == "stdout" == shown[-1].get("name"):
                shown[-1].text += output.text
            else:
                shown.append(output)
        text = " | ".join(warned)
        if len(text) > error_text.MAX_WARNED:
            text = f"{text[: error_text.MAX_WARNED]} …"
        return shown, errors, text

    def _warnings(self, text: str) -> list[str]:
        """The lines on stderr that say something about a page on this target.

        Of what XLA logs, the first line decides about all that belong to it.
        """
        said = []
        for part in LOGGED.split(text):
            if LOGGED.match(part) and self._is_quiet(part.splitlines()[0]):
                continue
            for line in part.splitlines():
                if line.strip() and not self._is_quiet(line):
                    said.append(line.strip())
        return said

    def _is_quiet(self, line: str) -> bool:
        """Whether a line on stderr says nothing about a page on this target."""
        return any(pattern.search(line) for pattern in self._quiet)

    def _check_declared(self, cell: Cell, error: NotebookNode) -> None:
        """Raise `Problem` unless `cell` declares this error."""
        raised = error_text.first_line(error.ename, error.evalue)
        if not cell.raises:
            raise self.problem(cell, f"raised {raised}{_line_that_ran(cell, error)}")
        kind, _, words = cell.raises.partition(":")
        reworded = words.strip() not in error.evalue and not self.page.error
        if error.ename != kind.strip() or reworded:
            reason = f"declares {cell.raises!r}, but raised {raised}"
            raise self.problem(cell, reason)

    @staticmethod
    def _show_error(node: NotebookNode, error: NotebookNode) -> None:
        """Put the text of a declared error behind what the cell printed."""
        for printed in node.outputs:
            if printed.get("name") == "stdout":
                printed.text = error_text.without_places(printed.text)
        node.outputs = [one for one in node.outputs if one.get("text") != ""]
        text = error_text.message(error.ename, error.evalue) + "\n"
        node.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=text))

    @staticmethod
    def _remove_escape_codes(output: NotebookNode) -> None:
        if "text" in output:
            output.text = error_text.plain(output.text)
        data = output.get("data", {})
        for kind, value in data.items():
            if kind == "text/plain":
                data[kind] = error_text.plain(value)
            elif isinstance(value, str):
                data[kind] = error_text.printable(value)

    def _check_lines(self, cell: Cell, output: NotebookNode) -> None:
        """Raise `Problem` for a line without an end."""
        data = output.get("data", {})
        text = f"{output.get('text', '')}\n{data.get('text/plain', '')}\n"
        longest = max(len(line) for line in text.splitlines())
        if longest > MAX_LINE:
            raise self.problem(cell, f"puts out a line of {longest:,} letters")

    def _check_private(self, cell: Cell, outputs: list[NotebookNode]) -> None:
        """Raise `Problem` for what is of this machine, or of this build alone."""
        text = "\n".join(text for output in outputs for text in _texts(output))
        for private in self.private:
            if private in text and private not in cell.source:
                reason = f"shows {private}, which is this machine's own"
                raise self.problem(cell, reason)
        if found := error_text.ADDRESS.search(text):
            raise self.problem(
                cell,
                f"shows {found[0]!r}, an address, which is another in every build; "
                "print what the object holds, or its type, instead of the object",
            )


def is_too_much(outputs: list[NotebookNode]) -> bool:
    """Whether it is more than a cell may put out."""
    return sum(len(text) for o in outputs for text in _texts(o)) > MAX_OUTPUT


def _texts(output: NotebookNode) -> list[str]:
    """All the text of an output."""
    texts = [output.get("text", ""), output.get("evalue", "")]
    return [*texts, *map(str, output.get("data", {}).values())]


def _line_that_ran(cell: Cell, error: NotebookNode) -> str:
    """The cell's own line that was running, taken from IPython's traceback."""
    traceback = error_text.plain("".join(error.traceback))
    lines = re.findall(r"Cell In\[\d+\], line \d+.*\n\s+(.*)", traceback)
    lines = [line for line in lines if line in cell.source]
    return f" at `{lines[-1]}`" if lines else ""
