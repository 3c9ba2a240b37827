"""The imports of a program: merged, sorted, and in groups."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 88


@dataclass(frozen=True)
class Imported:
    """One name that a program imports."""

    module: str
    name: str | None  # None for `import module`
    alias: str | None

    @property
    def bound(self) -> str:
        """The name that the program knows it by."""
        return self.alias or self.name or self.module.split(".")[0]

    @property
    def means(self) -> str:
        """What that name stands for: the same, however it is imported."""
        if self.name:
            return f"{self.module}.{self.name}"
        return self.module if self.alias else self.bound


def import_statements(found: Iterable[Imported]) -> str:
    """Import statements, merged, sorted and grouped."""
    plain: set[tuple[str, str]] = set()
    froms: dict[str, set[str]] = {}
    for one in found:
        renamed = f" as {one.alias}" if one.alias else ""
        if one.name is None:
            plain.add((one.module, f"import {one.module}{renamed}"))
        else:
            froms.setdefault(one.module, set()).add(f"{one.name}{renamed}")
    lines = [*sorted(plain), *((m, _from(m, froms[m])) for m in sorted(froms))]
    pythons: list[str] = []
    others: list[str] = []
    for module, text in lines:
        top = module.split(".")[0]
        (pythons if top in sys.stdlib_module_names else others).append(text)
    return "\n\n".join("\n".join(group) for group in (pythons, others) if group)


def _from(module: str, names: set[str]) -> str:
    ordered = sorted(names)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n    " + ",\n    ".join(ordered) + ",\n)"
