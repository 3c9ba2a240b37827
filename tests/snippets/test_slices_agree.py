"""Whatever a page does, a cell shows the same alone as on the page.

A page counts only if it keeps the rule of the book, *a cell changes only what it made*,
as it runs; and it has one name for what it changes.
"""

import ast
import contextlib
import io
from collections import Counter
from pathlib import Path
from types import FunctionType, GeneratorType, MethodType

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from book.snippets.slicer import SliceError, Slicer
from book.source.model import Cell


class BrokenRule(Exception):
    """A cell changed in place what another cell made."""


# One cell binds every name, so that each statement below can stand anywhere.
START = """
a = 1
b = 2
p = [3]
q = [4, 5]
box = {"k": [6]}
it = iter([7, 8, 9])
def f(x):
    return x + a
def g(x):
    p.append(x)
    return len(p)
def put(into, x):
    into.append(x)
def twice(h):
    return lambda x: h(h(x))
class Counter:
    def __init__(self):
        self.n = 0
    def up(self, by):
        self.n += by
        return self.n
count = Counter()
"""
LINES = """
NUMBER = VALUE
NUMBER = NUMBER + VALUE
a, b = VALUE, VALUE
NUMBER = (other := VALUE) + other
LIST = [VALUE, VALUE]
LIST = LIST + [VALUE]
LIST = list(LIST)
LIST = LIST[:2]
LIST = [x + VALUE for x in list(LIST)]
LIST = [NUMBER := x for x in list(LIST)]
LIST.append(VALUE)
box = {"k": list(LIST), "n": VALUE}
FUNCTION(VALUE)
NUMBER = FUNCTION(VALUE)
put(LIST, VALUE)
FUNCTION = FUNCTION
FUNCTION = lambda x: x + NUMBER
FUNCTION = lambda x: LIST.append(x) or len(LIST)
FUNCTION = twice(FUNCTION)
count = Counter()
count.up(VALUE)
NUMBER = count.n
NUMBER = count.up(VALUE)
LIST = [count.up(x) for x in list(LIST)]
"""
# What a cell makes, it may change.
MADE = """
NUMBER = 4
NUMBER += VALUE

LIST = [1, 2]
LIST[0] = VALUE

LIST = [1, 2]
LIST[-1] += VALUE

LIST = [VALUE]
LIST.append(VALUE)

LIST = [VALUE]
LIST += [VALUE]

LIST = [3, VALUE]
NUMBER = LIST.pop()

LIST = [VALUE, 7]
del LIST[0]

box = {"k": []}
box["k"].append(VALUE)

it = iter([VALUE, VALUE])
NUMBER = next(it, 0)
"""
BLOCKS = """
for x in list(LIST):
    NUMBER = NUMBER + x

NUMBER = 1
for x in list(LIST):
    NUMBER += x

p, q = [1], [2]
for x in [p, q]:
    x.append(VALUE)

if VALUE > 3:
    NUMBER = VALUE

if VALUE > 5:
    LIST = [VALUE]
else:
    NUMBER = VALUE

try:
    NUMBER = LIST[3]
except IndexError:
    NUMBER = VALUE

def FUNCTION(x):
    return x - NUMBER

def FUNCTION(x):
    LIST.append(NUMBER)
    return x

def FUNCTION(x):
    global NUMBER
    NUMBER += x
    return len(LIST)

@twice
def FUNCTION(x):
    return x + NUMBER

def make():
    n = NUMBER
    def inner(x):
        nonlocal n
        n += x
        return n
    return inner
FUNCTION = make()
"""
TEMPLATES = [
    *LINES.strip().splitlines(),
    *MADE.strip().split("\n\n"),
    *BLOCKS.strip().split("\n\n"),
]
KINDS = {
    "NUMBER": ["a", "b"],
    "LIST": ["p", "q"],
    "FUNCTION": ["f", "g"],
    "VALUE": ["1", "2", "a", "b + 1", "len(p)", "q[0]", "f(a)", "g(b)", "count.n"],
}
SHOWN = ["[a, b]", "[p, q]", "[a, p]", "box", "q", "f(1)", "[g(2), a]", "[count.n, b]"]


