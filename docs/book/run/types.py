"""Comments that are types are claims, and hold wherever their line runs.

    x = jnp.ones((8, 4))    # float32[8,4]: eight rows

After an assignment it is the type of the target, after an expression or `return` that
of the value, on a `def` line those of the parameters.  The text is compared with
`str(jax.typeof(value))`, also while JAX traces; only strings are kept of a value.

`claims` reads the comments of a cell.  The rest runs in the page's kernel, which gets
the text of this module (it imports the standard library only): `begin` rewrites each
cell before it runs, `told` says what was wrong.  It also keeps the names that a check
defines from the lessons.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBER = r"bool|b?float\d\w*|u?int\d+|complex\d+|key<\w+>|[fsuc]\d+|bf16|pred"
TYPE = rf"~?(?:Ref\{{)?(?:{_NUMBER})(?:<\w+>)?\[[^\[\]]*\](?:\{{[^{{}}]*\}})*\}}?"
_BEGINS = re.compile(rf"#\s*(?:{TYPE})")
_CLAIM = re.compile(rf"#\s*({TYPE}(?:,\s*{TYPE})*)\s*(?::\s.*|:?)")
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
    if not _BEGINS.search(source):
        return []
    statements = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt)]
    found = []
    for line, text, first, last, trails in _comments(source):
        if not _BEGINS.match(text):
            continue
        match = _CLAIM.fullmatch(text)
        claim = Claim(line, tuple(re.findall(TYPE, match[1])) if match else ())
        here = [n for n in statements if first <= n.lineno <= last]
        if not match:
            claim.wrong = "begins with a type; after it comes a colon, then words"
        elif not trails:
            claim.wrong = "is a type on a line of its own; write it behind the code"
        else:
            _place(claim, here, last)
        found.append(claim)
    return found


def _place(claim: Claim, here: list[ast.stmt], last: int) -> None:
    """Find the statement of `claim` among those `here`, on lines that end at `last`."""
    functions = [
        n for n in here if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    statement = max(here, key=lambda n: (n.lineno, n.col_offset))
    claim.at = statement.lineno, statement.col_offset
    if functions and statement is not functions[-1]:
        claim.wrong = "is a type behind a `def` of one line; give its body a line"
    elif functions:
        arguments = statement.args
        every = [*arguments.posonlyargs, *arguments.args]
        every += [a for a in (arguments.vararg, *arguments.kwonlyargs) if a]
        mine = [a for a in every if a.end_lineno == claim.line]
        every = [a for a in every if a.arg not in ("self", "cls")]
        whole = claim.line == last and len(claim.types) == len(every)
        claim.names = tuple(a.arg for a in (every if whole or not mine else mine))
        if not claim.names:
            claim.wrong = "is a type behind a function without parameters"
    elif claim.line != last:
        claim.wrong = "is a type inside a statement; write it behind its last line"
    elif not _value(statement, ast.Constant(0)):
        claim.wrong = "is a type where no value is: behind an assignment, an "
        claim.wrong += "expression, `return` or `def` it can be verified"


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


# ---- in the kernel ---------------------------------------------------------------


def _call(number: int, value: ast.expr) -> ast.Call:
    name = ast.Name("__typed__", ast.Load())
    return ast.Call(name, [ast.Constant(number), value], [])


def _statement(number: int, value: ast.expr) -> ast.Expr:
    """A statement of its own, of which nothing is displayed."""
    call = _call(number, value)
    call.args.append(ast.Constant(None))
    return ast.Expr(call)


def _value(node: ast.stmt, number: ast.Constant) -> list[ast.stmt] | None:
    """The statement `node`, held to the claim `number`; None where nothing can be."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        target = node.target
    if isinstance(target, ast.Name | ast.Tuple | ast.List) and getattr(
        node, "value", 0
    ):
        again = _load(target)
        return again and [node, _statement(number.value, again)]
    wraps = isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
    if not wraps or node.value is None:
        return None
    node.value = _call(number.value, node.value)
    return [node]


def _load(target: ast.expr) -> ast.expr | None:
    """The value of an assignment's target; None where reading it could do more."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    parts = [_load(one) for one in getattr(target, "elts", ())]
    return ast.Tuple(parts, ast.Load()) if parts and all(parts) else None


class _Rewrite(ast.NodeTransformer):
    """Puts calls of `__typed__` where a cell's claims are; lines stay as they are."""

    def visit(self, node: ast.AST):
        """Rewrite one node, and what is in it."""
        self.generic_visit(node)
        if not isinstance(node, ast.stmt) or not _here.at:
            return node
        known = _here.at.get((node.lineno, node.col_offset), ())
        made = [node]
        for number, claim in known:
            if claim.names:
                names = [ast.Name(name, ast.Load()) for name in claim.names]
                call = _statement(number, ast.Tuple(names, ast.Load()))
                ast.copy_location(call, node)
                doc = ast.get_docstring(node) is not None
                node.body.insert(int(doc), call)
            elif held := _value(node, ast.Constant(number)):
                made = held
        for new in made:
            ast.fix_missing_locations(ast.copy_location(new, node))
        return made


def _shell():
    from IPython import get_ipython

    return get_ipython()


class _Here:
    """What this kernel knows: the cells to come, the claims, the checks' names."""

    def __init__(self) -> None:
        self.cells: list[tuple[int, bool]] = []
        self.claims: list[tuple[int, Claim]] = []
        self.at: dict[tuple[int, int], list[tuple[int, Claim]]] = {}
        self.proofs: dict[str, object] = {}
        self.lessons: dict[str, object] | None = None

    def before(self, info) -> None:
        """A cell is about to run."""
        number, check = self.cells.pop(0) if self.cells else (0, False)
        for claim in claims(info.raw_cell) if number else ():
            self.at.setdefault(claim.at, []).append((len(self.claims), claim))
            self.claims.append((number, claim))
        if check:
            names = _shell().user_ns
            self.lessons = dict(names)
            names.update(self.proofs)

    def after(self, _result) -> None:
        """A cell has run; what a check has bound is for other checks only."""
        self.at = {}
        if self.lessons is None:
            return
        names, lessons = _shell().user_ns, self.lessons
        self.lessons = None
        for name in {*names, *lessons}:
            own = name.startswith("_") or name in ("In", "Out", "exit", "quit")
            if own or names.get(name, self) is lessons.get(name, self):
                continue
            if name in names:
                self.proofs[name] = names.pop(name)
            if name in lessons:
                names[name] = lessons[name]


_here = _Here()


def _typed(number: int, value: object, *instead: object) -> object:
    _here.claims[number][1].hold(value)
    return instead[0] if instead else value


def begin(cells: Iterable[tuple[int, bool]]) -> None:
    """Look at the cells that will run: the number of each, and if it is a check."""
    shell = _shell()
    _here.cells = list(cells)
    builtins.__typed__ = _typed
    shell.ast_transformers.append(_Rewrite())
    shell.events.register("pre_run_cell", _here.before)
    shell.events.register("post_run_cell", _here.after)


def told(to_the_end: bool) -> str:
    """As JSON: cell, line in it, what is wrong; at the end also what never ran."""
    never = "is a type that nothing verified: the line never ran"
    found = [(n, c.line, c.wrong or never) for n, c in _here.claims
             if c.wrong or (to_the_end and not c.ran)]  # fmt: skip
    return json.dumps(found)
