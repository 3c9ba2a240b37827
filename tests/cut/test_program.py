"""A cell's program runs alone, holds all that the cell needs, and nothing else.

A page is written as its cells with `---` between them; the program is the last cell's,
whose assertions say what it needs.  What it does not need has `no_` in it.
"""

import textwrap

import pytest

from book.cut.launch import Launcher
from book.cut.program import DEVICE_LINE, SliceError, Slicer


@pytest.fixture(scope="module")
def launcher(pytestconfig):
    """One interpreter for all programs of this file."""
    with Launcher(pytestconfig.target) as one:
        yield one


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
        *above, last = textwrap.dedent(page).strip("\n").split("\n---\n")
        return slicer.cell(above, last, raises)

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


def pages(text):
    """Parameters: pages under their titles, which stand on lines like `## title`."""
    titled = textwrap.dedent(text).strip("\n").removeprefix("## ").split("\n## ")
    parts = [one.partition("\n") for one in titled]
    return pytest.mark.parametrize(
        "page", [p[2] for p in parts], ids=[p[0] for p in parts]
    )


# ---- what is needed --------------------------------------------------------------


@pages(
    """
    ## a name of an earlier cell
    x, y = 1, "no_"
    ---
    x = 3
    no_x = 4
    ---
    assert x == 3

    ## a dead binding
    x = "no_"
    ---
    x = [2]
    ---
    assert x == [2]

    ## a binding that is read before it is replaced
    x = "no_"
    x = 1
    ---
    y = x + 1
    x = 5
    ---
    assert (x, y) == (5, 2)

    ## a name bound by its own value
    x = 1
    ---
    x = x + 1
    ---
    x = x * 10
    no_x = x
    ---
    assert x == 20

    ## a name that the cell itself binds first
    x = "no_"
    ---
    x = 2
    assert x == 2

    ## tuples, stars and chains
    a, (b, *c), [d] = 1, (2, 3, 4), [5]
    e = f = [6]
    no_g = 0
    ---
    f.append(a)
    ---
    assert (a, b, c, d, e) == (1, 2, [3, 4], 5, [6, 1])

    ## annotated names
    x: int = 1
    y: list[int]
    no_x: int = 2
    ---
    y = [x]
    ---
    assert y == [1]

    ## one line with semicolons
    a = 1; no_a = 2; b = a + 1
    ---
    assert b == 2

    ## a walrus
    if (n := 3) > 2:
        m = n
    no_n = 5
    ---
    assert (n, m) == (3, 3)

    ## a walrus in a comprehension
    total = 1
    ---
    sums = [total := total + i for i in range(4)]
    no_total = total
    ---
    assert (total, sums) == (7, [1, 2, 4, 7])

    ## a comprehension that shadows a name of the page
    x = "no_"
    row = "no_"
    rows = [[1, 2], [3]]
    k = 2
    ---
    flat = [k * x for row in rows for x in row if x > 1]
    ---
    assert flat == [4, 6]

    ## a comprehension that reads the name it shadows
    x = [1, 2]
    k = "no_"
    ---
    y = [x for x in x]
    z = {k: [k for k in range(k)] for k in x}
    ---
    assert (y, z) == ([1, 2], {1: [0], 2: [0, 1]})

    ## a lambda whose parameter shadows a name
    x = "no_"
    by = 3
    ---
    times = lambda x: x * by
    ---
    assert times(2) == 6

    ## an f-string
    name, width = "x", 5
    no_name = 4
    ---
    text = f"{name:>{width}}"
    ---
    assert text == "    x"

    ## a string of many lines
    name = "x"
    text = '''
    # one of its lines
    name'''
    # The page's comment.
    no_name = f'''
    {name}
    # no_comment'''
    x = "\u2028\x0c"
    y = 3
    ---
    assert x == "\\u2028\\x0c" and y == 3
    assert text == "\\n# one of its lines\\nname"

    ## a class
    from dataclasses import dataclass, field
    x = "no_"
    step = 2
    ---
    @dataclass
    class Point:
        x: int = 0
        seen: list = field(default_factory=list)
        size = step

        def moved(self, by):
            return Point(self.x + by * self.size + offset)
    class No_Point:
        pass
    ---
    offset = 1
    assert Point(1).moved(3).x == 8

    ## a class whose names its methods do not see
    size = 2
    ---
    class Box:
        size = 3

        def area(self):
            return size * self.size
    ---
    assert Box().area() == 6

    ## a class that reads a name it binds
    size = 2
    ---
    class Box:
        size = size + 1
        sizes = [size for size in range(3)]
    ---
    assert Box.size == 3
    """
)
def test_names_are_taken_from_where_they_are_bound_last(alone, page):
    alone(page)


