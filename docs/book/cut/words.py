"""What a piece of code says by its words alone: what it binds, calls and changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (*DEFS, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Methods that change what they are called on, with how many arguments they take at most
# (`numbers.sort()`, but not `jnp.sort(numbers)`); functions that change what they are
# given; calls that change nothing though nobody keeps what they return.
_METHODS = dict.fromkeys(("clear", "reverse", "sort"), 0)
_METHODS |= dict.fromkeys(
    "add append appendleft discard extend extendleft fill popitem popleft put remove "
    "resize rotate seek setflags subtract truncate write writelines".split(),
    1,
)
_METHODS |= dict.fromkeys("insert move_to_end pop setdefault update".split(), 2)
# And those that give a function a rule, such as `f.defvjp(forward, backward)`.
_METHODS |= dict.fromkeys("def_vmap defjvp defvjp register".split(), 3)
_METHODS |= {"defjvps": 99}
_FUNCTIONS = frozenset(
    "copyto delattr heapify heappop heappush insort next put_along_axis putmask "
    "setattr shuffle".split()
)
_RETURNING = frozenset("heappop next pop popitem popleft setdefault".split())
_HARMLESS = frozenset(
    "block_until_ready callback display isinstance len print repr sleep".split()
)
_BIRTH = {"__init__", "__post_init__"}
# How the names of functions begin that set a state which no name holds.
_SETS = ("clear_", "disable_", "enable_", "filterwarnings", "reset_", "seed", "set_")
_SETS += ("chdir", "initialize", "setrecursionlimit", "simplefilter")

# Calls that make functions of functions, and what is used up when it is used.
WRAPS = frozenset(
    "cache checkpoint dataclass grad hessian jacfwd jacrev jit lru_cache partial pmap "
    "remat shard_map smap value_and_grad vmap wraps".split()
)
MOVING = frozenset(
    "default_rng enumerate filter Generator iter map open Random RandomState reversed "
    "zip".split()
)
PATHS = (ast.Name, ast.Attribute, ast.Subscript, ast.Starred)
# Calls whose result has, or is, what they are given.
KEEPS = MOVING | frozenset(
    "copy deque dict list ravel reshape set sorted squeeze swapaxes transpose tuple "
    "view".split()
)


def root(node: ast.AST) -> tuple[str | None, list[str]]:
    """`a.b[0].c` -> ("a", ["b", "[]", "c"]); None where it starts at no name."""
    steps: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        steps.append(getattr(node, "attr", "[]"))
        node = node.value
    return getattr(node, "id", None), steps[::-1]


def called(node: ast.expr) -> str:
    """The last name of what is called: `jax.config.update(…)` -> "update"."""
    node = getattr(node, "func", node)
    return getattr(node, "attr", getattr(node, "id", ""))


def arguments(call: ast.Call) -> list[ast.expr]:
    """All that is handed to a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def changed(node: ast.AST) -> set[str]:
    """The name that a node, its children apart, changes in place.

    None, if it changes nothing, like `x.at[0].add(…)`.
    """
    name, steps = None, []
    if isinstance(node, ast.Attribute | ast.Subscript):
        if not isinstance(node.ctx, ast.Load):
            name, steps = root(node)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        name = node.target.id
    elif isinstance(node, ast.Call):
        (whose, steps), last = root(node.func), called(node)
        if steps and len(node.args) <= _METHODS.get(last, -1):
            name = whose
        elif last in _FUNCTIONS and node.args:
            name, steps = root(node.args[0])
    elif isinstance(node, DEFS):  # @f.def_vmap
        rules = [d for d in node.decorator_list if called(d) in _METHODS]
        return {root(rule)[0] or "" for rule in rules}
    return {name} if name and "at" not in steps else set()


def sets(node: ast.AST) -> set[str]:
    """The name that a call starts from which sets a state that no name holds."""
    if not isinstance(node, ast.Call):
        return set()
    (name, steps), last = root(node.func), called(node)
    draws = [name, *steps][:2] == ["np", "random"] and last != "default_rng"
    return {name} if name and (draws or last.startswith(_SETS)) else set()


def given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each name that a node binds, and the value that it is given, or a part of."""
    match node:
        case ast.Assign():
            names, value = targets(*filter(_bare, node.targets)), node.value
        case ast.AnnAssign(value=ast.expr()) | ast.NamedExpr():
            names, value = targets(node.target), node.value
        case ast.For():
            names, value = targets(node.target), ast.Starred(node.iter)
        case ast.withitem(optional_vars=ast.expr()):
            names, value = targets(node.optional_vars), node.context_expr
        case _:
            return
    yield from ((name, value) for name in names)


def put(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Each value that a node puts into the object of a name."""
    if isinstance(node, ast.Call):
        yield from ((n, value) for n in changed(node) for value in arguments(node))
    elif isinstance(node, DEFS):
        yield from ((name, ast.Name(node.name, ast.Load())) for name in changed(node))
    elif isinstance(node, ast.AugAssign):
        yield root(node.target)[0] or "", node.value
    elif isinstance(node, ast.Assign):
        inside = [t for t in node.targets if not _bare(t)]
        yield from ((root(target)[0] or "", node.value) for target in inside)


def _bare(target: ast.expr) -> bool:
    return not isinstance(target, ast.Attribute | ast.Subscript)


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
    silent = silent or called(call).startswith("assert")
    return not (silent or changed(call) or sets(call))


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that this node, its children apart, binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (*DEFS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (a.asname or a.name.split(".")[0] for a in node.names)
    elif isinstance(node, ast.MatchAs | ast.MatchStar):
        yield from filter(None, [node.name])
    elif isinstance(node, ast.MatchMapping):
        yield from filter(None, [node.rest])


def targets(*nodes: ast.AST | None) -> set[str]:
    """The names that assignment to `nodes` binds."""
    walked = (part for node in nodes if node for part in ast.walk(node))
    return {name for part in walked for name in bound_by(part)}


def split(node: ast.AST) -> tuple[list[ast.AST], list[tuple[ast.AST, set[str]]]]:
    """The nodes that run with a statement, and those in the bodies of its functions.

    The latter each with the parameters that it may mean.
    """
    outside, inside = [], []
    todo: list[tuple[ast.AST, set[str] | None]] = [(node, None)]
    while todo:
        part, given = todo.pop()
        if given is None:
            outside.append(part)
        else:
            inside.append((part, given))
        body: list[ast.AST] = []
        names = given or set()
        if isinstance(part, FUNCTIONS):
            body = part.body if isinstance(part.body, list) else [part.body]
            if getattr(part, "name", "") not in _BIRTH:
                found = (n.arg for n in ast.walk(part.args) if isinstance(n, ast.arg))
                names = names.union(found)
        children = list(ast.iter_child_nodes(part))
        todo += [(c, names if c in body else given) for c in reversed(children)]
    return outside, inside


def returns(function: ast.FunctionDef) -> bool:
    """Whether a function returns or yields something."""
    return any(
        isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value
        for body in function.body
        for node in split(body)[0]
    )
