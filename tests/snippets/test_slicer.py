"""A cell's program runs alone, holds all that the cell needs, and nothing else.

A page is written as its cells with `---` between them; the program is the last cell's,
whose assertions say what it needs.  What it does not need has `no_` in it.
"""

import textwrap

import pytest

from book.snippets.program import ABOVE_DEVICES
from book.snippets.slicer import SliceError, Slicer, programs
from book.source.model import Cell, Page
from tests.page_output import caught
from tests.snippets.slices import cells_of

UNDEFINED = "uses `y`, which no lesson of the page defines: define it in one"


@pytest.fixture
def cut(tmp_path):
    """Cut the last cell of a page, or the `listing` of a file of `examples`."""

    def cut(page, raises=None, examples=None, listing=None):
        for name, text in (examples or {}).items():
            path = tmp_path / "examples" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        slicer = Slicer((tmp_path,))
        if listing:
            return slicer.listing(tmp_path / "examples" / listing[0], listing[1])
        cells = cells_of(textwrap.dedent(page).strip("\n"), raises)
        return slicer.page(cells).program(cells[-1])

    return cut


@pytest.fixture
def alone(cut, launcher):
    """Cut, and run the program alone: its text and its output."""

    def alone(page, **kinds):
        program = cut(page, **kinds)
        code, said = launcher.run(program, limit=60)
        assert code == 0, f"{program}\n{said}"
        assert "no_" not in program
        return program, said

    return alone


# ---- imports ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("import os, sys\n---\nassert sys.path", ["import sys"]),
        ("import os.path as p\n---\nassert p.sep", ["import os.path as p"]),
        (
            "import xml.dom\n---\nimport xml.sax\n---\nassert xml.dom and xml.sax",
            ["import xml.dom", "import xml.sax"],
        ),
        (
            "import xml.dom\n---\nimport os\n---\nassert xml.dom.Node",
            ["import xml.dom"],
        ),
        ("import jax\nimport jax.numpy\n---\nassert jax.vmap", 2),
        (
            "from math import (\n    pi as p,\n    e,\n)\n---\nassert p > 3",
            ["from math import pi as p"],
        ),
        ("import math\n---\nimport math\n---\nassert math.pi", ["import math"]),
        (
            "import math as m\n---\nm.pi\n---\nfrom cmath import pi\nassert m.pi == pi",
            ["import math as m", "from cmath import pi"],
        ),
        ("import math\nx = math.pi\n---\nassert x > 3", ["import math"]),
        (
            "from jax import numpy as jnp\nx = jnp.pi\n---\nimport jax.numpy as jnp\n"
            "assert x == jnp.pi",
            2,
        ),
        (
            "try:\n    import no_such\nexcept ImportError:\n    import math as m\n---\n"
            "assert m.pi",
            2,
        ),
    ],
)
def test_imports_are_trimmed(cut, launcher, page, lines):
    program = cut(page)
    assert launcher.run(program)[0] == 0, program
    found = [line for line in program.splitlines() if "import " in line]
    assert (len(found) if isinstance(lines, int) else found) == lines


def test_imports_stand_first_in_groups_and_in_order(cut):
    program = cut(
        """
        import numpy as np, sys
        from jax.sharding import SingleDeviceSharding, NamedSharding, AxisType, Mesh
        import jax
        x = [np, sys]
        ---
        # The halves of one import.
        from jax import vmap
        from jax import P
        from os import sep
        x = [jax, *x, vmap, P, sep]
        from collections import Counter

        from jax.sharding import AbstractMesh
        y = [Counter, SingleDeviceSharding, NamedSharding, AxisType, Mesh, AbstractMesh]
        """
    )
    expected = """
        import sys
        from collections import Counter
        from os import sep

        import jax
        import numpy as np
        from jax import P, vmap
        from jax.sharding import (
            AbstractMesh,
            AxisType,
            Mesh,
            NamedSharding,
            SingleDeviceSharding,
        )

        x = [np, sys]

        x = [jax, *x, vmap, P, sep]

        y = [Counter, SingleDeviceSharding, NamedSharding, AxisType, Mesh, AbstractMesh]
        print(y)
    """
    assert program == textwrap.dedent(expected).lstrip("\n")


BETWEEN = """
import jax
# These eight stay.
LINE
from time import perf_counter
import math
"""


