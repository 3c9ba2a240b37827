"""Type comments: how they are read in a cell, and how a statement is made to compare.

    x = jnp.ones((8, 4))    # float32[8,4]: eight rows

After an assignment, an expression or `return` it is the type of the value, on a `def`
line those of the parameters, or of one: `# x: float32[4]`.
The text is compared with `str(jax.typeof(value))`, also while JAX traces; only strings
are kept of a value.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_DTYPE = r"bool|b?float\d\w*|u?int\d+|complex\d+|key<\w+>|[fsuc]\d+|bf16|pred"
# float32[8,4], key<fry>[], ~float32[8@data]{V:model}, Ref{float32[8]}
TYPE = rf"~?(?:Ref\{{)?(?:{_DTYPE})(?:<\w+>)?\[[^\[\]]*\](?:\{{[^{{}}]*\}})*\}}?"
_HAS_TYPE = re.compile(rf"(?<!\w){TYPE}")
_COMMENT = re.compile(rf"#\s*(?:(\w+):\s+)?({TYPE}(?:,\s*{TYPE})*)\s*(?::\s.*|:?)")
_NO_CODE = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_SCALARS = (bool, int, float, complex)


@dataclass
class TypeComment:
    """A comment with types.

    line: where it stands, from 1.  types: as it says them.  place: line and column of
    its statement.  parameters: those of a function it is about.  wrong: what does not
    hold.  ran: whether its line has run.
    """

    line: int
    types: tuple[str, ...]
    place: tuple[int, int] = (0, 0)
    parameters: tuple[str, ...] = ()
    wrong: str | None = None
    ran: bool = False

    def compare(self, value: object) -> None:
        """Compare the types with those of `value`, or of what is in a tuple or list."""
        self.ran = True
        found = [_type_of(part) for part in _flat(value)]
        if self.wrong is None and found != list(self.types):
            self.wrong = _difference(self.types, found)


def _flat(value: object) -> list[object]:
    """What is in tuples and lists, at any depth; else `value` alone."""
    if isinstance(value, tuple | list):
        return [part for one in value for part in _flat(one)]
    return [value]


def _difference(types: tuple[str, ...], found: list[str]) -> str:
    if len(types) != len(found):
        said, there = _count(len(types), "type"), _count(len(found), "value")
        verb = "is" if len(found) == 1 else "are"
        listed = f": {', '.join(found)}" if 0 < len(found) < 9 else ""
        return f"says {said}, and there {verb} {there}{listed}"
    pairs = [(a, b) for a, b in zip(types, found, strict=True) if a != b]
    return " and ".join(f"says {a}, and it is {b}" for a, b in pairs)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _type_of(value: object) -> str:
    """The type of an array as JAX writes it, or words for something else."""
    import jax

    if not isinstance(value, _SCALARS) or hasattr(value, "dtype"):
        try:
            return str(jax.typeof(value))
        except TypeError:
            pass
    return f"no array but {'None' if value is None else type(value).__name__}"


# ---- comments of a cell ----------------------------------------------------------


@dataclass
class _Comment:
    """A comment, the first and last line of its statement, and if it is behind code."""

    line: int
    text: str
    first: int
    last: int
    behind_code: bool


def read_type_comments(source: str) -> list[TypeComment]:
    """The type comments of a cell, in order; one that nothing verifies is `wrong`."""
    if not _HAS_TYPE.search(source):
        return []
    nodes = ast.walk(ast.parse(source))
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    found = []
    for comment in _comments(source):
        if not _HAS_TYPE.search(comment.text):
            continue
        match = _COMMENT.fullmatch(comment.text)
        types = tuple(re.findall(TYPE, match[2])) if match else ()
        made = TypeComment(comment.line, types)
        if not match:
            made.wrong = "has a type and words; begin with it, then comes a colon"
        elif not comment.behind_code:
            made.wrong = "is a type on a line of its own; write it behind the code"
        else:
            lines = range(comment.first, comment.last + 1)
            here = [one for one in statements if one.lineno in lines]
            _find_statement(made, here, comment.last, match[1])
        found.append(made)
    return found


def _find_statement(
    comment: TypeComment, here: list[ast.stmt], last: int, name: str | None
) -> None:
    """Find the statement of `comment` among those `here`, which end on the line `last`.

    `name` is that of a parameter, if the comment has one.
    """
    defs = [one for one in here if isinstance(one, ast.FunctionDef)]
    statement = max(here, key=lambda n: (n.lineno, n.col_offset))
    comment.place = statement.lineno, statement.col_offset
    if defs and statement is not defs[-1]:
        comment.wrong = "is a type behind a `def` of one line; give its body a line"
    elif defs:
        comment.parameters = _parameters(defs[-1].args, name)
        if not comment.parameters:
            what = f"a parameter `{name}`" if name else "parameters"
            comment.wrong = f"is a type behind a function without {what}"
    elif name:
        comment.wrong = f"names `{name}` before a type, as only a `def` line may"
    elif comment.line != last:
        comment.wrong = "is a type inside a statement; write it behind its last line"
    elif not has_value(statement):
        comment.wrong = (
            "is a type where no value is: write it behind an assignment, an "
            "expression, `return` or `def`"
        )


def _parameters(arguments: ast.arguments, name: str | None) -> tuple[str, ...]:
    """The parameters that a comment on a `def` line is about: `name` alone, or all."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [one.arg for one in every if one.arg not in ("self", "cls")]
    return tuple(one for one in names if name in (None, one))


def _comments(source: str) -> Iterator[_Comment]:
    """The comments of a cell, in order."""
    waiting: list[tuple[int, str, bool]] = []  # inside a statement that has not ended
    first, last_code = 0, 0  # lines; 0 where no statement has begun
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        row = token.start[0]
        if token.type == tokenize.COMMENT and not first:
            yield _Comment(row, token.string, row, row, behind_code=False)
        elif token.type == tokenize.COMMENT:
            waiting.append((row, token.string, row == last_code))
        elif token.type == tokenize.NEWLINE:
            for line, text, behind_code in waiting:
                yield _Comment(line, text, first, row, behind_code)
            waiting, first = [], 0
        elif token.type not in _NO_CODE:
            first = first or row
            last_code = token.end[0]


# ---- statements that compare -----------------------------------------------------


def has_value(node: ast.stmt) -> bool:
    """Whether `node` has a value that a comment can be compared with."""
    kinds = ast.Assign | ast.AnnAssign | ast.Expr | ast.Return
    return isinstance(node, kinds) and node.value is not None


def comparing_call(number: int, value: ast.expr) -> ast.Call:
    """A call that compares `value` with the comment `number`, and returns it."""
    name = ast.Name("__typed__", ast.Load())
    return ast.Call(name, [ast.Constant(number), value], [])