@pages(
    """
    ## a loop
    total = 0
    ---
    for i in range(4):
        total += i
    no_i = i
    ---
    assert (total, i) == (6, 3)

    ## a loop that may not run
    x = 1
    for no_one in ():
        y = 2
    ---
    for x in []:
        pass
    ---
    assert x == 1

    ## a loop that reads what its last turn bound
    for i in range(3):
        if i:
            after = before + 1
        before = i
    no_i = 0
    ---
    assert after == 2

    ## a binding inside a loop that comes before its reading
    y = "no_"
    for i in (1, 2):
        y = i
        z = y * 10
    ---
    assert z == 20

    ## while, else
    n = 5
    ---
    while n > 3:
        n -= 1
    else:
        done = True
    no_n = n
    ---
    assert (n, done) == (3, True)

    ## both paths of an if
    x = "no_"
    flag = False
    ---
    if flag:
        x = 1
    else:
        x = 2
    ---
    assert x == 2

    ## one path of an if
    x = 0
    flag = False
    ---
    if flag:
        x = 1
    ---
    assert x == 0

    ## try and except
    kind = ValueError
    why = "no_"
    ---
    try:
        n = int("one")
    except kind as error:
        n = len(str(error)) > 0
    no_n = n
    ---
    assert n is True

    ## a path that leaves by raising
    x = "no_"
    try:
        x = 1
    except ImportError:
        raise RuntimeError from None
    ---
    assert x == 1

    ## try, else and finally
    steps = []
    ---
    try:
        one = 1
    except ValueError:
        pass
    else:
        two = one + 1
    finally:
        steps.append("end")
    ---
    assert (two, steps) == (2, ["end"])

    ## with
    import io
    name = "no_"
    text = "a b"
    ---
    with io.StringIO(text) as file:
        words = file.read().split()
    no_words = words
    ---
    assert words == ["a", "b"]

    ## with that swallows an error
    from contextlib import suppress
    n = 0
    ---
    with suppress(ValueError):
        n = int("one")
    ---
    assert n == 0

    ## match
    command = {"go": [1, 2], "fast": True}
    x = 5
    ---
    match command:
        case {"go": [first, *others], **rest} if x > 3:
            found = (first, others, rest)
        case str() as x:
            found = x
        case _:
            found = None
    no_found = found
    ---
    assert found == (1, [2], {"fast": True})

    ## if written in an expression
    flag, a, b = True, 1, 2
    ---
    x = (y := a) if flag else b
    ---
    assert (x, y) == (1, 1)
    """
)
def test_blocks_are_kept_whole_and_only_when_they_are_needed(alone, page):
    alone(page)


