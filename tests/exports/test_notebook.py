"""A page's notebook and script: its lessons in order, and the text between them."""

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, version

import nbformat
import pytest

from book.exports.markdown_writer import Part
from book.exports.notebook import code_of_lessons, contents, notebook, script
from book.snippets.slicer import Slicer
from book.source.parser import read
from book.state import Problem
from tests.conftest import Book

PROSE = """
The {term}`shard <shards>` and [`x[0]`](other.md#a-b), [above](#taken), [JAX](https://x.y/z).[^why]

[^why]: It is *so*.
"""
TWICE = '''"""Twice."""

import math

TWO = 2


def double(x):
    return TWO * x


def no_use(x):
    return math.pi
'''


@pytest.fixture
def taken(tmp_path):
    """What is made of a page of some cells: its notebook and its script."""

    def take(*cells, parts=None, jax=None, kernel="target"):
        book = Book(tmp_path)
        book.write("examples/twice.py", TWICE)
        book.write("examples/exercises/four.py", FOUR)
        path = book.page("page", *cells, kernel=kernel)
        page = read(path, "page")
        steps = code_of_lessons(page, Slicer((tmp_path,)))
        made = contents(page, steps, jax or version("jax"), parts)
        found = nbformat.reads(notebook(made), as_version=4)
        nbformat.validate(found)
        return found.cells, script(made)

    return take


def code(cells):
    """The sources of the cells of code, but the first, which says what it is."""
    return {c.id: c.source for c in cells if c.cell_type == "code"}


def test_lessons_come_in_order_and_checks_stay_behind(taken):
    cells, script = taken(
        "x = 1",
        ":check:\nassert x == 1",
        ":tags: [remove-input]\nx",
        "x + 1",
        parts=[
            Part("One."),
            Part("not taken", 1),
            Part("", 2),
            Part("[Figure: Two.]", 3),
            Part("not taken", 4),
        ],
    )
    kinds = [(cell.cell_type, cell.source) for cell in cells[1:]]
    assert kinds == [
        ("markdown", "One."),
        ("code", "x = 1"),
        ("markdown", "[Figure: Two.]"),
        ("code", "x + 1"),
    ]
    assert "# %% [markdown]\n# One.\n\n# %%\nx = 1\n" in script
    assert [*code(cells)] == ["verified-on", "cell1", "cell4"]
    assert code(cells)["cell4"] == "x + 1"
    assert "print(x + 1)" in script and "assert" not in script
    exec(compile(script, "script", "exec"), {})


def test_what_a_lesson_takes_from_elsewhere_stands_above_it_once(taken):
    cells, script = taken(
        "x = 1",
        "from examples.twice import double\n\nx = double(x)  # int\nx",
        "from examples.twice import double\n\ndouble(2)",
    )
    found = code(cells)
    assert [*found][1:] == ["cell1", "cell2-uses", "cell2", "cell3"]
    assert found["cell2-uses"].startswith("TWO = 2\n\n\ndef double(x):")
    assert "no_use" not in script and "math" not in script
    assert found["cell2"] == "x = double(x)  # int\nx"
    assert found["cell3"] == "double(2)"
    exec(compile(script, "script", "exec"), {})


def test_a_lesson_that_raises_goes_on(taken, capsys):
    cells, script = taken(':raises: "ZeroDivisionError: division"\n1 / 0', "1 + 1")
    [tagged] = [c for c in cells if "raises-exception" in c.metadata.get("tags", ())]
    assert tagged.source == "1 / 0"
    exec(compile(script, "script", "exec"), {})
    assert capsys.readouterr().out == "ZeroDivisionError: division by zero\n2\n"


def test_a_program_of_its_own_becomes_a_file(taken):
    cells, script = taken(":fresh:\nimport os\nprint(os.name)")
    found = code(cells)
    assert found["cell1"] == "%%writefile cell1.py\nimport os\nprint(os.name)"
    assert "cell1.py" in found["cell1-runs"]
    assert "# print(os.name)" in script


def test_the_first_cell_says_on_which_jax_it_was_verified(taken):
    cells, script = taken("import optax\nx = 1", jax="9.8.7", kernel="mesh-of-eight")
    first = code(cells)["verified-on"]
    assert "pip install jax==9.8.7 optax" in first
    assert f"# ///\n{first}" in script
    with pytest.warns(UserWarning, match="verified on JAX 9.8.7, and this is"):
        exec(compile(first, "first", "exec"), {})


HEADER = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def test_a_script_says_first_what_it_needs_as_uv_reads_it(taken):
    _, script = taken("import orbax.checkpoint\nimport optax, math", jax="9.8.7")
    assert script.startswith("# %%\n# /// script\n")
    lines = HEADER.search(script)["content"].splitlines(keepends=True)
    told = tomllib.loads("".join(line[2:] for line in lines))
    assert told["dependencies"] == ["jax==9.8.7", "optax", "orbax-checkpoint"]
    assert told["requires-python"] == ">=3.11"


