"""What code says by its words alone: where it starts, what it calls and changes."""

from __future__ import annotations

import ast

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.Match)
CHANGING = (ast.Attribute, ast.Subscript, ast.AugAssign, ast.Expr)
# Calls that say all they do; calls that return nothing, so that a notebook shows
# nothing; how the names of those begin that set a state which no name holds.
HARMLESS = ("assert", "block_until_ready", "callback", "display", "print", "sleep")
HARMLESS += ("get", "items", "keys", "memory_analysis", "reshape", "values")
SILENT = frozenset(
    "add append appendleft clear def_vmap defjvp defjvps defvjp discard extend fill "
    "insert register remove reverse sort update".split()
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


def called(call: ast.Call) -> str:
    """The last name of what is called: `jax.config.update(…)` -> "update"."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def shows(node: ast.stmt) -> bool:
    """Whether a notebook may display it: a value that is not there for its effect."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    name = called(node.value) if isinstance(node.value, ast.Call) else ""
    silent = name.startswith(("assert", "display", "print", "sleep", *SETS))
    return not (
        silent or (name in SILENT and isinstance(node.value.func, ast.Attribute))
    )


def made(node: ast.stmt) -> list[str]:
    """The names of the values that the last statement of a program computes."""
    while isinstance(node, ast.With):
        node = node.body[-1]
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return []
    if isinstance(node.value, ast.Lambda):
        return []
    if isinstance(node.value, ast.Call) and called(node.value) in MAKES:
        return []
    targets = getattr(node, "targets", None) or [node.target]
    parts = [one for t in targets for one in getattr(t, "elts", [t])]
    names = [getattr(one, "id", "_") for one in parts]
    return [name for name in names if not name.startswith("_")]


def changed(node: ast.AST) -> set[str]:
    """The name that a node, its children apart, changes in place."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return set() if isinstance(node.ctx, ast.Load) else {root(node)}
    if isinstance(node, ast.AugAssign):
        return {root(node.target)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return set() if called(node.value).startswith(HARMLESS) else {root(node.value)}
    return set()
