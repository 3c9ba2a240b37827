"""A page's kernel is asked, unseen, whether the types in the comments were right."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from queue import Empty

from nbclient.exceptions import DeadKernelError

from book.execute.type_comments import parse
from book.source.model import Cell, Page
from book.state import Problem

PATIENCE = 300.0  # seconds for an answer that takes a thousandth of one
KERNEL = "_book_kernel"
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
    files = {"book.execute.type_comments.parse": parse.__file__}
    files[KERNEL] = Path(parse.__file__).with_name("in_kernel.py")
    texts = {name: Path(file).read_text("utf-8") for name, file in files.items()}
    return _LOAD.format(texts=texts, kernel=KERNEL, cells=cells)


class Watch:
    """Asks the kernel of `page` behind `client` about types, where a page has any."""

    def __init__(self, page: Page, client):
        self.page, self._client = page, client
        self._claims = {cell.number: parse.claims(cell.source) for cell in page.cells}
        self._typed = any(self._claims.values())
        self._needed = self._typed or any(cell.check for cell in page.cells)

    async def begin(self) -> None:
        """Load the module; raises `Problem` for a type that nothing could verify."""
        wrong = []
        for cell in self.page.cells:
            for claim in self._claims[cell.number]:
                if cell.fresh:
                    claim.wrong = "is a type in a fresh cell, where nothing verifies it"
                if claim.wrong:
                    wrong.append((cell.number, claim.line, claim.wrong))
        self._raise(wrong)
        if self._needed:
            runs = [c for c in self.page.cells if c.source.strip() and not c.fresh]
            cells = [(cell.number, cell.check) for cell in runs]
            await self._ask("None", f"exec({loader(cells)!r}, {{}})")

    async def after(self, cell: Cell) -> None:
        """Raise a `Problem` for the types that were wrong until now."""
        await self._tell(to_the_end=cell is self.page.cells[-1])

    async def _tell(self, to_the_end: bool) -> None:
        if self._typed:
            question = f"__import__({KERNEL!r}).told({to_the_end})"
            self._raise(json.loads(await self._ask(question)))

    def _raise(self, wrong: list) -> None:
        if wrong:
            cells = {cell.number: cell for cell in self.page.cells}
            lines = [
                (cells[n], cells[n].line + line - 1, why) for n, line, why in wrong
            ]
            reason = "; ".join(f"line {line} {why}" for _, line, why in lines)
            first, line, _ = lines[0]
            raise Problem(self.page.name, reason, line, first.number)

    async def _ask(self, question: str, code: str = "") -> str:
        """Run `code` unseen, then return the value of the expression `question`."""
        asked = {"told": question}
        ident = self._client.execute(
            code, silent=True, store_history=False, user_expressions=asked
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
            if message["parent_header"].get("msg_id") == ident:
                told = message["content"]["user_expressions"]["told"]
                return ast.literal_eval(told["data"]["text/plain"])
        raise DeadKernelError("no answer")
