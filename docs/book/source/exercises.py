"""The mistakes that an exercise knows: its functions `mistake_*`, and what they say.

What each says of itself tells a learner what went wrong.  `said.json`, beside the
exercises, has what `check` says of each.
"""

from __future__ import annotations

import ast

from book.source.dependencies import parse

PREFIX = "mistake_"


def mistakes(source: str) -> dict[str, str]:
    """What each mistake in the text of an exercise says of itself, by its name.

    The name is without the prefix; what it says is the first paragraph of its
    docstring, on one line, and "" where it has none.
    """
    found = {}
    for node in parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith(PREFIX):
            thought = (ast.get_docstring(node) or "").partition("\n\n")[0]
            found[node.name.removeprefix(PREFIX)] = " ".join(thought.split())
    return found