@pages(
    """
    ## a decorator of the page
    twice = lambda f: lambda x: f(f(x))
    def no_decorator(f):
        return f
    ---
    @twice
    def grow(x):
        return x + 1
    ---
    assert grow(1) == 3

    ## two decorators, one with arguments
    import functools
    def times(n):
        def wrap(f):
            @functools.wraps(f)
            def wrapped(x):
                return n * f(x)
            return wrapped
        return wrap
    N = 3
    ---
    @functools.lru_cache(maxsize=None)
    @times(N)
    def grow(x):
        return x + 1
    ---
    assert grow(1) == 6 and grow.__name__ == "grow"

    ## a decorator that remembers
    known = {}
    no_known = {}
    def register(f):
        known[f.__name__] = f
        return f
    ---
    @register
    def grow(x):
        return x + step
    step = 2
    ---
    assert known["grow"](1) == 3

    ## a name bound after the function that reads it
    def grow(x):
        return x + step
    no_step = 0
    ---
    step = 5
    ---
    assert grow(1) == 6

    ## a name bound again after the function that reads it
    step = "no_"
    def grow(x):
        return x + step
    ---
    step = 5
    ---
    assert grow(1) == 6

    ## a function used before and after a rebinding
    step = 1
    def grow(x):
        return x + step
    ---
    first = grow(0)
    step = 5
    ---
    assert (first, grow(0)) == (1, 5)

    ## functions that call functions
    def top(x):
        return middle(x) + 1
    def no_top(x):
        return top(x)
    ---
    def middle(x):
        return bottom(x) * 2
    def bottom(x):
        return x
    ---
    assert top(3) == 7

    ## recursion
    def even(n):
        return n == 0 or odd(n - 1)
    def odd(n):
        return n != 0 and even(n - 1)
    ---
    assert even(10)

    ## defaults and annotations
    size: int = 4
    Kind = int
    ---
    def make(n: Kind = size, *, by=[1]) -> Kind:
        no = n
        return [no] * by[0]
    size = "no_"
    ---
    assert make() == [4]

    ## functions of a dict
    by = 3
    no_by = 4
    ---
    calls = {"times": lambda x: x * by, "plus": lambda x: x + late}
    ---
    late = 10
    assert [call(2) for call in calls.values()] == [6, 12]

    ## a function handed to a function
    def apply(f, x):
        return f(x)
    def grow(x):
        return x + step
    ---
    step = 1
    no_step = 2
    ---
    answer = apply(grow, 1)
    ---
    assert answer == 2

    ## partial
    from functools import partial
    def plus(x, y):
        return x + y + late
    ---
    grow = partial(plus, 1)
    ---
    late = 1
    no_late = 2
    ---
    assert grow(1) == 3

    ## a function that makes functions
    def make(by):
        def times(x):
            return x * by + late
        return times
    ---
    double = make(2)
    late = 1
    no_late = 2
    ---
    assert double(4) == 9

    ## a generator
    limit = 3
    def count():
        n = 0
        while n < limit:
            yield n
            n += 1
    no_limit = 4
    ---
    limit = 2
    ---
    assert list(count()) == [0, 1]
    """
)
def test_functions_take_along_what_they_read_when_they_are_called(alone, page):
    alone(page)


# ---- what is changed -------------------------------------------------------------


