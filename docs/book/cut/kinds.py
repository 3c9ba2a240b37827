"""What kind of statement one is, for the place that it gets in a program."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import TYPE_CHECKING

from book.cut.statements import Name, Statement
from book.cut.text import Imported

if TYPE_CHECKING:
    from book.cut.lessons import Lessons

PYTHON = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


def is_main(statement: Statement) -> bool:
    """Whether it runs only where the module is the program."""
    node = statement.node
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def is_device_line(statement: Statement) -> bool:
    """Whether it says how many devices to simulate."""
    return statement.code.startswith('jax.config.update("jax_num_cpu_devices"')


def imports_of(statement: Statement) -> Iterable[tuple[Name, Imported]]:
    """Each name that an import binds, and what it imports."""
    for alias in statement.node.names:
        one = Imported(alias.name, None, alias.asname)
        if isinstance(statement.node, ast.ImportFrom):
            one = Imported(statement.node.module, alias.name, alias.asname)
        yield (statement.unit, one.bound), one


def inner_imports(statement: Statement) -> list[ast.Import | ast.ImportFrom]:
    """The imports inside of a statement."""
    if statement.is_import or "import" not in statement.code:
        return []
    found = ast.walk(statement.node)
    return [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]


def is_docstring(statement: Statement) -> bool:
    """Whether it is a string, such as a module begins with."""
    value = getattr(statement.node, "value", None)
    return isinstance(statement.node, ast.Expr) and isinstance(value, ast.Constant)


def is_environment(statement: Statement) -> bool:
    """Whether it sets the environment when the module is read, not when called."""
    later = isinstance(statement.node, ast.FunctionDef | ast.ClassDef)
    return "environ" in statement.code and not (later or statement.is_import)


def sets_environment(own: list[Statement]) -> bool:
    """Whether a cell sets the environment and imports after that."""
    sets = [i for i, s in enumerate(own) if is_environment(s)]
    return bool(sets) and any(s.is_import for s in own[sets[0] :])


def is_inert(statement: Statement) -> bool:
    """Whether it computes nothing: a definition, an import, a plain constant."""
    if isinstance(statement.node, ast.FunctionDef | ast.ClassDef):
        return not statement.node.decorator_list
    calls = [n for n in ast.walk(statement.node) if isinstance(n, ast.Call)]
    return all(getattr(n.func, "id", "") in {"P", "PartitionSpec"} for n in calls)


def name_of(node: ast.stmt) -> str:
    """The name of a function or a class."""
    return getattr(node, "name", "")


def paths(node: ast.AST) -> Iterable[str]:
    """The dotted names in a statement: `jax.scipy.linalg.det` and how it begins."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield ast.unparse(part)


def returns(function: ast.FunctionDef) -> bool:
    """Whether a function returns or yields something."""
    todo: list[ast.AST] = [*function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value:
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return False


def is_silent(statement: Statement, lessons: Lessons) -> bool:
    """Whether it calls a function of the page or a module that returns nothing."""
    call, known = statement.node.value, lessons.all
    if not isinstance(call, ast.Call):
        return False
    name = (statement.unit, getattr(call.func, "id", ""))
    while name in lessons.links:
        name = lessons.links[name]
    functions = [s.node for s in known if (s.unit, name_of(s.node)) == name]
    if isinstance(call.func, ast.Attribute):
        classes = [s.node for s in known if isinstance(s.node, ast.ClassDef)]
        members = [node for one in classes for node in one.body]
        functions = [node for node in members if name_of(node) == call.func.attr]
    last = functions[-1] if functions else None
    return isinstance(last, ast.FunctionDef) and not returns(last)
