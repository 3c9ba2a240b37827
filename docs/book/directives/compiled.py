"""Show what the compilers make of a program: on these devices, and on those not here.

Promise: every number comes from a compiler.  Those of this build's own devices are made
by this build; those of TPUs and H100s are read from `examples/NAME.compiled.json`,
which `nox -s compile` writes, and checks.  Nothing shown here ran anywhere.

    ```{compiled} shard_map/split_inner
    :way: lower_scatter
    ```
"""

from __future__ import annotations

import json
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.locale import _

from book.compilers import store, this_machine
from book.compilers.chips import CHIPS
from book.compilers.tables import lines, plain, table, tabs
from book.directives.base import BookDirective


class Compiled(BookDirective):
    """What the compilers make of one way to lower the program that is named."""

    required_arguments = 1
    option_spec: ClassVar = {"way": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Show this build's devices, then TPUs, then H100s."""
        book, program = self.book, self.arguments[0]
        way = self.options.get("way", "lower")
        if book.state(self.env.docname).problems:
            return []  # one message is enough
        kept = store.kept(program, book.root / "examples")
        made_here = this_machine.place(book.made, program)
        for path in (kept, made_here):
            self.env.note_dependency(str(path))
        hardware = self.book.kernels["mesh-of-eight"]
        eight = f"8 × {hardware.kind}"
        name = "CPU" if hardware.simulated else hardware.kind
        here = _("{device} ×8, this build").format(device=name)
        try:
            now = json.loads(made_here.read_text(encoding="utf-8"))["found"][way]
            known = json.loads(kept.read_text(encoding="utf-8"))
            panels = {
                here: table({eight: now}) + lines(eight, now),
                _("TPU generations"): _elsewhere(known["tpu"], way),
                "H100 ×8": _elsewhere(known["gpu"], way),
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            raise self.error(
                f"{kept.name} does not say what compilers make of {way} of {program}: "
                f"nox -s compile compile_gpu -- {program}"
            ) from None
        return self.parsed(tabs(panels))


def _elsewhere(known: dict, way: str) -> str:
    """The Markdown of a tab: a table, a few lines, and who said so."""
    found, made = known[way], known["made with"]
    rows = {CHIPS[chip].says: facts for chip, facts in found.items()}
    one = next((chip for chip in found if chip.startswith("v5p")), [*found][-1])
    shown = CHIPS[one].says
    compiler = _(" and ").join(f"{name} {number}" for name, number in made.items())
    said = _("Compiled for these chips by {compiler}; it did not run.")
    said = said.format(compiler=plain(compiler))
    if any("flops" in facts for facts in found.values()):
        said += _(" Of a loop, the FLOPs are those of one iteration.")
    return f"{table(rows)}{lines(shown, rows[shown])}\n{said}\n"