@pages(
    """
    ## augmented names
    n, text = 1, "a"
    ---
    n += 2
    text += "b"
    ---
    n *= 10
    no_n = n
    ---
    assert (n, text) == (30, "ab")

    ## augmented subscripts and attributes
    from types import SimpleNamespace
    counts, box = {"a": 1, "b": 2}, SimpleNamespace(n=1)
    no_box = SimpleNamespace(n=1)
    ---
    counts["a"] += 1
    no_box.n += 1
    box.n -= 5
    ---
    assert (counts["a"], box.n) == (2, -4)

    ## subscripts and attributes
    d = {}
    no_d = {}
    rows = [[0, 0], [0, 0]]
    ---
    d["a"] = 1
    no_d["a"] = 2
    rows[1][0] = 5
    ---
    d["b"], d["c"] = 2, 3
    del d["a"]
    ---
    assert (d, rows) == ({"b": 2, "c": 3}, [[0, 0], [5, 0]])

    ## methods
    xs, d, s = [3], {}, set()
    no_xs = []
    ---
    xs.append(1)
    no_xs.append(2)
    d.update(a=1)
    s.add(4)
    ---
    xs.sort()
    last = xs.pop()
    d.setdefault("b", 2)
    ---
    assert (xs, last, d, s) == ([1], 3, {"a": 1, "b": 2}, {4})

    ## slices of an array
    import numpy as np
    x = np.zeros(4)
    no_x = np.zeros(4)
    ---
    x[1:3] = 5
    no_x[0] = 1
    x += 1
    ---
    assert x.tolist() == [1, 6, 6, 1]

    ## at, which changes nothing
    import jax.numpy as jnp
    x = jnp.zeros(3)
    ---
    no_y = x.at[0].add(7)
    x = x.at[1].set(2)
    ---
    x = x.at[2].add(x[1])
    ---
    assert x.tolist() == [0, 2, 2]

    ## functions named like methods, which change nothing
    import jax.numpy as jnp
    x = jnp.array([2, 1])
    ---
    no_x = jnp.sort(x), jnp.append(x, 3), jnp.add(x, x), jnp.insert(x, 0, 1)
    ---
    assert x.tolist() == [2, 1]

    ## a change that is dead
    x = [1]
    x.append("no_")
    ---
    x = [2]
    ---
    assert x == [2]

    ## a second name
    x = [1]
    ---
    y = x
    y.append(2)
    no_y = y
    ---
    assert x == [1, 2]

    ## a second name, changed under the first
    x = [1]
    ---
    y = x
    ---
    x.append(2)
    x = "no_"
    ---
    assert y == [1, 2]

    ## a part of a value
    import numpy as np
    table = {"a": [1]}
    grid = np.zeros((2, 2))
    ---
    part = table["a"]
    row = grid[0]
    flat = grid.reshape(-1)
    ---
    part.append(2)
    row[:] = 1
    flat[3] = 5
    no_row = row
    ---
    assert table == {"a": [1, 2]} and grid.tolist() == [[1, 1], [0, 5]]

    ## a value inside another
    inner = [1]
    both = {"inner": inner, "other": 2}
    ---
    inner.append(2)
    ---
    assert both["inner"] == [1, 2]

    ## a value inside another, changed there
    inner = [1]
    both = {"inner": inner, "no": []}
    ---
    both["inner"].append(2)
    both["no"] = "no_"
    ---
    assert inner == [1, 2]

    ## the turns of a loop
    rows = [[1], [2]]
    ---
    for row in rows:
        row.append(0)
    [row.append(9) for row in rows]
    no_rows = len(rows)
    ---
    assert rows == [[1, 0, 9], [2, 0, 9]]

    ## results put into a dict, which does not change what they are made of
    x = [3]
    results = {}
    ---
    results["no_"] = sorted(x)
    ---
    assert x == [3]

    ## an argument
    def fill(into, value):
        into["a"] = value
    def no_fill(into):
        into["a"] = 0
    d, e = {}, {}
    ---
    fill(d, 5)
    ---
    fill(e, 6)
    ---
    assert d == {"a": 5}

    ## an argument by another name
    def fill(into):
        values = [5]
        values = into or values
        values.append(1)
    d = [2]
    ---
    fill(d)
    ---
    assert d == [2, 1]

    ## what is inside an argument
    def fill(rest):
        for one in rest:
            one["a"] = 1
    d = {}
    box = {"d": d}
    ---
    fill(box.values())
    ---
    assert d == {"a": 1}

    ## an argument, in the last line of a cell
    import heapq
    def fill(into):
        for one in into.values():
            one.append(1)
    d, heap = {"a": []}, [3, 4]
    ---
    fill(d)
    ---
    heapq.heappush(heap, 1)
    ---
    assert d == {"a": [1]} and heap[0] == 1

    ## a function that only looks at its argument
    def check(x):
        seen = []
        seen.append(x["a"])
        assert seen
    x = {"a": 1}
    ---
    check(x)  # no_
    no_x = x
    ---
    assert x == {"a": 1}

    ## a random generator
    import numpy as np
    numbers = np.random.default_rng(0)
    no_numbers = np.random.default_rng(0)
    ---
    numbers.normal(size=3)
    first = numbers.integers(100)
    no_first = no_numbers.integers(100)
    ---
    second = numbers.integers(100)
    expected = np.random.default_rng(0)
    expected.normal(size=3)
    expected.integers(100)
    assert second == expected.integers(100)

    ## next
    it = iter([1, 2, 3, 4])
    no_it = iter([])
    ---
    first = next(it)
    ---
    for second in it:
        break
    ---
    assert next(it) == 3

    ## a generator that is used up in part
    def count():
        n = 0
        while True:
            yield n
            n += 1
    numbers = count()
    no_numbers = count()
    ---
    a = next(numbers)
    ---
    pair = [n for n, _ in zip(numbers, "ab")]
    ---
    assert next(numbers) > 3

    ## a generator expression
    by = 1
    tens = (10 * n * by for n in range(3))
    no_tens = (n for n in range(3))
    ---
    by = 2
    ---
    tens.__next__()
    first = list(tens)
    ---
    assert (first, list(tens)) == ([20, 40], [])

    ## an object whose methods change it
    class Counter:
        def __init__(self, n):
            self.n = n
        def up(self):
            self.n += 1
            return self.n
    a = Counter(5)
    no_a = Counter(5)
    ---
    first = a.up()
    ---
    a.up()
    ---
    assert a.up() == 8

    ## a closure that counts
    def counter():
        n = 0
        def up():
            nonlocal n
            n += 1
            return n
        return up
    up = counter()
    no_up = counter()
    ---
    first = up()
    ---
    second = up()
    ---
    assert up() == 3
    """
)
def test_changes_are_kept_under_every_name(alone, page):
    alone(page)


