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

# Those that set such a state, or make a file, and return something all the same.
ALSO_SETS = ("makedirs", "mkdir", "seterr", "write", "write_bytes", "write_text")
_CHANGE_A_DICT = ("clear", "pop", "popitem", "setdefault", "update")
ASSIGNS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)
_PATHS = (ast.If, ast.Try, ast.ExceptHandler)
_LINES = (ast.stmt, ast.ExceptHandler)
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


def sets(node: ast.AST) -> set[str]:
    """The modules whose state it sets: "jax" of `jax.config.update(…)`.

    So do `sys.path.insert(…)`, `math.tau = 1` and `plt.rcParams["a"] = 1`; under a key
    that the page made, only what has that key finds anything.
    "open" is among them where it writes to a file: a copy has only its own files.
    What a `with` sets is over below it, and a loop that measures may set things anew.
    """
    if isinstance(node, ast.With):
        opened = [one.context_expr for one in node.items]
        return {"open"} if any(map(_opens_to_write, opened)) else set()
    if isinstance(node, _PATHS):
        inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, _LINES))
        return set().union(*map(sets, inner))
    call = getattr(node, "value", None)
    if isinstance(node, ast.Expr) and (
        called(call).startswith(SETS) or is_silent(getattr(call, "func", None))
    ):
        return {root(call)}
    if isinstance(node, ast.Expr | ast.Assign) and called(call) in ALSO_SETS:
        return {root(call)}
    return {root(one) for one in _targets(node) if _is_part(one)}


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns to, or deletes."""
    if isinstance(node, ast.Assign | ast.Delete):
        return [one for t in node.targets for one in getattr(t, "elts", [t])]
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _is_part(target: ast.expr) -> bool:
    """Whether it is `a.b`, or `a["b"]`, and no name."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Constant)
    return isinstance(target, ast.Attribute)


def sets_devices(code: str) -> bool:
    """Whether the statement `code` says how many devices a CPU acts as."""
    return bool(_DEVICES.match(code))


def sets_environment(node: ast.AST) -> bool:
    """Whether code sets a variable of the environment, in whatever words."""
    return any(map(_is_variable_set, ast.walk(node)))


def _is_variable_set(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and called(node) in ("putenv", "unsetenv"):
        return True
    changed: ast.AST | None = None
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        changed = node.value
    elif isinstance(node, ast.AugAssign):
        changed = node.target
    elif isinstance(node, ast.Call) and called(node) in _CHANGE_A_DICT:
        changed = getattr(node.func, "value", None)
    return getattr(changed, "attr", getattr(changed, "id", "")) == "environ"


def _opens_to_write(node: ast.AST) -> bool:
    """Whether it is `open(name, "w")`, or the like."""
    given = getattr(node, "args", [])[1:] + getattr(node, "keywords", [])
    values = (getattr(one, "value", None) for one in given)
    modes = "".join(value for value in values if isinstance(value, str))
    return called(node) == "open" and root(node) == "open" and bool({*modes} & {*"wax"})


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
