"""What code says by its words alone: where it starts, what it calls and changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ACTS = (ast.Attribute, ast.Subscript, ast.AugAssign, ast.Expr, ast.Call)
# Calls that say all they do; calls that return nothing, so that a notebook shows
# nothing; how the names of those begin that set a state which no name holds.
HARMLESS = ("assert", "block_until_ready", "callback", "display", "print", "sleep")
HARMLESS += ("get", "items", "keys", "values")
SILENT = frozenset(
    "add append appendleft clear discard extend fill insert register remove reverse "
    "sort update".split()
)
# Calls that make a function, which says nothing when it is printed.
MAKES = frozenset(
    "checkpoint custom_jvp custom_vjp filter_jit filter_vmap grad hessian jacfwd "
    "jacrev jit partial pmap remat shard_map smap value_and_grad vmap".split()
)
SETS = ("clear_", "disable_", "enable_", "filterwarnings", "reset_", "seed", "set_")
SETS += ("chdir", "initialize", "setrecursionlimit", "simplefilter", "update")


def root(node: ast.AST) -> str:
    """The name that `a.b[0].c` starts from; "" where it starts at none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def called(node: ast.AST) -> str:
    """The last name of what is called: `jax.config.update(…)` -> "update"."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def names(*nodes: ast.AST) -> set[str]:
    """All names in `nodes`."""
    parts = (part for node in nodes for part in ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name)}


def within(nodes: Iterable[ast.AST], leave: tuple[type, ...] = BODIES) -> Iterator:
    """What is in `nodes`, but for the insides of functions, which run later."""
    todo, ends = [*nodes], (*leave, ast.Name, ast.Constant)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ends):
            todo += ast.iter_child_nodes(node)


def returns(function: ast.FunctionDef) -> bool:
    """Whether a function returns or yields something."""
    ends = (ast.Return, ast.Yield, ast.YieldFrom)
    return any(isinstance(n, ends) and n.value for n in within(function.body))


def is_silent(function: ast.AST) -> bool:
    """Whether it is a method that returns nothing, or gives a function its rule."""
    name = getattr(function, "attr", "")
    return name in SILENT or name.startswith("def")  # defjvp, def_vmap


def shows(node: ast.stmt) -> bool:
    """Whether a notebook may display it: a value that is not there for its effect."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    if called(node.value).startswith(("assert", "display", "print", "sleep", *SETS)):
        return False
    return not is_silent(getattr(node.value, "func", None))


def defines(node: ast.stmt) -> bool:
    """Whether it makes functions or a class."""
    value = getattr(node, "value", None)
    makes = isinstance(value, ast.Lambda) or called(value) in MAKES
    return makes or isinstance(node, DEFS)


def settled(node: ast.stmt) -> bool:
    """Whether nothing can change what it makes: functions, or values of JAX."""
    value = getattr(node, "value", None)
    return defines(node) or root(value) in ("jax", "jnp", "lax")


def made(node: ast.stmt) -> list[str]:
    """The names of the values that the last statement of a program computes."""
    while isinstance(node, ast.With):
        node = node.body[-1]
    if not isinstance(node, ast.Assign | ast.AugAssign) or defines(node):
        return []
    targets = getattr(node, "targets", None) or [node.target]
    parts = [one for t in targets for one in getattr(t, "elts", [t])]
    found = [getattr(one, "id", "_") for one in parts]
    return [name for name in found if not name.startswith("_")]


def acting(parts: Iterable[ast.AST]) -> list[ast.AST]:
    """Those of `parts` that may change something in place."""
    found = (part for part in parts if isinstance(part, _ACTS))
    return [n for n in found if type(getattr(n, "ctx", None)) is not ast.Load]


def _stored(part: ast.AST) -> str:
    """The name whose object a node, its children apart, stores something in."""
    if isinstance(part, ast.Expr | ast.Call):
        return ""
    return root(part.target if isinstance(part, ast.AugAssign) else part)


def broken(node: ast.stmt, parts: Iterable[ast.AST]) -> set[str]:
    """The names whose objects a statement, whose `parts` run, changes in place."""
    found = {_stored(part) for part in parts}
    calls = (part.value for part in parts if isinstance(part, ast.Expr))
    found |= {root(call) for call in calls if is_silent(getattr(call, "func", None))}
    rules = getattr(node, "decorator_list", ())  # @f.def_vmap
    return found | {root(rule) for rule in rules if is_silent(rule)}


def changed(parts: list[ast.AST], methods: bool, shown: bool = False) -> set[str]:
    """The names whose objects nodes, their children apart, may change in place.

    They store something in them, or give them to a call for its effect, which is not
    for that if it is `shown`.  What calls `methods` changes what these are of, as in
    `last = xs.pop()`.
    """
    found = {_stored(part) for part in parts}
    for part in parts:
        if isinstance(part, ast.Expr) and _matters(part.value):
            given = () if shown else (*part.value.args, *part.value.keywords)
            found |= {root(part.value)} | names(*given)
        elif methods and isinstance(part, ast.Call) and _matters(part):
            found |= {root(part)} if isinstance(part.func, ast.Attribute) else set()
    return found


def _matters(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and not called(call).startswith(HARMLESS)


def sets(parts: Iterable[ast.AST]) -> set[str]:
    """The names of modules, perhaps, whose state a statement sets as its parts run."""
    calls = (part.value for part in parts if isinstance(part, ast.Expr))
    return {root(call) for call in calls if called(call).startswith(SETS)}