@pages(
    """
    ## a counter in a function that is traced
    import jax
    import jax.numpy as jnp
    traces = []
    x = jnp.arange(3.0)
    no_x = x + 1
    ---
    def f(x):
        traces.append(x.shape)
        return x * 2
    g = jax.jit(f)
    ---
    no_h = jax.vmap(f)
    g(x)
    ---
    g(x + 1)
    ---
    assert len(traces) == 1

    ## a traced function that remembers
    import jax
    traces = []
    def f(x):
        traces.append(x)
        return x * 2
    g = jax.jit(f)
    ---
    g(1.0)
    ---
    traces = []
    ---
    g(2.0)
    assert traces == []

    ## a counter in a function inside another
    import jax
    traces = []
    def counted(f):
        def inner(*args):
            traces.append(f)
            return f(*args)
        return inner
    ---
    g = jax.vmap(counted(lambda x: x + 1))
    no_g = jax.vmap(lambda x: x)
    ---
    y = g(jax.numpy.arange(3))
    ---
    assert len(traces) == 1

    ## a function that counts as it is called through a dict
    import jax
    traces, x = [], 1.0
    def f(x):
        traces.append(1)
        return x
    ways = {"jit": jax.jit(f), "plain": f}
    ---
    answers = [way(x) for way in ways.values()]
    no_answers = len(ways)
    ---
    assert len(traces) == 2

    ## a function that does not count
    import jax
    traces = ["no_"]
    def f(x):
        return x + 1
    g = jax.jit(f)
    ---
    no_y = g(1.0)
    g(2.0)  # no_
    ---
    assert g(1.0) == 2

    ## global
    n = 0
    no_n = 0
    def count():
        global n
        n += 1
    ---
    count()
    no_n += 1
    ---
    other = [count() for _ in range(2)]
    ---
    assert n == 3

    ## global, bound by the function alone
    def start():
        global n
        n = 5
    n_before = "no_"
    ---
    start()
    ---
    assert n == 5

    ## a setting of JAX
    import jax
    import jax.numpy as jnp
    from jax import config
    no_x = jnp.ones(2)
    ---
    jax.config.update("jax_enable_x64", True)
    ---
    assert jnp.ones(1).dtype == "float64"

    ## a setting that is set by a function
    import jax
    def precise(flag):
        jax.config.update("jax_enable_x64", flag)
    ---
    precise(True)
    ---
    import jax.numpy as jnp
    assert jnp.ones(1).dtype == "float64"

    ## a setting that is imported by its name
    from jax import config
    import jax.numpy as jnp
    ---
    config.update("jax_enable_x64", True)
    ---
    assert jnp.ones(1).dtype == "float64"

    ## a setting between two values
    import jax
    import jax.numpy as jnp
    x = jnp.ones(1)
    ---
    jax.config.update("jax_enable_x64", True)
    y = jnp.ones(1)
    ---
    assert (x.dtype, y.dtype) == ("float32", "float64")

    ## a setting for a block, which is over
    import jax
    import jax.numpy as jnp
    with jax.enable_x64(True):
        no_x = jnp.ones(1)
    ---
    assert jnp.ones(1).dtype == "float32"

    ## a mesh that is set
    import jax
    from jax.sharding import get_abstract_mesh
    jax.config.update("jax_num_cpu_devices", 8)
    mesh = jax.make_mesh((8,), ("rows",), devices=jax.devices("cpu")[:8])
    no_mesh = 0
    ---
    jax.set_mesh(mesh)
    ---
    assert get_abstract_mesh().shape == {"rows": 8}

    ## the seed of NumPy
    import numpy as np
    np.random.seed(0)
    ---
    first = np.random.randint(100, size=3)
    ---
    second = np.random.randint(100, size=3)
    np.random.seed(0)
    again = np.random.randint(100, size=6)
    assert (again[3:] == second).all()

    ## the generator of Python
    import random
    random.seed(0)
    ---
    first = random.random()
    ---
    second = random.random()
    random.seed(0)
    assert [random.random(), random.random()][1] == second

    ## a check, which changes nothing
    import numpy as np
    import time
    x = np.ones(2)
    ---
    np.testing.assert_array_equal(x, 1)  # no_
    print(x)  # no_
    time.sleep(0)  # no_
    ---
    assert x.sum() == 2
    """
)
def test_states_that_no_name_holds_are_as_on_the_page(alone, page):
    alone(page)