@pytest.mark.parametrize("below", ["", "x = math.pi", "x = perf_counter() + math.pi"])
def test_a_line_for_devices_between_imports_is_in_the_copy(cut, launcher, below):
    line = 'jax.config.update("jax_num_cpu_devices", 8)'
    program = cut(BETWEEN.replace("LINE", line) + below)
    code, said = launcher.run(f"{program}\nassert jax.device_count() == 8", limit=60)
    assert code == 0, f"{program}\n{said}"
    assert program.count(line) == 1


def test_what_stands_between_imports_stays_in_order(alone):
    first = "import math\ntext = '''\n# one\n#'''\nimport os\n# two\nx = [os.sep]\n"
    program, said = alone(f"{first}import sys\nx.append(sys.path[:0])\nprint(text, x)")
    assert said == "\n# one\n# ['/', []]\n"
    assert program.index("# two") < program.index("x = [") < program.index("x.append")


def test_a_text_with_a_number_sign_in_a_class_stays_as_it_is(alone):
    text = "    text = '''\n    # one\n    #'''\n"
    page = f"class Box:\n{text}    def show(self):\n        return 1\nprint(Box.text)"
    assert alone(page)[1] == "\n    # one\n    #\n"


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("import sys\nsys.path.insert(0, 'here')", "sys.path.insert(0, 'here')"),
        ("import jax\njax.config.update('jax_enable_x64', True)", "jax.config.upda"),
    ],
)
def test_an_import_below_a_setting_is_refused(tmp_path, above, said):
    """A copy has its imports first, so the setting would come too late for it."""
    cells = cell(1, f"{above}\nimport math\nmath.pi"), cell(2, "math.e")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert (found, problem.line, problem.cell) == ({}, 10, 1)
    assert problem.reason.startswith(f"imports below `{said}")
    assert problem.reason.endswith("which a copy has below its imports: move those up")


def test_a_setting_above_the_imports_of_a_module_is_refused(cut):
    module = "import sys\nsys.path.insert(0, 'x')\nimport math\n\nTAU = 2 * math.pi\n"
    with pytest.raises(
        SliceError, match=r"^examples/own\.py: imports below `sys\.path"
    ):
        cut("from examples.own import TAU\nTAU", examples={"own.py": module})


@pytest.mark.parametrize(
    "source",
    [
        "from os import environ\nenviron['X'] = '1'",
        "import os\nif os.sep:\n    os.environ['X'] = '1'",
        "import os\nx = os.environ.setdefault('X', '1')",
        "import os\nos.environ |= {'X': '1'}",
        "import os\ndel os.environ['X']",
        "import os\nos.putenv('X', '1')",
    ],
)
def test_a_lesson_sets_no_variable_in_any_words(tmp_path, source):
    cells = cell(1, f"{source}\nimport jax"), cell(2, "jax")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert (found, problem.cell) == ({}, 1)
    assert problem.reason.startswith("sets the environment, which JAX reads while")


def test_a_lesson_may_read_the_environment(alone):
    alone("import os\n---\nos.environ.get('NO_SUCH')")


# ---- devices ---------------------------------------------------------------------

LINE = 'jax.config.update("jax_num_cpu_devices", 8)'
MESH = f"""import jax
import jax.numpy as jnp

{LINE}  # a CPU acts as eight devices
mesh = jax.make_mesh((8,), ("rows",))
jax.set_mesh(mesh)
no_x = 1
---
"""


@pytest.mark.parametrize(
    "cell",
    ["assert mesh.size == 8", "assert jax.devices()[7]", "assert jnp.ones(8).sum()"],
)
def test_a_program_has_the_devices_of_its_page_before_all_else(alone, cell):
    program, _ = alone(MESH + cell)
    above, _, below = program.partition(f"{ABOVE_DEVICES}\n{LINE}\n")
    assert below
    assert all(line.startswith(("import ", "from ", "")) for line in above.splitlines())
    assert program.count("jax.config.update") == 1
    assert "jax.set_mesh(mesh)" in below


