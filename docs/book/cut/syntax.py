"""What a piece of code says by its words alone: what it binds, calls and changes."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

_MESHES = {"Mesh", "create_device_mesh", "make_mesh"}
_COUNTS = {"device_count", "devices", "local_device_count", "local_devices"}
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (*DEFS, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Methods that change what they are called on, with how many arguments they take at most
# (`numbers.sort()`, but not `jnp.sort(numbers)`); functions that change what they are
# given; calls that change nothing though nobody keeps what they return.
_MUTATORS = dict.fromkeys(("clear", "reverse", "sort"), 0)
_MUTATORS |= dict.fromkeys(
    "add append appendleft discard extend extendleft fill popitem popleft put remove "
    "resize rotate seek setflags subtract truncate write writelines".split(),
    1,
)
_MUTATORS |= dict.fromkeys("insert move_to_end pop setdefault update".split(), 2)
# And those that give a function a rule, such as `f.defvjp(forward, backward)`.
_MUTATORS |= dict.fromkeys("def_vmap defjvp defvjp register".split(), 3)
_MUTATORS |= {"defjvps": math.inf}
_CHANGERS = frozenset(
    "copyto delattr heapify heappop heappush insort next put_along_axis putmask "
    "setattr shuffle".split()
)
_RETURNING = frozenset("heappop next pop popitem popleft setdefault".split())
_HARMLESS = frozenset(
    "block_until_ready callback display isinstance len print repr sleep".split()
)
# How the names of functions begin that change a state which no name holds.
_SETS = ("clear_", "disable_", "enable_", "filterwarnings", "reset_", "seed", "set_")
_SETS += ("chdir", "initialize", "setrecursionlimit", "simplefilter")
_DRAWS = ("np.random.", "numpy.random.")

# What calls make: functions that give arrays, functions, a source to draw from, what
# iterating uses up, the same elements in something new, and what nothing can change.
TRANSFORMS = frozenset(
    "grad hessian jacfwd jacrev jit pmap shard_map smap value_and_grad vmap".split()
)
WRAPS = TRANSFORMS | frozenset(
    "cache checkpoint dataclass lru_cache partial remat wraps".split()
)
SOURCES = frozenset("default_rng Generator Random RandomState".split())
ITERATORS = frozenset("enumerate filter iter map open reversed zip".split())
COPIES = frozenset("array copy deque dict list set sorted sum tuple".split())
FRESH = frozenset(
    "abs all any bool bytes float format frozenset hash id int isinstance len range "
    "repr round str type".split()
)


def root(node: ast.AST) -> tuple[str | None, list[str]]:
    """`a.b[0].c` -> ("a", ["b", "[]", "c"]); None where it starts at no name."""
    steps: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript):
            steps.append("[]")
            node = node.value
        elif isinstance(node, ast.Name):
            return node.id, steps[::-1]
        else:
            return None, steps[::-1]


def called(node: ast.expr) -> str:
    """The last name of what is called: `jax.config.update(…)` -> "update"."""
    node = getattr(node, "func", node)
    return getattr(node, "attr", getattr(node, "id", ""))


def arguments(call: ast.Call) -> list[ast.expr]:
    """All that is handed to a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def changed_by(call: ast.Call) -> tuple[str | None, bool] | None:
    """The name that a call changes: `x.append(…)`, `next(x)`, `np.random.seed(…)`.

    And whether it changes something inside, as in `x[0].append(…)`; None where it
    changes nothing, like `x.at[0].add(…)`.
    """
    (name, steps), last = root(call.func), called(call)
    if steps and len(call.args) <= _MUTATORS.get(last, -1):
        return None if "at" in steps else (name, len(steps) > 1)
    if last in _CHANGERS and call.args:
        name, steps = root(call.args[0])
        return name, bool(steps)
    draws = ".".join([name or "", *steps]).startswith(_DRAWS) and last not in SOURCES
    return (name, False) if draws or last.startswith(_SETS) else None


def registers(function: ast.AST) -> Iterator[ast.Call]:
    """The calls that decorators are which keep the function: `@f.def_vmap`."""
    for decorator in getattr(function, "decorator_list", []):
        if isinstance(decorator, ast.Attribute):
            call = ast.Call(decorator, [ast.Name(function.name, ast.Load())], [])
            if changed_by(call):
                yield call


def harmless(call: ast.Call) -> bool:
    """Whether it is known to change nothing, though nobody keeps its value."""
    return called(call) in _HARMLESS or called(call).startswith("assert")


def shows(statement: ast.stmt) -> bool:
    """Whether a notebook may display it: a value that is not there for its effect."""
    if not isinstance(statement, ast.Expr) or isinstance(statement.value, ast.Constant):
        return False
    call = statement.value
    if not isinstance(call, ast.Call) or called(call) in _RETURNING:
        return True
    silent = called(call) in {"display", "print", "sleep"}
    return not (silent or called(call).startswith("assert") or changed_by(call))


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that this node, its children apart, binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (*DEFS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (a.asname or a.name.split(".")[0] for a in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        yield from filter(None, [node.name])
    elif isinstance(node, ast.MatchMapping):
        yield from filter(None, [node.rest])


def targets(*nodes: ast.AST | None) -> set[str]:
    """The names that assignment to `nodes` binds."""
    walked = (part for node in nodes if node for part in ast.walk(node))
    return {name for part in walked for name in bound_by(part)}


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function body that are not inside another scope."""
    todo = [function.body] if isinstance(function, ast.Lambda) else [*function.body]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, COMPREHENSIONS):  # its walruses bind outside of it
            todo.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))


def spreads(node: ast.AST) -> bool:
    """Whether code asks for more devices than one."""
    match node:
        case ast.Subscript(value=ast.Call(), slice=ast.Constant(value=0)):
            return False  # jax.devices()[0]
        case ast.Attribute(attr="pmap") | ast.Name(id="pmap"):
            return True
        case ast.Attribute(value=ast.Name(id="jax"), attr=attr) if attr in _COUNTS:
            return True
        case ast.Call() if called(node) in _MESHES:
            first = node.args[0] if node.args else None
            return not (isinstance(first, ast.Tuple) and ast.unparse(first) == "(1,)")
        case ast.arg():
            return False
        case ast.AnnAssign(value=ast.expr()):
            return spreads(node.value)
        case ast.FunctionDef():
            return any(map(spreads, [*node.body, *node.decorator_list, node.args]))
    return any(map(spreads, ast.iter_child_nodes(node)))
