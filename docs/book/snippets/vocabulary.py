"""What code says by its words alone: where it starts, what it calls and shows."""

from __future__ import annotations

import ast
import re

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Calls that say all they do; calls that return nothing, so that a notebook shows
# nothing; how the names of those begin that set a state which no name holds.
HARMLESS = tuple(
    "assert block_until_ready callback device_put display get items keys print sleep "
    "values "
    # of NumPy's arrays: each returns a new one, or a view
    "all any argmax argmin astype copy cumsum dot flatten max mean min ravel reshape "
    "round squeeze std sum swapaxes tolist transpose var".split()
)
SILENT = frozenset(
    "add append appendleft clear discard extend fill insert register remove reverse "
    "sort update".split()
)
# Calls that make a function or a program, which say nothing when they are printed.
MAKES = frozenset(
    "checkpoint compile custom_jvp custom_vjp filter_jit filter_vmap grad hessian "
    "jacfwd jacrev jit lower partial pmap remat shard_map smap value_and_grad "
    "vmap".split()
)
SETS = tuple(
    "chdir clear_ disable_ enable_ filterwarnings initialize reset_ seed set_ "
    "setrecursionlimit simplefilter update".split()
)
_SETS_ENVIRONMENT = re.compile(
    r"\benviron(\[[^]]*\])? *\|?=[^=]"
    r"|\bdel .*\benviron\["
    r"|\benviron\.(clear|pop|popitem|setdefault|update)\("
    r"|\b(put|unset|set)env\("
)
_DEVICES = re.compile(r"jax\.config\.update\(\s*[\"']jax_num_cpu_devices")


def root(node: ast.AST | None) -> str:
    """The name that `a.b[0].c` starts from; "" where it starts at none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def called(node: ast.AST | None) -> str:
    """The last name of what is called: `jax.config.update(…)` -> "update"."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def is_silent(function: ast.AST | None) -> bool:
    """Whether it is a method that returns nothing, or gives a function its rule."""
    name = getattr(function, "attr", "")
    return name in SILENT or name.startswith("def")  # defjvp, def_vmap


def sets(node: ast.stmt) -> set[str]:
    """The module whose state a call sets: "jax" of `jax.config.update(…)`."""
    if not isinstance(node, ast.Expr):
        return set()
    call = node.value
    found = called(call).startswith(SETS) or is_silent(getattr(call, "func", None))
    return {root(call)} if found else set()


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns to, or deletes."""
    if isinstance(node, ast.Assign | ast.Delete):
        return [one for t in node.targets for one in getattr(t, "elts", [t])]
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def sets_devices(code: str) -> bool:
    """Whether the statement `code` says how many devices a CPU acts as."""
    return bool(_DEVICES.match(code))


def sets_environment(code: str) -> bool:
    """Whether code sets a variable of the environment."""
    return bool(_SETS_ENVIRONMENT.search(code))


def shows(node: ast.stmt) -> bool:
    """Whether a notebook may display it: a value that is not there for its effect."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    if called(node.value).startswith(("assert", "display", "print", "sleep", *SETS)):
        return False
    return not is_silent(getattr(node.value, "func", None))


def defines(node: ast.stmt) -> bool:
    """Whether it makes functions or a class."""
    return isinstance(node, DEFS) or _makes_function(getattr(node, "value", None))


def _makes_function(value: ast.AST | None) -> bool:
    return isinstance(value, ast.Lambda) or called(value) in MAKES


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
    values = getattr(node.value, "values", None)
    if values and all(_makes_function(value) for value in values):
        return []  # a dict of functions
    found = [getattr(one, "id", "_") for one in _targets(node)]
    return [name for name in found if not name.startswith("_")]