def test_the_lesson_that_sets_the_devices_has_the_comment_above_the_line(alone):
    first = MESH.partition("\nno_x")[0]
    program, _ = alone(f"{first}\nmesh.size")
    first = first.replace("import jax.numpy as jnp\n", "")
    first = first.replace(LINE, f"{ABOVE_DEVICES}\n{LINE}").partition("  # a CPU")
    first = f"{first[0]}{first[2].removeprefix(' acts as eight devices')}"
    assert program == f"{first}\nprint(mesh.size)\n"


def test_devices_are_set_before_the_code_that_a_lesson_takes_from_elsewhere(alone):
    examples = {"has.py": "import jax\n\nHAS = len(jax.devices())\n"}
    cell = "from examples.has import HAS\nassert HAS == 8 == len(jax.devices())"
    program, _ = alone(MESH + cell, examples=examples)
    assert program.index(LINE) < program.index("HAS = ")


@pytest.mark.parametrize(
    "cell",
    [
        "def double(x):\n    return 2 * x",
        "class Twice:\n    factor = 2",
        "from math import prod\n\ndef double(x):\n    return prod((2, x))",
        "@jax.jit\ndef double(x):\n    return jnp.add(x, x)",
    ],
)
def test_what_only_defines_sets_no_devices_and_no_mesh(alone, cell):
    """It is copied into a module, and importing that module changes nothing."""
    program, _ = alone(MESH + cell)
    assert "jax.config" not in program and "mesh" not in program


def test_a_definition_keeps_the_devices_that_it_needs_at_once(alone):
    program, _ = alone(MESH + "def size():\n    return mesh.size")
    assert LINE in program and "make_mesh" in program


# ---- checks, fresh cells, and what hides names -----------------------------------


def problems_of(*cells, tmp_path, **kinds):
    """The programs of a page of `Cell`s, and what is wrong with it."""
    page = Page("page", tmp_path / "page.md", "", "target", 1.0, cells=cells, **kinds)
    found = []
    return programs(page, Slicer((tmp_path,)), found.append), found


def cell(number, source, **kinds):
    """A cell."""
    return Cell(number, 10 * number, source, **kinds)


def test_a_check_is_in_no_program(tmp_path):
    found, wrong = problems_of(
        cell(1, "x = 1"),
        cell(2, "y = 2\nassert x < y", check=True),
        cell(3, "x + 1"),
        tmp_path=tmp_path,
    )
    assert (found["cell3"], wrong) == ("x = 1\n\nprint(x + 1)\n", [])
    assert sorted(found) == ["cell1", "cell3"]


@pytest.mark.parametrize(
    "hidden", [{"check": True}, {"tags": frozenset({"remove-input"})}]
)
def test_what_only_a_check_defines_is_no_name_of_a_lesson(tmp_path, hidden):
    cells = cell(1, "x = 1"), cell(2, "y = 2", **hidden), cell(3, "y")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert "cell3" not in found
    assert (problem.line, problem.cell) == (30, 3)
    assert problem.reason == UNDEFINED


def test_a_removed_cell_may_not_bind_anew_what_a_lesson_uses(tmp_path):
    removed = frozenset({"remove-input"})
    cells = cell(1, "y = 1"), cell(2, "y = 2", tags=removed), cell(3, "y")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert "cell3" not in found
    assert problem.reason == "uses a name that removed cell 2 binds; rename it there"


def test_a_check_never_hides_a_name_of_a_lesson(tmp_path):
    check = "y = [2]\ny.append(3)\nfor x in y:\n    assert x"
    cells = cell(1, "x = y = 1"), cell(2, check, check=True), cell(3, "x + y")
    found, wrong = problems_of(*cells, tmp_path=tmp_path)
    assert (found["cell3"], wrong) == ("x = y = 1\n\nprint(x + y)\n", [])


def test_a_check_may_not_change_what_a_lesson_made(tmp_path):
    cells = cell(1, "x = [1]"), cell(2, "x.append(2)", check=True), cell(3, "x")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert (found, problem.cell) == ({}, 2)


