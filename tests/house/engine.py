"""Rules for the modules of the engine, `docs/book`."""

from __future__ import annotations

import ast

from tests.house.programs import undocumented


def engine_rules(text: str, where: str) -> list[str]:
    """The engine is documented, and imports nothing of the content."""
    tree = ast.parse(text)
    found = [f"{where}:{line}: {says}." for line, says in undocumented(tree)]
    for node in ast.walk(tree):
        names = [getattr(node, "module", None) or ""]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if name.split(".")[0] == "examples":
                what = f"it imports {name}: the engine knows nothing of the content"
                found.append(f"{where}:{node.lineno}: {what}.")
    return found