@st.composite
def filled(draw):
    """A template with a name or a value for every word in capitals."""
    text = draw(st.sampled_from(TEMPLATES))
    for kind, choices in KINDS.items():
        while kind in text:
            text = text.replace(kind, draw(st.sampled_from(choices)), 1)
    return text


CELL = st.tuples(st.lists(filled(), max_size=4), st.sampled_from(SHOWN))
PAGE = st.lists(
    CELL.map(lambda cell: "\n".join([*cell[0], cell[1]])), min_size=2, max_size=5
)


def state_of(value, seen):
    """What an object holds now: as tuples, however deep; `seen` are those above it."""
    if id(value) in seen or isinstance(value, type):
        return id(value)
    seen = seen | {id(value)}
    parts = []
    if isinstance(value, dict):
        parts = [part for pair in value.items() for part in pair]
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif isinstance(value, FunctionType):
        parts = [cell.cell_contents for cell in value.__closure__ or ()]
    elif isinstance(value, MethodType):
        parts = [value.__self__]
    elif isinstance(value, GeneratorType):
        parts = [value.gi_frame and value.gi_frame.f_lasti]
    elif hasattr(value, "__length_hint__"):  # an iterator
        parts = [value.__length_hint__()]
    elif hasattr(value, "__dict__"):
        parts = [vars(value)]
    else:
        return type(value), value
    return type(value), tuple(state_of(part, seen) for part in parts)


def bound_by(body):
    """The names that a cell binds where one can see it."""
    inside = {
        id(node)
        for top in body
        if isinstance(top, ast.FunctionDef)
        for node in ast.walk(top)
    }
    nodes = [node for top in body for node in ast.walk(top) if id(node) not in inside]
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    stored = (n for n in nodes if isinstance(n, ast.Name | ast.NamedExpr))
    for node in stored:
        target = getattr(node, "target", node)
        names |= set() if isinstance(target.ctx, ast.Load) else {target.id}
    return names


def shown_on_the_page(cells):
    """What each cell shows when all run in one namespace.

    Raises `BrokenRule` where one changes what another made.
    """
    space = {"__name__": "__main__"}
    for cell in cells:
        *body, last = ast.parse(cell).body
        objects = {n: v for n, v in space.items() if not n.startswith("__")}
        before = {name: state_of(value, set()) for name, value in objects.items()}
        exec(compile(ast.Module(body, []), "cell", "exec"), space)
        yield str(eval(compile(ast.Expression(last.value), "cell", "eval"), space))
        bound = bound_by([*body, last])
        for name, value in objects.items():
            if state_of(value, set()) != before[name]:
                raise BrokenRule(name)
            if name not in bound and space[name] is not value:
                raise BrokenRule(name)


def shown_alone(program):
    """What a program prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(program, "program", "exec"), {"__name__": "__main__"})
    return said.getvalue().rstrip("\n")


COUNTS = Counter()


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(PAGE)
def agrees(page):
    """Hold the programs of one page to what the page shows."""
    cells = [f"{START}a", *page]
    slicer = Slicer((Path("nowhere"),))
    numbered = [Cell(number, number, source) for number, source in enumerate(cells, 1)]
    try:
        expected = list(shown_on_the_page(cells))
        lessons = slicer.page(numbered)
    except (IndexError, KeyError, NameError, RecursionError, TypeError):
        return
    except (BrokenRule, SliceError):
        COUNTS["rejected"] += 1
        return
    COUNTS["kept"] += 1
    for cell, value in zip(numbered, expected, strict=True):
        program = lessons.program(cell)
        assert shown_alone(program) == value, program


def test_a_cell_shows_the_same_alone_as_on_the_page():
    agrees()
    assert COUNTS["kept"] >= COUNTS.total() / 5