def test_a_fresh_cell_is_a_program_already_and_nobody_else_sees_it(tmp_path):
    cells = cell(1, "x = 1"), cell(2, "y = 2\nprint(y)", fresh=True), cell(3, "x, y")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert set(found) == {"cell1"}
    assert problem.reason == UNDEFINED


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("exec('x = 1')", "`exec()` hides which names it uses"),
        ("vars()['x'] = 1", "`vars()` hides which names it uses"),
        ("globals()['x'] = 1", "`globals()` hides which names it uses"),
        ("await f()", "is not Python: 'await' outside function"),
        ("x = 1\nx = (", "is not Python: '(' was never closed"),
        ("from math import *", "`from math import *` hides where names come from"),
        (f"x = {'1 + ' * 4000}1", "is nested too deeply; write a loop"),
    ],
)
def test_what_cannot_be_followed_is_one_problem_of_its_cell(tmp_path, source, says):
    cells = cell(1, "a = 1"), cell(2, source), cell(3, "a"), cell(4, "a")
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert (found, problem.line, problem.cell) == ({}, 20, 2)
    assert says in problem.reason


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"x = (\n", "examples/bad.py, line 1, is not Python: '(' was never closed"),
        (b"x = '\xff'\n", "examples/bad.py is not UTF-8"),
    ],
)
def test_a_file_that_is_not_python_is_named_once(tmp_path, text, says):
    path = tmp_path / "examples" / "bad.py"
    path.parent.mkdir()
    path.write_bytes(text)
    cells = [cell(1, "from examples.bad import x"), cell(2, "x"), cell(3, "1 + 1")]
    found, [problem] = problems_of(*cells, tmp_path=tmp_path)
    assert (found, problem.cell, problem.reason) == ({}, None, says)


# ---- what a cell shows -----------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "last", "said"),
    [
        ("x = [1]\n---\nx", "print(x)", "[1]"),
        ("x = [1]\n---\nx[0], 'a'", "print(x[0], 'a')", "1 a"),
        ("x = 1\n---\nx  # one", "print(x)  # one", "1"),
        ("x = 1\n---\nx\n# the x above", "print(x)\n# the x above", "1"),
        ("x = 1\n---\n(y := x + 1)", "print((y := x + 1))", "2"),
        (
            "x = 1\n---\n{\n    'a': x,\n}",
            "print(\n    {\n        'a': x,\n    }\n)",
            "{'a': 1}",
        ),
        ("x = 1\n---\nf'''{x}\n2'''", "print(\n    f'{x}\\n2'\n)", "1\n2"),
        ("x = 1\n---\nx = 2  # two", "x = 2  # two\nprint(x)", "2"),
        ("x = 1\n---\nx, (y) = 2, x", "x, (y) = 2, x\nprint(x, y)", "2 1"),
        ("x = 1\nx += 2", "x += 2\nprint(x)", "3"),
        ("x = 1\n---\nprint(x)\nx = 2", "print(x)\nx = 2", "1"),
        ("x = [1]\nx[0] = 2", "x[0] = 2", ""),
        ("import jax\n---\nf = jax.jit(len)", "f = jax.jit(len)", ""),
        ("f = lambda: 3", "f = lambda: 3", ""),
        (
            "from contextlib import nullcontext\n---\nwith nullcontext():\n    x = 3",
            "with nullcontext():\n    x = 3\nprint(x)",
            "3",
        ),
        ("x = 1\n---\nprint(x)", "print(x)", "1"),
        ("x = [1]\nx.append(2)", "x.append(2)", ""),
        ("x = [1]\nx.pop()", "print(x.pop())", "1"),
        ("x = {}\nx.update(a=1)", "x.update(a=1)", ""),
        ("'A cell of words.'\n---\n'Words.'", "'Words.'", ""),
        ("def f():\n    return 3\n---\nf()", "print(f())", "3"),
        ("def f():\n    pass\n---\nf()", "f()", ""),
        ("import jax\n---\njax.vmap(len)", "print(jax.vmap(len))", None),
        ("import numpy as np\n---\nnp.testing.assert_equal(1, 1)", None, ""),
    ],
)
def test_what_a_notebook_displays_or_computes_last_is_printed(alone, page, last, said):
    program, found = alone(page)
    assert program.rstrip("\n").endswith(last or page.rpartition("\n")[2])
    assert said is None or found.rstrip("\n") == said


