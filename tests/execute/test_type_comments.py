"""A comment that is a type holds wherever its line runs, or the build fails."""

import json
import sys

import jax
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from book.execute.type_comments import client, parse

SETUP = """import jax, jax.numpy as jnp, numpy as np
from jax import P, lax
x = jax.device_put(jnp.arange(32.0).reshape(8, 4), P("data"))
f = jnp.sin
v = jnp.arange(4.0)
pair = (x, jnp.float32(1))
"""


class Kernel:
    """A kernel in this process, as far as types are concerned."""

    def __init__(self, shell):
        self.shell = shell

    def begin(self, checks=(False,) * 20):
        """Let the module look at the cells that come."""
        callbacks = self.shell.events.callbacks
        self.events = {name: len(functions) for name, functions in callbacks.items()}
        exec(client.loader(list(enumerate(checks, 1))), {})
        self.module = sys.modules[client.KERNEL_MODULE]

    def run(self, source):
        """Run a cell; return what IPython says of it, and what it printed."""
        with capture_output() as said:
            result = self.shell.run_cell(source, store_history=True)
        return result, said.stdout

    def told(self, to_the_end=True):
        """What is wrong."""
        return json.loads(self.module.found(to_the_end))

    def close(self):
        """Leave the shell as it was."""
        for name, functions in self.shell.events.callbacks.items():
            for function in functions[self.events[name] :]:
                self.shell.events.unregister(name, function)
        self.shell.ast_transformers.clear()


@pytest.fixture(scope="module")
def shell():
    """A shell in which the cell SETUP has run."""
    one = InteractiveShell.instance(colors="nocolor")
    with jax.set_mesh(jax.make_mesh((8,), ("data",))):
        assert one.run_cell(SETUP).success
        yield one, dict(one.user_ns)
    InteractiveShell.clear_instance()


@pytest.fixture
def kernel(shell):
    """The same for each test: what the last one defined is gone."""
    one, names = shell
    one.user_ns.clear()
    one.user_ns.update(names)
    kernel = Kernel(one)
    yield kernel
    kernel.close()


