"""What a cell put out is what a reader may see, or the page has a `Problem`.

A cell may raise only what it declares, write nothing to stderr, show no path of this
machine and no address, and what it puts out has an end and no escape codes.

On a page about a message JAX may change its words: what it says now is shown, and
`book.wordings` tells that it is not as kept. Only another type of error breaks a build.
"""

from __future__ import annotations

import re

import nbformat

from book import error_text
from book.hardware.targets import Target
from book.source.model import Cell, Page
from book.state import Problem

OUTPUT = 1_000_000  # letters that a cell may put out
LINE = 20_000  # letters in a line of them
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")


class Judge:
    """Judges what the cells of `page` put out on `target`.

    `private` are strings of this machine, none of which may be shown.
    """

    def __init__(self, page: Page, target: Target, private: list[str]):
        self.page, self.private = page, private
        self._quiet = [re.compile(pattern) for pattern in target.quiet]

    def problem(self, cell: Cell, reason: str) -> Problem:
        """Blame a cell."""
        return Problem(self.page.name, reason, cell.line, cell.number)

    def judge(self, cell: Cell, node) -> None:
        """Leave in `node` what a reader sees; raises `Problem` if it must not be."""
        node.outputs, errors, warned = self.sift(node.outputs)
        if warned:
            raise self.problem(cell, f"wrote to stderr: {warned}")
        if error := errors[0] if errors else None:
            said = error_text.brief(error.ename, error.evalue)
            if not cell.raises:
                raise self.problem(cell, f"raised {said}{_where(cell, error)}")
            kind, _, piece = cell.raises.partition(":")
            reworded = piece.strip() not in error.evalue and not self.page.error
            if error.ename != kind.strip() or reworded:
                reason = f"declares {cell.raises!r}, but raised {said}"
                raise self.problem(cell, reason)
            text = error_text.whole(error.ename, error.evalue) + "\n"
            for printed in node.outputs:
                if printed.get("name") == "stdout":
                    printed.text = error_text.without_places(printed.text)
            node.outputs = [o for o in node.outputs if o.get("text") != ""]
            shown = nbformat.v4.new_output("stream", name="stdout", text=text)
            node.outputs.append(shown)
        elif cell.raises:
            raise self.problem(cell, f"declares {cell.raises!r}, but raised nothing")
        for output in node.outputs:
            if "execution_count" in output:
                output.execution_count = None
            self._clear(cell, output)
        if leak := self._leak(cell, node.outputs):
            raise self.problem(cell, f"shows {leak}")

    def sift(self, outputs: list) -> tuple[list, list, str]:
        """Part what a reader sees from errors and from what went to stderr."""
        shown, errors, warned = [], [], []
        for output in outputs:
            if output.output_type == "error":
                errors.append(output)
            elif output.get("name") == "stderr":
                lines = error_text.plain(output.text).strip().splitlines()
                quiet = self._quiet
                warned += [x for x in lines if not any(q.search(x) for q in quiet)]
            elif shown and output.get("name") == "stdout" == shown[-1].get("name"):
                shown[-1].text += output.text
            else:
                shown.append(output)
        return shown, errors, " | ".join(line.strip() for line in warned if line)

    def too_much(self, outputs: list) -> bool:
        """Whether it is more than a cell may put out."""
        return sum(len(text) for o in outputs for text in _texts(o)) > OUTPUT

    def _clear(self, cell: Cell, output) -> None:
        """Leave no escape codes in what is shown, and no line without an end."""
        if "text" in output:
            output.text = error_text.plain(output.text)
        data = output.get("data", {})
        if "text/plain" in data:
            data["text/plain"] = error_text.plain(data["text/plain"])
        text = f"{output.get('text', '')}\n{data.get('text/plain', '')}\n"
        longest = max(map(len, text.splitlines()))
        if longest > LINE:
            raise self.problem(cell, f"puts out a line of {longest:,} letters")

    def _leak(self, cell: Cell, outputs: list) -> str | None:
        """What is of this machine, or of this build alone."""
        text = "\n".join(piece for output in outputs for piece in _texts(output))
        for private in self.private:
            if private in text and private not in cell.source:
                return f"{private}, which is this machine's own"
        found = _ADDRESS.search(text)
        return found and f"{found[0]!r}, an address, which is another in every build"


def _texts(output) -> list[str]:
    """All the text of an output."""
    texts = [output.get("text", ""), output.get("evalue", "")]
    return [*texts, *map(str, output.get("data", {}).values())]


def _where(cell: Cell, error) -> str:
    """The cell's own line that was running, taken from IPython's traceback."""
    told = error_text.plain("".join(error.traceback))
    lines = re.findall(r"Cell In\[\d+\], line \d+.*\n\s+(.*)", told)
    lines = [line for line in lines if line in cell.source]
    return f" at `{lines[-1]}`" if lines else ""