def test_a_figure_is_shown_by_its_words(alone):
    page = """
        from examples.figures import draw
        x = [1, 2]
        ---
        draw(
            x,
            alt="Two numbers.",
        )
    """
    figures = """
        class Figure:
            def __init__(self, alt):
                self.alt = alt

            def __repr__(self):
                return self.alt


        def draw(x, alt):
            return Figure(alt)
    """
    program, said = alone(page, examples={"figures.py": figures})
    assert said == "Two numbers.\n"
    assert program.endswith(
        'print(\n    draw(\n        x,\n        alt="Two numbers.",\n    )\n)\n'
    )


# ---- errors that a cell declares -------------------------------------------------


@pytest.mark.parametrize(
    ("page", "raises", "said"),
    [
        ("x = 'a'\n---\nint(x)", "ValueError: invalid literal", "ValueError: invalid"),
        (
            "x = 0\n---\ny = 2\ny / x",
            "ZeroDivisionError",
            "ZeroDivisionError: division",
        ),
        ("x = 0\n---\nassert x", "AssertionError", "AssertionError:"),
        ("x = {}\n---\nfor k in 'ab':\n    x[k]", "KeyError: 'a'", "KeyError: 'a'"),
        (
            "text = '''\nab\n'''\n---\nraise ValueError('''a\n'b\"''')  # here",
            "ValueError: 'b\"",
            "ValueError: a",
        ),
        (
            "import jax\n---\nn = 3\njax.jit(\n    lambda x: x if x else n\n)(1.0)",
            "TracerBoolConversionError: conversion of traced array",
            "TracerBoolConversionError: Attempted boolean",
        ),
        (
            "import re\n---\n@re.compile(1, 2, 3)\ndef f(x):\n    pass",
            "TypeError: positional",
            "TypeError: compile() takes",
        ),
    ],
)
def test_a_declared_error_is_what_the_program_ends_in(
    cut, launcher, page, raises, said
):
    program = cut(page, raises=raises)
    ended = launcher.finish(program, limit=60)
    assert ended.code == 1 and "try:" not in program
    assert any(said.partition(":")[0] in line for line in ended.err.splitlines())
    code, told = launcher.run(caught(program, raises), limit=60)
    assert code == 0 and told.startswith(said)


def test_an_import_may_be_what_raises(cut, launcher):
    page = "import jax\n---\nimport jax.nothing"
    said = "ModuleNotFoundError: No module named 'jax.nothing'"
    ended = launcher.finish(cut(page, raises=said), limit=60)
    assert ended.code == 1 and ended.err.rstrip().endswith(said)


@pytest.mark.parametrize(
    "stored",
    [
        "calls = {}\ncalls['rows'] = lambda: [2 * row for row in rows]",
        "calls = {}\ncalls |= {'rows': lambda: [2 * row for row in rows]}",
        "calls = {}\ncalls.update(rows=lambda: [2 * row for row in rows])",
    ],
)
def test_a_function_kept_inside_of_something_keeps_what_it_reads(alone, stored):
    alone(f"rows = [1]\nno_rows = 3\n---\n{stored}\n---\nassert calls['rows']() == [2]")


@pytest.mark.parametrize(
    "raises",
    ["TypeError", "ValueError: another message", "TracerBoolConversionError"],
)
def test_another_error_is_told(cut, launcher, raises):
    program = caught(cut("x = 'a'\n---\nint(x)", raises), raises)
    assert launcher.run(program)[0] == 1


def test_no_error_is_an_error(cut, launcher):
    program = caught(cut("x = '1'\n---\nint(x)", "ValueError"), "ValueError")
    code, said = launcher.run(program)
    assert code == 1
    assert said.endswith("AssertionError: this was meant to raise ValueError\n")


# ---- examples --------------------------------------------------------------------

EXAMPLES = {
    "base.py": """
        \"\"\"The bottom.\"\"\"

        import math
        from collections import Counter

        # How far to go,
        # and where to stop.
        STEP = 2  # at a time
        no_limit = Counter()


        Number = int | float


        def scale(x: Number, by=STEP):
            \"\"\"Return `x` times `by`.\"\"\"
            return math.prod((x, by))


        # Not needed: no_use.
        def no_use():
            return Counter()


        if __name__ == "__main__":
            print(no_use())
    """,
    "deep/middle.py": """
        import functools

        from examples.base import STEP
        from examples.base import scale

        seen = []
        two = scale(1)


        @functools.lru_cache
        def twice(x):
            \"\"\"Return `x` scaled, and remember it.\"\"\"
            seen.append(x)
            return scale(scale(x)) * two


        class Box:
            \"\"\"Holds one.\"\"\"

            def open(self):
                return twice(1)


        def main():
            print("no_main")


        if __name__ == "__main__":
            main()
    """,
}