RIGHT = {
    "assignment": "y = x + 1  # float32[8@data,4]: rows stay where they are",
    "assignment without words": "y = x.sum()  # float32[]",
    "two names": "a = b = v  # float32[4]",
    "tuple": "a, (b, c) = x, pair  # float32[8@data,4], float32[8@data,4], float32[]",
    "one name for two": "both = pair  # float32[8@data,4], float32[]",
    "annotated": "y: jax.Array = x  # float32[8@data,4]",
    "attribute": "class A: pass\nA.x = x  # float32[8@data,4]",
    "item": "d = {}\nd[0] = x  # float32[8@data,4]",
    "expression": "x.T  # float32[4,8@data]",
    "numpy": "np.arange(3.0)  # float32[3]",
    "key": "jax.random.key(0)  # key<fry>[]",
    "weak": "w = jnp.asarray(1.0)  # ~float32[]: a Python number's type gives way",
    "multi-line": "y = (\n    x\n    + 1\n)  # float32[8@data,4]: all of it",
    "last of a line": "a = 1; b = x  # float32[8@data,4]",
    "jit": "@jax.jit\ndef g(x):  # float32[8@data,4]\n"
    "    y = x * 2  # float32[8@data,4]\n"
    "    return y.sum()  # float32[]\ng(x)",
    "shard_map": "@jax.jit\n"
    "@jax.shard_map(in_specs=(P('data'), P()), out_specs=P('data'))\n"
    "def center(x, s):  # float32[1,4]{V:data}, float32[]\n"
    "    mean = lax.pmean(x.mean(axis=0), 'data')  # float32[4]: everywhere the same\n"
    "    return x - mean * s  # float32[1,4]{V:data}\n"
    "center(x, jnp.float32(1))",
    "vmap": "def row(x):  # float32[4]\n    '''Doc.'''\n"
    "    return x.sum()  # float32[]\n"
    "jax.vmap(row)(jnp.ones((3, 4)))",
    "two lines of parameters": "def h(a,\n      b):  "
    "# float32[4], float32[8@data,4]\n    return a\nh(v, x)",
    "a method": "class Rows:\n    def m(self, a):  # float32[4]\n"
    "        return a\nRows().m(v)",
    "every way to take parameters": "def h(a, /, b, *, c):  # float32[], float32[], "
    "float32[]\n    return a\nh(pair[1], pair[1], c=pair[1])",
    "loop": "for i in range(3):\n    y = v * i  # float32[4]",
    "reference": "r = jax.new_ref(v)  # Ref{float32[4]}",
    "one parameter of two": "def h(a, b):  # b: float32[8@data,4]: the batch\n"
    "    return b\nh({}, x)",
    "no claim": "y = 1  # float32 is the type\nz = 'a  # float32[3]'  # floats[3]",
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_a_type_that_is_right_is_quiet(kernel, source):
    kernel.begin()
    result, said = kernel.run(source)
    assert result.success, said
    assert len(parse.read_type_comments(source)) >= (source != RIGHT["no claim"])
    assert kernel.told() == []


WRONG = {
    "different": (
        "y = x  # float32[8,4]",
        1,
        "says float32[8,4], and it is float32[8@",
    ),
    "while tracing": (
        "@jax.jit\ndef g(x):\n    return x.sum()  # float32[4]\ng(x)",
        *(3, "says float32[4], and it is float32[]"),
    ),
    "parameter": ("def g(a):  # int32[]\n    return a\ng(v)", 1, "it is float32[4]"),
    "too many": (
        "x  # float32[8@data,4], int32[]",
        1,
        "2 types, and there is 1 value: fl",
    ),
    "too few": ("pair  # float32[8@data,4]", 1, "says 1 type, and there are 2 values"),
    "no array": ("f  # float32[]", 1, "it is no array but"),
    "a number": ("n = 3  # int32[]", 1, "it is no array but int"),
    "nothing": ("print(1)  # float32[]", 1, "it is no array but None"),
    "never ran": ("def g(x):\n    return x  # float32[]", 2, "the line never ran"),
    "not taken": ("if x is None:\n    y = x  # float32[]", 2, "the line never ran"),
    "words without a colon": (
        "x  # float32[8@data,4] by rows",
        1,
        "then comes a colon",
    ),
    "inside words": ("y = x  # rows of float32[4]", 1, "begin with it"),
    "a name": ("y = x  # y: float32[8@data,4]", 1, "only a `def` line"),
    "no such parameter": (
        "def g(a):  # b: float32[4]\n    return a\ng(v)",
        *(1, "without a parameter `b`"),
    ),
    "own line": ("# float32[8@data,4]\nx", 1, "on a line of its own"),
    "own line inside": ("f(\n    # float32[8]\n    x)", 2, "on a line of its own"),
    "inside": ("f(  # float32[8]\n    x)", 1, "inside a statement"),
    "one line": ("def g(x): return x  # float32[]\ng(x)", 1, "a `def` of one line"),
    "no parameters": ("def g():  # float32[]\n    pass\ng()", 1, "without parameters"),
    "no value": ("import os  # float32[]", 1, "where no value is"),
    "a header": ("for i in x:  # float32[4]\n    pass", 1, "where no value is"),
    "short": ("y = x  # f32[8]", 1, "says f32[8], and it is float32[8@data,4]"),
}


@pytest.mark.parametrize(("source", "line", "why"), WRONG.values(), ids=WRONG)
def test_a_type_that_does_not_hold_is_told(kernel, source, line, why):
    kernel.begin()
    assert kernel.run(source)[0].success
    ((cell, where, what),) = kernel.told()
    assert (cell, where) == (1, line)
    assert why in what


def test_what_first_runs_in_a_later_cell_is_judged_there(kernel):
    kernel.begin()
    kernel.run("def g(x):  # float32[4]\n    return x")
    assert kernel.told(to_the_end=False) == []
    assert kernel.told()[0][2].endswith("never ran")
    kernel.run("g(x)")
    ((cell, line, why),) = kernel.told(to_the_end=False)
    assert (cell, line) == (1, 1) and "it is float32[8@data,4]" in why


def test_a_line_that_is_right_once_has_to_be_right_always(kernel):
    kernel.begin()
    kernel.run("def g(x):  # float32[4]\n    return x\ng(v)\ng(x)")
    assert len(kernel.told()) == 1


def test_display_and_tracebacks_are_as_without(kernel):
    plain = "y = v\ny + 1"
    typed = "y = v  # float32[4]\ny + 1  # float32[4]: shown"
    kernel.begin()
    shown = [kernel.run(source)[1].split(": ", 1)[1] for source in (plain, typed)]
    assert shown[0] == shown[1] and "Array([1., 2., 3., 4.]" in shown[0]
    assert "Out[" not in kernel.run("y = x  # float32[8@data,4]")[1]
    assert "Out[" not in kernel.run("v;  # float32[4]")[1]
    lines = []
    for words in ("", "  # float32[4]"):
        function = f"def g(x):{words}\n    z = x{words}\n    return 1 / 0"
        error = kernel.run(f"y = v{words}\n{function}\ng(y)")[0].error_in_exec
        trace, found = error.__traceback__, []
        while trace:
            found.append(trace.tb_lineno)
            trace = trace.tb_next
        lines.append(found[-2:])
    assert lines == [[5, 4], [5, 4]]


def test_no_value_is_kept_alive(kernel):
    kernel.begin()
    kernel.run("import weakref\nclass Box(np.ndarray): pass")
    kernel.run("b = np.zeros(3).view(Box)  # float32[3]\nw = weakref.ref(b)\ndel b")
    assert kernel.run("assert w() is None")[0].success
    assert kernel.told() == []


def test_what_a_check_defines_no_lesson_sees(kernel):
    kernel.begin([False, True, False, True, False])
    kernel.run("x = 1\ndef f(): return x")
    check = "import math\nx, y = 2, 3\ndef twice(): return 2 * f()\nassert twice() == 4"
    assert kernel.run(check)[0].success
    assert kernel.run("assert x == 1 and f() == 1")[0].success
    # What a lesson has defined is the lesson's again, for later checks, too.
    assert kernel.run("assert y == 3 and x == 1 and twice() == 2; del x")[0].success
    assert kernel.run("assert x == 1")[0].success
    assert isinstance(kernel.run("twice")[0].error_in_exec, NameError)


def test_a_wrong_type_fails_its_page_with_line_and_both_types(book):
    mesh = 'jax.set_mesh(jax.make_mesh((8,), ("data",)))\nx ='
    setup = SETUP.replace("x =", mesh, 1)
    book.page("right", f"{setup}\ny = x  # float32[8@data,4]", ":check:\nassert y is x")
    book.page("wrong", setup, "1\ny = x  # float32[8,4]: whole", "assert False")
    book.page("fresh", ":fresh:\n1  # float32[]")
    book.page("leaks", "x = 1", ":check:\ny = x + 1\nassert y == 2", "y")
    built = book.build()
    line = 1 + (book.docs / "wrong.md").read_text().splitlines().index(
        "y = x  # float32[8,4]: whole"
    )
    assert f"wrong.md:{line}: " in built.said
    why = f"line {line} says float32[8,4], and it is float32[8@data,4]"
    assert f"wrong, cell 2: {why}" in built.said
    assert "fresh, cell 1: line" in built.said
    assert "a type in a fresh cell" in built.said
    assert "leaks, cell 3: raised NameError" in built.said
    assert "right, cell" not in built.said