def test_a_package_that_is_missing_stops_a_script_before_its_work(taken, capsys):
    text = "print('work')\nimport not_installed"
    cells, script = taken(text)
    for program in (script, code(cells)["verified-on"]):
        with pytest.raises(PackageNotFoundError, match="not_installed"):
            exec(compile(program, "script", "exec"), {})
    assert capsys.readouterr().out == ""


SETS = """import jax

jax.config.update("jax_num_cpu_devices", 8)  # a CPU acts as eight devices"""


def test_devices_are_set_where_the_page_sets_them(taken):
    cells, script = taken(SETS, "jax.devices()", kernel="mesh-of-eight")
    assert code(cells)["cell1"] == SETS
    assert "jax.config" not in code(cells)["verified-on"]
    assert script.count("jax.config.update") == 1
    assert script.index(SETS) < script.index("print(jax.devices())")


FOUR = (
    "def check(answer):\n    assert answer() == 4, 'four is asked for'\n"
    "    print('passes')\n"
)
EXERCISE = (
    ':raises: "AssertionError: four is asked for"\n'
    "from examples.exercises.four import check\n\n"
    "def answer():\n    return ...\n\ncheck(answer)",
    "1 + 1",
)


def test_the_script_goes_on_below_an_exercise_solved_or_not(taken, capsys):
    _, script = taken(*EXERCISE)
    exec(compile(script, "script", "exec"), {})
    assert capsys.readouterr().out == "AssertionError: four is asked for\n2\n"
    exec(compile(script.replace("return ...", "return 4"), "script", "exec"), {})
    assert capsys.readouterr().out == "passes\n2\n"


def test_a_name_of_the_page_that_stands_for_another_is_refused(taken):
    theirs = "has a `TWO`, and so has the code of examples/twice"
    with pytest.raises(Problem, match=theirs) as wrong:
        taken("TWO = 3", "from examples.twice import double\ndouble(1)", "TWO + 1")
    assert wrong.value.cell == 3


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site in the real theme, whose address is known."""
    conf = 'html_baseurl = "https://a.b/book/"\n'
    book = Book(tmp_path_factory.mktemp("site"), conf=conf)
    book.page("taken", "x = 1\nx", prose=PROSE)
    book.write("docs/other.md", "# Other\n\n## A b\n")
    book.write("docs/words.md", "# Words\n\n```{glossary}\nshards\n  Parts.\n```\n")
    book.index("taken", "words", "other")
    built = book.build()
    assert built.code == 0, built.said
    return book


def test_the_notebook_says_where_the_site_has_its_page(site):
    found = json.loads((site.html / "taken.ipynb").read_text())["cells"]
    assert any("https://a.b/book/taken.html" in "".join(c["source"]) for c in found)


def test_links_lead_to_the_site_where_it_has_an_address(site):
    text = (
        "The shard and [`x[0]`](https://a.b/book/other.html#a-b), "
        "[above](https://a.b/book/taken.html#taken), [JAX](https://x.y/z).[^1]"
    )
    found = json.loads((site.html / "taken.ipynb").read_text())["cells"]
    assert any(text in "".join(cell["source"]) for cell in found)
    note = "[^1]: It is *so*."  # which the theme puts into the margin
    assert f"# {text}\n#\n# {note}\n" in (site.html / "taken.py").read_text()


def test_files_of_a_page_that_is_gone_go(book):
    book.page("taken", "x = 1\nx")
    book.write("docs/words.md", "# Words\n\nOnly words.\n")
    book.index("taken", "words")
    assert book.build().code == 0
    assert {".html", ".ipynb", ".py"} <= {f.suffix for f in book.html.glob("taken*")}
    (book.docs / "taken.md").unlink()
    book.index("words")
    built = book.build()
    assert built.code == 0, built.said
    assert not [*book.html.glob("taken*")]


def test_the_files_of_a_page_follow_it_and_what_it_imports(book):
    """A build writes those of pages that it writes, and leaves the others."""
    book.write("examples/price.py", 'def price():\n    """Return 1."""\n    return 1\n')
    book.page("one", "from examples.price import price\n\nprint(price())")
    book.page("two", "print(2)")
    assert book.build().code == 0
    two = book.html / "two.md"
    before = two.stat().st_mtime_ns
    book.write("examples/price.py", 'def price():\n    """Return 3."""\n    return 3\n')
    assert book.build().code == 0
    assert "Return 3." in (book.html / "one.ipynb").read_text()
    assert "```text\n3\n```" in (book.html / "one.md").read_text()
    assert two.stat().st_mtime_ns == before
    book.page("two", "print(2)", prose="Other prose.")
    two.with_suffix(".py").unlink()
    assert book.build().code == 0
    assert "Other prose." in two.read_text()
    assert "Other prose." in two.with_suffix(".py").read_text()
    assert "Return 3." in (book.html / "one.ipynb").read_text()