def test_the_environment_is_set_before_jax_is_imported(alone):
    program, _ = alone(
        """
        import os
        import math
        no_n = math.pi
        n = math.prod((2, 2))
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={n}"
        import jax
        from jax import numpy as jnp
        ---
        assert len(jax.local_devices(backend="cpu")) == 4
        """
    )
    assert program.index("os.environ") < program.index("import jax\n")
    assert "jnp" not in program


def test_a_cell_that_sets_the_environment_keeps_its_order(alone):
    program, said = alone(
        """
        from math import prod
        no_n = prod((1, 2))
        n = prod((2, 2))
        ---
        import os

        os.environ["JAX_NUM_CPU_DEVICES"] = str(n)
        import jax

        jax.device_count("cpu")
        """
    )
    assert said == "4\n"
    assert "from math import prod\n\nn = prod((2, 2))\n\nimport os\n" in program


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
            "import xml.dom\n---\nimport xml.sax\n---\nassert xml.dom.Node",
            ["import xml.dom"],
        ),
        ("import jax\nimport jax.numpy\n---\nassert jax.vmap", ["import jax"]),
        ("import xml.dom\n---\nassert xml.__name__", ["import xml.dom"]),
        (
            "from math import (\n    pi as p,\n    e,\n)\n---\nassert p > 3",
            ["from math import pi as p"],
        ),
        ("import math\n---\nimport math\n---\nassert math.pi", ["import math"]),
        (
            "import math as m\n---\nm.pi\n---\nfrom cmath import pi\nassert m.pi == pi",
            ["import math as m", "from cmath import pi"],
        ),
        ("import math; x = math.pi\n---\nassert x > 3", ["import math"]),
        (
            "from jax import numpy as jnp\nx = jnp.pi\n---\nimport jax.numpy as jnp\n"
            "assert x == jnp.pi",
            1,
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
    """
    assert program == textwrap.dedent(expected).lstrip("\n")


# ---- devices ---------------------------------------------------------------------

SETUP = """
import jax
import jax.numpy as jnp
import numpy as np
jax.config.update("jax_num_cpu_devices", 8)
devices = (jax.devices() if jax.device_count() >= 8 else jax.devices("cpu"))[:8]
mesh = jax.make_mesh((8,), ("rows",), devices=devices)
x = jnp.arange(8.0)
---
"""


@pytest.mark.parametrize(
    "cell",
    [
        "assert len(devices) == 8",
        "assert jax.jit(jax.shard_map(lambda x: x, mesh=mesh, in_specs=jax.P(), "
        "out_specs=jax.P()))(x).sharding.device_set == set(devices)",
        "assert jax.pmap(lambda x: x + 1, devices=devices)(x).shape == (8,)",
        "@jax.pmap\ndef f(x):\n    return x\nassert f(np.ones((1, 2))).shape == (1, 2)",
        "assert jax.device_count('cpu') == 8",
        "from jax.sharding import Mesh\nMesh(np.array(jax.devices('cpu')), 'rows')",
    ],
)
def test_a_program_for_eight_devices_asks_for_them_first(alone, cell):
    program, _ = alone(SETUP + cell)
    assert program.count(DEVICE_LINE) == 1
    lines = program.split("\n")
    first = lines.index(DEVICE_LINE)
    assert all(line.startswith(("import ", "from ")) for line in lines[: first - 1])


@pytest.mark.parametrize(
    "cell",
    [
        "assert x.sum() == 28",
        "assert jax.vmap(lambda x: x + 1)(x).shape == (8,)",
        "assert jax.device_put(x, jax.devices()[0]).shape == (8,)",
        "def f(x, mesh: jax.sharding.Mesh = 0):\n    return x\nassert f(x) is x",
        "assert x.sharding.device_set == set(x.devices())",
        "one = jax.make_mesh((1,), ('rows',), devices=jax.devices()[:1])".replace(
            "jax.devices()[:1]", "[jax.devices()[0]]"
        )
        + "\nassert one.size == 1",
    ],
)
def test_a_program_for_one_device_does_not_ask_for_more(alone, cell):
    program, _ = alone(SETUP + cell)
    assert "num_cpu_devices" not in program


def test_a_page_that_never_asks_for_devices_gets_them_nonetheless(alone):
    program, said = alone("from jax import make_mesh\n---\nmake_mesh((8,), 'x').size")
    assert program == (
        f"import jax\nfrom jax import make_mesh\n\n{DEVICE_LINE}\n\n"
        "print(make_mesh((8,), 'x').size)\n"
    )
    assert said == "8\n"


def test_a_function_that_would_set_the_environment_is_no_devices_line(alone):
    page = """
    def elsewhere(devices):
        os.environ["FAR"] = str(devices)
        return devices
    ---
    assert mesh.size == 8 and elsewhere(3) == 3
    """
    program, _ = alone("import os\n" + SETUP + textwrap.dedent(page).strip())
    assert program.count(DEVICE_LINE) == 1


def test_a_page_that_asks_for_four_devices_gets_four(alone):
    program, said = alone(
        SETUP.replace("8)\ndev", "4)\ndev") + "jax.device_count('cpu')"
    )
    assert said == "4\n"
    assert program.count("num_cpu_devices") == 1


# ---- what a cell shows -----------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "last", "said"),
    [
        ("x = [1]\n---\nx", "print(x)", "[1]"),
        ("x = [1]\n---\nx[0], 'a'", "print(x[0], 'a')", "1 a"),
        ("x = 1\n---\nx  # one", "print(x)  # one", "1"),
        ("x = 1\n---\nx\n# the x above", "print(x)\n# the x above", "1"),
        ("x = 1\n---\ny = x; y + 1", "y = x\nprint(y + 1)", "2"),
        ("x = 1\n---\nx;", "x;", ""),
        ("x = 1\n---\n(y := x + 1)", "print((y := x + 1))", "2"),
        (
            "x = 1\n---\n{\n    'a': x,\n}",
            "print(\n    {\n        'a': x,\n    }\n)",
            "{'a': 1}",
        ),
        ("x = 1\n---\nf'''{x}\n2'''", "print(\n    f'{x}\\n2'\n)", "1\n2"),
        ("x = 1\n---\nx = 2", "x = 2", ""),
        ("x = 1\n---\nprint(x)", "print(x)", "1"),
        ("x = [1]\n---\nx.append(2)", "x.append(2)", ""),
        ("x = [1]\n---\nx.pop()", "print(x.pop())", "1"),
        ("x = {}\n---\nx.update(a=1)", "x.update(a=1)", ""),
        ("'A cell of words.'\n---\n'Words.'", "'Words.'", ""),
        ("def f():\n    return 3\n---\nf()", "print(f())", "3"),
        ("def f():\n    def g():\n        return 3\n---\nf()", "f()", ""),
        (
            "class Box:\n    def show(self):\n        pass\na = Box()\n---\na.show()",
            "a.show()",
            "",
        ),
        ("import jax\n---\njax.vmap(len)", "print(jax.vmap(len))", None),
        ("import numpy as np\n---\nnp.testing.assert_equal(1, 1)", None, ""),
    ],
)
def test_what_a_notebook_displays_is_printed(alone, page, last, said):
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
    ],
)
def test_a_declared_error_is_expected(alone, page, raises, said):
    assert alone(page, raises=raises)[1].startswith(said)


def test_an_import_may_be_what_raises(alone):
    page = "import jax\n---\nimport jax.nothing"
    said = "ModuleNotFoundError: No module named 'jax.nothing'"
    assert alone(page, raises=said)[1].startswith(said)


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
def test_another_error_is_not(cut, launcher, raises):
    assert launcher.run(cut("x = 'a'\n---\nint(x)", raises))[0] == 1


def test_no_error_is_an_error(cut, launcher):
    code, said = launcher.run(cut("x = '1'\n---\nint(x)", "ValueError"))
    assert code == 1
    assert said.endswith("AssertionError: this was meant to raise ValueError\n")


# ---- examples --------------------------------------------------------------------

EXAMPLES = {
    "base.py": """
        \"\"\"The bottom.\"\"\"

        from __future__ import annotations

        import math
        from collections import Counter

        # How far to go,
        # and where to stop.
        STEP = 2  # at a time
        no_limit = Counter()


        def scale(x: Number, by=STEP):
            \"\"\"Return `x` times `by`.\"\"\"
            return math.prod((x, by))


        Number = int | float


        # Not needed: no_use.
        def no_use():
            return Counter()


        if __name__ == "__main__":
            print(no_use())
    """,
    "deep/middle.py": """
        import functools

        from examples.base import STEP
        from examples.base import scale as times

        seen = []
        two = times(1)


        @functools.lru_cache
        def twice(x):
            \"\"\"Return `x` scaled, and remember it.\"\"\"
            seen.append(x)
            return times(times(x)) * two


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
        from examples.base import STEP as step
        assert twice(x) == 40 and step == 2
    """
    program, _ = alone(page, examples=EXAMPLES)
    assert program == textwrap.dedent(
        """\
        from __future__ import annotations

        import functools
        import math

        # How far to go,
        # and where to stop.
        STEP = 2  # at a time


        def scale(x: Number, by=STEP):
            \"\"\"Return `x` times `by`.\"\"\"
            return math.prod((x, by))


        Number = int | float
        times = scale
        seen = []
        two = times(1)


        @functools.lru_cache
        def twice(x):
            \"\"\"Return `x` scaled, and remember it.\"\"\"
            seen.append(x)
            return times(times(x)) * two


        x = 5
        step = STEP

        assert twice(x) == 40 and step == 2
        """
    )


def test_a_constant_of_a_module_is_made_before_what_the_page_sets(alone):
    page = """
        import jax
        from examples.one import ONE
        jax.config.update("jax_enable_x64", True)
        ---
        import jax.numpy as jnp
        assert (ONE.dtype, jnp.ones(1).dtype) == ("float32", "float64")
    """
    alone(page, examples={"one.py": "import jax.numpy\n\nONE = jax.numpy.ones(1)\n"})


def test_a_state_of_a_module_is_as_on_the_page(alone):
    page = """
        from examples.deep.middle import Box, seen, twice
        box = Box()
        ---
        twice(3)
        no_x = len(seen)
        ---
        box.open()
        ---
        assert seen == [3, 1]
    """
    alone(page, examples=EXAMPLES)


def test_a_cell_of_imports_alone_keeps_them(alone):
    page = "import os\nfrom examples.base import scale\nimport math"
    program, _ = alone(page, examples=EXAMPLES)
    assert program.startswith(
        "from __future__ import annotations\n\nimport math\nimport os"
    )
    assert program.endswith("\n\n\nNumber = int | float\n")


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
    assert program.startswith('"""The top."""\n\nfrom __future__')
    assert "examples" not in program


# ---- what cannot be cut ----------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("x = 1\n---\nassert x == missing", "uses `missing`, which the page never def"),
        (
            "missing = 1\ndel missing\n---\nx = y = z\n",
            "uses `z`, which the page never",
        ),
        (
            "def f():\n    return missing\n---\nf()",
            "uses `missing`, which the page nev",
        ),
        (
            "x = (1\n---\nassert True",
            "a cell above is not Python: '(' was never closed",
        ),
        ("x = 1\n---\n%timeit x", "the cell is not Python: invalid syntax"),
        ("from math import *\n---\nassert pi", "`from math import *` in a cell above"),
        (
            "from examples.base import *",
            "`from examples.base import *` in the cell hides where names come from; "
            "import them by name",
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
            "from examples.base import scale as f\n---\ny = f(1)\n---\nf = y\nf",
            "`f` means one thing in the page and another in examples/base.py as scale",
        ),
        (
            "from examples.shadow import top\n---\nmax = 3\ntop([max])",
            "`max` means one thing in Python and another in the page",
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
        "same/base.py": "STEP = 5\n",
    }
    with pytest.raises(SliceError) as error:
        cut(page, examples=EXAMPLES | others)
    assert str(error.value).startswith(says)


def test_a_listing_of_nothing_is_an_error(cut):
    with pytest.raises(SliceError, match=r"examples/base\.py has no `nothing`"):
        cut("", examples=EXAMPLES, listing=("base.py", "nothing"))


def test_an_import_that_cannot_be_cut_harms_only_what_needs_it(alone):
    page = "import examples.base\nx = 1\n---\nassert x == 1"
    alone(page, examples=EXAMPLES)


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
