"""Loads the checker of type comments into a page's kernel, and asks what was wrong."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from queue import Empty

from jupyter_client import AsyncKernelClient
from nbclient.exceptions import DeadKernelError

from book.execute.type_comments import parse
from book.source.model import Cell, Page
from book.state import Problem

PATIENCE = 300.0  # seconds for an answer that takes a thousandth of one
KERNEL_MODULE = "_book_kernel"  # what `in_kernel` is called in the kernel
_LOAD = """
import sys, types
for name, text in {texts!r}.items():
    if name not in sys.modules or name == {kernel!r}:
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"<{{name}}>", "exec"), module.__dict__)
sys.modules[{kernel!r}].begin({cells!r})
"""


def loader(cells: list[tuple[int, bool]]) -> str:
    """The program that makes a kernel look at `cells`: number, and if it is a check."""
    folder = Path(parse.__file__).parent
    texts = {
        "book.execute.type_comments.parse": (folder / "parse.py").read_text("utf-8"),
        KERNEL_MODULE: (folder / "in_kernel.py").read_text("utf-8"),
    }
    return _LOAD.format(texts=texts, kernel=KERNEL_MODULE, cells=cells)


class TypeComments:
    """The type comments of `page`, about which the kernel behind `client` is asked."""

    def __init__(self, page: Page, client: AsyncKernelClient):
        self.page, self._client = page, client
        self._comments = {
            cell.number: parse.read_type_comments(cell.source) for cell in page.cells
        }
        self._any = any(self._comments.values())

    async def begin(self) -> None:
        """Load the modules; raises `Problem` for a type that nothing could verify."""
        wrong = []
        for cell in self.page.cells:
            for comment in self._comments[cell.number]:
                reason = comment.wrong
                if cell.fresh:
                    reason = "is a type in a fresh cell, where nothing verifies it"
                if reason:
                    wrong.append((cell.number, comment.line, reason))
        self._raise(wrong)
        if self._any or any(cell.check for cell in self.page.cells):
            runs = [c for c in self.page.cells if c.source.strip() and not c.fresh]
            cells = [(cell.number, cell.check) for cell in runs]
            await self._ask("None", f"exec({loader(cells)!r}, {{}})")

    async def check(self, cell: Cell) -> None:
        """Raise a `Problem` for the types that were wrong until `cell` had run."""
        if self._any:
            last = cell is self.page.cells[-1]
            question = f"__import__({KERNEL_MODULE!r}).found(to_the_end={last})"
            self._raise(json.loads(await self._ask(question)))

    def _raise(self, wrong: list[tuple[int, int, str]]) -> None:
        """Raise a `Problem` if there is any (number of a cell, line in it, reason)."""
        if not wrong:
            return
        cells = {cell.number: cell for cell in self.page.cells}
        lines = [
            (cells[number].line + line - 1, reason) for number, line, reason in wrong
        ]
        reasons = "; ".join(f"line {line} {reason}" for line, reason in lines)
        raise Problem(self.page.name, reasons, line=lines[0][0], cell=wrong[0][0])

    async def _ask(self, question: str, code: str = "") -> str:
        """Run `code` silently, then return the value of the expression `question`.

        Raises `DeadKernelError` when no answer comes.
        """
        request = self._client.execute(
            code,
            silent=True,
            store_history=False,
            user_expressions={"answer": question},
        )
        waited = 0
        while waited < PATIENCE:
            try:
                message = await self._client.get_shell_msg(timeout=1)
            except Empty:
                waited += 1
                if not await self._client.is_alive():
                    break
                continue
            if message["parent_header"].get("msg_id") == request:
                answer = message["content"]["user_expressions"]["answer"]
                return ast.literal_eval(answer["data"]["text/plain"])
        raise DeadKernelError("no answer")
