"""What one statement says of changes, outside of bodies and in them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache

from book.cut.statements import Statement
from book.cut.words import changed, given, put, sets, split, targets


@dataclass
class Marks:
    """What the words of one statement say."""

    changes: set[str] = field(default_factory=set)
    given: list[tuple[str, ast.expr]] = field(default_factory=list)
    put: list[tuple[str, ast.expr]] = field(default_factory=list)
    augments: set[str] = field(default_factory=set)
    sets: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)  # changed by a body
    moves: bool = False  # a body changes what it is given
    gives: bool = False  # a body keeps a state, for what it returns


@cache
def marks_of(statement: Statement) -> Marks:
    """Read one statement."""
    node, used = statement.node, statement.uses
    outside, inside = split(node)
    found = Marks(later=set(used.sets_later))
    contexts = {getattr(part, "context_expr", None) for part in outside}
    rows: dict[str, set[str]] = {}  # names of a comprehension: what it goes through
    for part in outside:
        if isinstance(part, ast.comprehension):
            walked = {n.id for n in ast.walk(part.iter) if isinstance(n, ast.Name)}
            rows |= dict.fromkeys(targets(part.target), walked)
        elif isinstance(part, ast.AugAssign):
            found.augments |= {getattr(part.target, "id", "")}
        if part not in contexts:  # what a block sets is set back at its end
            found.changes |= changed(part)
            found.sets |= sets(part)
        found.given += given(part)
        found.put += put(part)
    for name in found.changes & set(rows):
        found.changes |= rows[name]
    found.changes -= set(rows)
    contexts = {getattr(part, "context_expr", None) for part, _ in inside}
    for part, parameters in inside:
        found.gives |= isinstance(part, ast.Yield | ast.YieldFrom | ast.Nonlocal)
        names = changed(part) | sets(part) if part not in contexts else set()
        found.moves |= not parameters.isdisjoint(names)
        found.later |= (names - parameters) & used.later
    if isinstance(node, ast.ClassDef):
        found.moves, found.gives = False, found.moves
    return found
