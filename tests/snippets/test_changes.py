"""A lesson that changes what another one made is told, or copied as it is shown.

A slicer sees which names code has, and not what a function does to its arguments.  What
it does not see, the comparison of each copy with its page does.
"""

import contextlib
import io

import pytest

from book.snippets.slicer import Slicer, programs
from book.source.parser import read
from tests.conftest import Book
from tests.launcher import Launcher
from tests.page_output import ELSE, wrong_copies

# What a first lesson makes, what a second one does to it, and what a third one shows.
CHANGES = {
    "append": ("x = [3, 1]", "x.append(2)", "x"),
    "subscript": ("x = [3, 1]", "x[0] = 2", "x"),
    "attribute": (
        "from types import SimpleNamespace\nbox = SimpleNamespace(n=1)",
        "box.n = 2",
        "box.n",
    ),
    "augmented": ("x = [3, 1]", "x += [2]", "x"),
    "pop": ("x = [3, 1]", "y = x.pop()", "x"),
    "setdefault": ("d = {}", "d.setdefault('a', 1)", "d"),
    "heapify": ("import heapq\nx = [3, 1]", "heapq.heapify(x)", "x"),
    "heappush": ("import heapq\nx = [3]", "heapq.heappush(x, 1)", "x"),
    "shuffle": (
        "import random\nrandom.seed(0)\nx = list(range(9))",
        "random.shuffle(x)",
        "x",
    ),
    "setattr": (
        "from types import SimpleNamespace\nbox = SimpleNamespace(n=1)",
        "setattr(box, 'n', 2)",
        "box.n",
    ),
    "numpy_put": ("import numpy as np\nx = np.zeros(2)", "np.put(x, 0, 1)", "x"),
    "put": ("import numpy as np\nx = np.zeros(2)", "x.put(0, 1)", "x"),
    "out": (
        "import numpy as np\nx = np.ones(2)",
        "y = np.multiply(x, 2, out=x)",
        "x",
    ),
    "copyto": ("import numpy as np\nx = np.ones(2)", "np.copyto(x, 2)", "x"),
    "second_name_at_once": ("x = [3, 1]\ny = x\ny.append(2)\nn = 1", "n", "x"),
    "value_inside": ("x = [1]\ny = {1: x}\ny[1].append(2)\nn = 1", "n", "x"),
    "second_name": ("x = [3, 1]", "y = x\ny.append(2)", "x"),
    "closure": ("x = []\ndef f():\n    x.append(1)", "f()", "x"),
    "argument": ("x = []\ndef f(y):\n    y.append(1)", "f(x)", "x"),
    "method": (
        "class Counter:\n    n = 0\n    def up(self):\n        self.n += 1\n"
        "        return self.n\nc = Counter()\nn = c.n",
        "first = c.up()",
        "c.n",
    ),
    "next": ("it = iter([1, 2])\nn = 2", "first = next(it)", "next(it)"),
    "random": (
        "import numpy as np\nrng = np.random.default_rng(0)\nn = 100",
        "first = rng.integers(100)",
        "rng.integers(100)",
    ),
    "loop": ("x = [[3, 1]]", "for y in x:\n    y.sort()", "x"),
    "comprehension": ("x = [3, 1]", "y = [x.pop() for _ in range(1)]", "x"),
}


@pytest.fixture
def wrong(book: Book, launcher: Launcher):
    """What is told of the copies of a page with these cells, and the copies."""

    def wrong(*cells: str) -> tuple[list[str], dict[str, str]]:
        page, slicer = read(book.page("page", *cells), "page"), Slicer((book.root,))
        told = wrong_copies(
            page, slicer, "1.2.3", lambda _, text: launcher.finish(text)
        )
        return list(told), programs(page, slicer, lambda problem: None)

    return wrong


def shown_on(cells: tuple[str, ...]) -> str:
    """What the last cell prints when all run in one namespace."""
    space: dict[str, object] = {"__name__": "__main__"}
    *above, last = cells
    exec("\n".join(above), space)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(f"print({last})", space)
    return said.getvalue()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_what_another_lesson_made_is_told_or_copied(wrong, launcher, name):
    told, copies = wrong(*CHANGES[name])
    if "cell3" in copies:
        copied = launcher.finish(copies["cell3"]).out
        assert bool(told) == (copied != shown_on(CHANGES[name]))
    else:
        assert told
    for one in told:
        assert one.startswith(("page, cell 2: ", "page, cell 3: "))


def test_what_differs_is_told(wrong):
    [told], _ = wrong(*CHANGES["heapify"])
    assert told.startswith(f"page, cell 3: {ELSE}\n- [1, 3]\n+ [3, 1]\n")


def test_a_cell_that_varies_only_has_to_run(wrong):
    made, changed, shown = CHANGES["heapify"]
    assert wrong(made, changed, f":varies:\n{shown}")[0] == []
    [told], _ = wrong(made, changed, f":varies:\nassert {shown} == [3, 1]")
    assert told.startswith("page: its script ends with status 1")


def test_a_script_leaves_no_file_of_which_it_says_nothing(wrong):
    [told], _ = wrong('open("kept.txt", "w").close()')
    assert told == "page: its script leaves kept.txt; say so: `# writes …`"
    assert wrong('open("kept.txt", "w").close()  # writes this file')[0] == []