RULES = """
    import jax
    import jax.numpy as jnp

    @jax.custom_vjp
    def smooth(x):
        return jnp.sin(x)

    def forward(x):
        return smooth(x), x

    def backward(x, g):
        return (g * 7.0,)

    smooth.defvjp(forward, backward)

    @jax.custom_jvp
    def steep(x):
        return x

    steep.defjvps(lambda g, ans, x: 5.0 * g)

    @jax.custom_batching.custom_vmap
    def sine(x):
        return jnp.sin(x)

    @sine.def_vmap
    def all_at_once(axis_size, in_batched, x):
        return nine(x), True

    def nine(x):
        return 9.0 * jnp.ones_like(x)

    def no_rule(x):
        return x
    """


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("smooth", "jax.grad(smooth)(0.0) == 7"),
        ("steep", "jax.grad(steep)(0.0) == 5"),
        ("sine", "jax.vmap(sine)(jax.numpy.ones(1)) == 9"),
    ],
)
def test_a_function_keeps_the_rules_it_was_given(alone, name, truth):
    page = f"import jax\n---\nfrom examples.rules import {name}\nassert {truth}"
    alone(page, examples={"rules.py": RULES})


def test_examples_are_written_out_through_all_their_imports(alone):
    page = """
        from examples.deep.middle import twice, main
        x = 5
        ---
        from examples.base import STEP
        assert twice(x) == 40 and STEP == 2
    """
    program, _ = alone(page, examples=EXAMPLES)
    assert program == textwrap.dedent(
        """\
        import functools
        import math

        # How far to go,
        # and where to stop.
        STEP = 2  # at a time
        Number = int | float


        def scale(x: Number, by=STEP):
            \"\"\"Return `x` times `by`.\"\"\"
            return math.prod((x, by))


        seen = []
        two = scale(1)


        @functools.lru_cache
        def twice(x):
            \"\"\"Return `x` scaled, and remember it.\"\"\"
            seen.append(x)
            return scale(scale(x)) * two


        x = 5

        assert twice(x) == 40 and STEP == 2
        """
    )


def test_a_cell_of_imports_alone_keeps_them(alone):
    page = "import os\nfrom examples.base import scale\nimport math"
    program, _ = alone(page, examples=EXAMPLES)
    assert program.startswith("import math\nimport os\n\n")
    assert program.endswith("    return math.prod((x, by))\n")


def test_a_listing_is_its_object_with_what_it_needs(alone):
    program, _ = alone("", examples=EXAMPLES, listing=("deep/middle.py", "Box.open"))
    assert "class Box:" in program
    assert "def scale(" in program


def test_a_listing_of_a_file_is_that_file(alone, cut):
    text = '"""All of it."""\n\nimport os\n\nx = 1\nx\n'
    assert cut("", examples={"all.py": text}, listing=("all.py", None)) == text


def test_a_listing_of_a_file_that_imports_from_others_has_them_written_out(alone):
    both = """
        \"\"\"The top.\"\"\"

        import os

        from examples.base import scale


        def main():
            \"\"\"Scale it.\"\"\"
            print(scale(os.name == "none") + 1)


        if __name__ == "__main__":
            main()
    """
    program, said = alone(
        "", examples={**EXAMPLES, "both.py": both}, listing=("both.py", None)
    )
    assert said == "1\n"
    assert program.startswith('"""The top."""\n\nimport math')
    assert "examples" not in program


