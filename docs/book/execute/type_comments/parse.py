"""Comments that are types are claims, and hold wherever their line runs.

    x = jnp.ones((8, 4))    # float32[8,4]: eight rows

After an assignment it is the type of the target, after an expression or `return` that
of the value, on a `def` line those of the parameters, or of one: `# x: float32[4]`.
The text is compared with `str(jax.typeof(value))`, also while JAX traces; only strings
are kept of a value.

`claims` reads the comments of a cell, `holding` rewrites a statement; `inside` does so
in the page's kernel, which gets both (they import the standard library).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = r"bool|b?float\d\w*|u?int\d+|complex\d+|key<\w+>|[fsuc]\d+|bf16|pred"
TYPE = rf"~?(?:Ref\{{)?(?:{_NUMBER})(?:<\w+>)?\[[^\[\]]*\](?:\{{[^{{}}]*\}})*\}}?"
_HOLDS = re.compile(rf"(?<!\w){TYPE}")
_CLAIM = re.compile(rf"#\s*(?:(\w+):\s+)?({TYPE}(?:,\s*{TYPE})*)\s*(?::\s.*|:?)")
_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCALARS = (bool, int, float, complex)


@dataclass
class Claim:
    """A comment that says types; `at` is the place of its statement.

    `names` are parameters; `wrong` says what does not hold.
    """

    line: int
    types: tuple[str, ...]
    at: tuple[int, int] = (0, 0)
    names: tuple[str, ...] = ()
    wrong: str | None = None
    ran: bool = False

    def hold(self, value: object) -> None:
        """Compare `value`, or each of several, with what is said."""
        self.ran = True
        found = [_type(one) for one in _each(value)]
        if self.wrong is None and found != list(self.types):
            self.wrong = _different(self.types, found)


def _each(value: object) -> list:
    """The parts of tuples and lists, at any depth."""
    several = value if isinstance(value, tuple | list) else None
    return [value] if several is None else [x for one in several for x in _each(one)]


def _different(said: tuple[str, ...], found: list[str]) -> str:
    if len(said) != len(found):
        counts = f"{len(said)} type{'s' * (len(said) != 1)}"
        there = f"{len(found)} value{'s' * (len(found) != 1)}"
        what = f": {', '.join(found)}" if 0 < len(found) < 9 else ""
        return f"says {counts}, and there {_are(found)} {there}{what}"
    pairs = [(a, b) for a, b in zip(said, found, strict=True) if a != b]
    return " and ".join(f"says {a}, and it is {b}" for a, b in pairs)


def _are(found: list[str]) -> str:
    return "is" if len(found) == 1 else "are"


def _type(value: object) -> str:
    import jax

    if not isinstance(value, _SCALARS) or hasattr(value, "dtype"):
        try:
            return str(jax.typeof(value))
        except TypeError:
            pass
    return f"no array but {'None' if value is None else type(value).__name__}"


def claims(source: str) -> list[Claim]:
    """The claims of a cell, in order; one that nothing verifies is `wrong` at once."""
    if not _HOLDS.search(source):
        return []
    statements = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt)]
    found = []
    for line, text, first, last, trails in _comments(source):
        if not _HOLDS.search(text):
            continue
        match = _CLAIM.fullmatch(text)
        claim = Claim(line, tuple(re.findall(TYPE, match[2])) if match else ())
        here = [n for n in statements if first <= n.lineno <= last]
        if not match:
            claim.wrong = "has a type and words; begin with it, then comes a colon"
        elif not trails:
            claim.wrong = "is a type on a line of its own; write it behind the code"
        else:
            _place(claim, here, last, match[1])
        found.append(claim)
    return found


def _place(claim: Claim, here: list[ast.stmt], last: int, name: str | None) -> None:
    """Find the statement of `claim`, of the parameter `name` if any, among `here`."""
    functions = [n for n in here if isinstance(n, _DEFS)]
    statement = max(here, key=lambda n: (n.lineno, n.col_offset))
    claim.at = statement.lineno, statement.col_offset
    if functions and statement is not functions[-1]:
        claim.wrong = "is a type behind a `def` of one line; give its body a line"
    elif functions:
        claim.names = _parameters(statement.args, claim, last, name)
        if not claim.names:
            what = f"a parameter `{name}`" if name else "parameters"
            claim.wrong = f"is a type behind a function without {what}"
    elif name:
        claim.wrong = f"names `{name}` before a type, as only a `def` line may"
    elif claim.line != last:
        claim.wrong = "is a type inside a statement; write it behind its last line"
    elif not holding(statement, ast.Constant(0)):
        claim.wrong = "is a type where no value is: write it behind an assignment, an "
        claim.wrong += "expression, `return` or `def`"


def _parameters(
    arguments: ast.arguments, claim: Claim, last: int, name: str | None
) -> tuple[str, ...]:
    """The parameters of a function, whose header ends at `last`, that a claim is of."""
    every = [*arguments.posonlyargs, *arguments.args]
    every += [a for a in (arguments.vararg, *arguments.kwonlyargs) if a]
    if name:
        return tuple(a.arg for a in every if a.arg == name)
    mine = [a for a in every if a.end_lineno == claim.line]
    every = [a for a in every if a.arg not in ("self", "cls")]
    whole = claim.line == last and len(claim.types) == len(every)
    return tuple(a.arg for a in (every if whole or not mine else mine))


def _comments(source: str) -> Iterator[tuple[int, str, int, int, bool]]:
    """Line and text of each comment, its statement's lines, and if it stands behind."""
    waiting, first, code = [], None, 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row = token.start[0]
        if token.type == tokenize.COMMENT:
            waiting.append((row, token.string, row == code))
            if first is None:
                yield row, token.string, row, row, False
                waiting.clear()
        elif token.type == tokenize.NEWLINE:
            yield from ((n, text, first, row, behind) for n, text, behind in waiting)
            waiting, first = [], None
        elif token.type not in _NO_CODE:
            first, code = first or row, token.end[0]


_NO_CODE = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


# ---- statements that are compared ------------------------------------------------


def compared(number: int, value: ast.expr) -> ast.Call:
    """Compare `value` with the claim `number`; it is the value of the call, too."""
    name = ast.Name("__typed__", ast.Load())
    return ast.Call(name, [ast.Constant(number), value], [])


def statement(number: int, value: ast.expr) -> ast.Expr:
    """A statement of its own, of which nothing is displayed."""
    call = compared(number, value)
    call.args.append(ast.Constant(None))
    return ast.Expr(call)


def holding(node: ast.stmt, number: ast.Constant) -> list[ast.stmt] | None:
    """The statement `node`, held to the claim `number`; None where nothing can be."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        target = node.target
    named = isinstance(target, ast.Name | ast.Tuple | ast.List)
    if named and getattr(node, "value", None):
        again = _load(target)
        return again and [node, statement(number.value, again)]
    wraps = isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
    if not wraps or node.value is None:
        return None
    node.value = compared(number.value, node.value)
    return [node]


def _load(target: ast.expr) -> ast.expr | None:
    """The value of an assignment's target; None where reading it could do more."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    parts = [_load(one) for one in getattr(target, "elts", ())]
    return ast.Tuple(parts, ast.Load()) if parts and all(parts) else None