# ---- what cannot be cut ----------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "says"),
    [
        (
            "x = 1\n---\nassert x == missing",
            "uses `missing`, which no lesson of the page",
        ),
        (
            "missing = 1\ndel missing\n---\nx = y = z\n",
            "uses `z`, which no lesson of the page",
        ),
        (
            "def f():\n    return missing\n---\nf()",
            "uses `missing`, which no lesson of",
        ),
        (
            "x = (1\n---\nassert True",
            "is not Python: '(' was never closed",
        ),
        ("x = 1\n---\n%timeit x", "is not Python: invalid syntax"),
        ("from math import *\n---\nassert pi", "`from math import *` hides where"),
        (
            "from examples.base import *",
            "`from examples.base import *` hides where names come from; name them",
        ),
        (
            "from examples.base import nothing\n---\nnothing",
            "examples/base.py has no `nothing`",
        ),
        (
            "import examples.base\n---\nexamples.base.STEP",
            "`import examples.base` imports a module; "
            "write `from examples.base import …` with the names it needs",
        ),
        (
            "import examples.base as b\n---\nb.STEP",
            "`import examples.base as b` imports a module; write `from examples.base ",
        ),
        (
            "from examples.deep import middle\n---\nmiddle",
            "`from examples.deep import middle` imports a module; "
            "write `from examples.deep.middle import …`",
        ),
        (
            "from examples.bsae import STEP\n---\nSTEP",
            "`from examples.bsae import STEP`: there is no module examples.bsae",
        ),
        (
            "from .base import STEP\n---\nSTEP",
            "`from .base import STEP` is relative; na",
        ),
        (
            "def f():\n    from examples.base import STEP\n    return STEP\n---\nf()",
            "move `from examples.base import STEP` to the top level",
        ),
        (
            "from examples.deep.middle import twice\n---\nSTEP = 3\ntwice(STEP)",
            "`STEP` means one thing in examples/base.py and another in the page; "
            "give one of them another name",
        ),
        (
            "import cmath as math\nfrom examples.base import scale\n---\nscale(math.e)",
            "`math` means one thing in math and another in cmath; give one",
        ),
        (
            "from examples.base import scale\n---\ny = scale(1)\n---\nscale = y\ny",
            "binds `scale`, which is imported from examples/base.py; rename it",
        ),
        (
            "from examples.base import scale as f\n---\nf(1)",
            "`from examples.base import scale as f` renames what is yours; keep its na",
        ),
        (
            "from __future__ import annotations",
            "`from __future__ import annotations` changes what code means; leave",
        ),
        (
            "from examples.shadow import top\n---\nmax = 3\ntop([max])",
            "binds `max`, which is Python's own; rename it",
        ),
        (
            "from examples.own import total\n---\ntotal([1])\nsum([1, 2])",
            "examples/own.py: binds `sum`, which is Python's own; rename it",
        ),
        (
            "from examples.same.base import STEP\n---\n"
            "from examples.base import scale\nSTEP, scale",
            "`STEP` means one thing in examples/same/base.py and another in examples/b",
        ),
    ],
)
def test_what_cannot_be_cut_is_an_error_that_says_the_fix(cut, page, says):
    others = {
        "shadow.py": "def top(x):\n    return max(x)\n",
        "own.py": "def sum(x):\n    return 0\n\ndef total(x):\n    return sum(x)\n",
        "same/base.py": "STEP = 5\n",
    }
    with pytest.raises(SliceError) as error:
        cut(page, examples=EXAMPLES | others)
    assert str(error.value).startswith(says)


def test_a_listing_of_nothing_is_an_error(cut):
    with pytest.raises(SliceError, match=r"examples/base\.py has no `nothing`"):
        cut("", examples=EXAMPLES, listing=("base.py", "nothing"))


# ---- how it looks ----------------------------------------------------------------


def test_a_program_looks_as_if_a_careful_person_had_written_it(alone):
    program, _ = alone(
        """
        import jax, os
        jax.config.update("jax_enable_x64", True)
        # Two rows,
        # to be mapped.
        rows = [[1.0],
                [2.0]]

        # Nothing above belongs to this: no_x.
        no_x = 1
        ---
        import jax.numpy as jnp
        # Doubles.
        def double(x):
            return x * by
        by = 2
        ---
        x = jnp.array(rows)

        # What is it?

        # It is a table.
        def show(x):
            return x.shape
        y = double(x)  # twice


        # The shape.
        show(y)
        # That was it.
        """
    )
    assert program == textwrap.dedent(
        """\
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        # Two rows,
        # to be mapped.
        rows = [[1.0],
                [2.0]]


        # Doubles.
        def double(x):
            return x * by


        by = 2

        x = jnp.array(rows)


        # What is it?

        # It is a table.
        def show(x):
            return x.shape


        y = double(x)  # twice

        # The shape.
        print(show(y))
        # That was it.
        """
    )
