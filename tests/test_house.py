"""The house keeps its own rules, and each rule objects when it is broken."""

import ast
import functools
import shutil
import subprocess
from pathlib import Path

import pytest

from book import new as scaffold
from book.run.page import local_strings
from tests import house
from tests.house import BOOK_RULES, PAGE_RULES, PROGRAM_RULES, Book

ROOT = Path(__file__).parents[1]
ENGINE = ROOT / "docs" / "book"
BOOK = Book(ROOT)
read = functools.cache(BOOK.page)


def name_of(rule) -> str:
    """Return a rule's name as words."""
    return rule.__name__.replace("_", " ")


def files() -> list[str]:
    """Return what git tracks or would track; without git, what is not ignored."""
    git = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(git, capture_output=True, text=True)
        if listed.returncode == 0:
            return sorted(p for p in listed.stdout.splitlines() if (ROOT / p).is_file())
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
    ignored = {found for pattern in (".git", *ignored) for found in ROOT.rglob(pattern)}
    paths = [path for path in ROOT.rglob("*") if path.is_file()]
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in paths
        if not ignored & set(path.parents)
    )


@pytest.mark.parametrize("name", BOOK.page_names)
@pytest.mark.parametrize("rule", PAGE_RULES, ids=name_of)
def test_every_page_keeps_the_rules(rule, name):
    found = rule(read(name))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", BOOK.program_names)
@pytest.mark.parametrize("rule", PROGRAM_RULES, ids=name_of)
def test_every_program_keeps_the_rules(rule, name):
    found = rule(BOOK.program(name))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("rule", BOOK_RULES, ids=name_of)
def test_the_book_keeps_the_rules(rule):
    found = rule(BOOK)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", [p.name for p in sorted(ENGINE.glob("*.py"))])
def test_every_public_name_of_the_engine_is_documented(name):
    tree = ast.parse((ENGINE / name).read_text(encoding="utf-8"))
    found = [f"docs/book/{name}:{line}: {x}." for line, x in house.undocumented(tree)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_the_files_at_the_front_door_are_calm(name):
    found = house.banned((ROOT / name).read_text(encoding="utf-8"), name)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(("name", "limit"), [("noxfile.py", 130), ("docs/conf.py", 60)])
def test_the_files_that_steer_the_house_are_short(name, limit):
    found = house.at_most((ROOT / name).read_text(encoding="utf-8"), name, limit)
    assert not found, found[0]


def test_no_file_names_a_machine_or_a_package_index():
    private = [s for s in local_strings(ROOT, ROOT / "docs") if "/" in s]
    found = []
    for name in files():
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found += house.no_private_places(text, name, private)
    assert not found, "\n" + "\n".join(found)


# ---- each rule, broken on purpose ------------------------------------------------

INDEX = """# A book

```{toctree}
shard_map/varying
```
"""


@pytest.fixture
def small(tmp_path):
    """A book of one page, as `nox -s new` writes it, with no TODO left."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(INDEX)
    for path in scaffold.create(tmp_path, "shard_map/varying"):
        text = (tmp_path / path).read_text(encoding="utf-8")
        (tmp_path / path).write_text(text.replace("TODO", "Here"), encoding="utf-8")
    return Book(tmp_path)


def change(book, path, old, new):
    """Replace `old` by `new` in a file of `book`, where it must occur."""
    text = (book.root / path).read_text(encoding="utf-8")
    assert old in text
    (book.root / path).write_text(text.replace(old, new, 1), encoding="utf-8")
    return Book(book.root)


RULES = (*PAGE_RULES, *PROGRAM_RULES, *BOOK_RULES)


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_new_page_keeps_every_rule(small, rule):
    if rule in BOOK_RULES:
        assert rule(small) == []
    elif rule in PAGE_RULES:
        assert rule(small.page("shard_map/varying")) == []
    else:
        for name in small.program_names:
            assert rule(small.program(name)) == []


PAGE = "docs/shard_map/varying.md"
SHOWN = "answer.sharding.spec"
SEE = "## See it"
FIGURE = 'shards(x, alt="Eight devices; each holds two of sixteen whole numbers.")'
PLOT = "from book.draw.plots import lines"
SETUP = "mesh = jax.make_mesh("
LISTED = "pyobject: above_lowest"
# rule: what is replaced on the page above, by what, and a piece of the complaint
BAD_PAGES = {
    house.no_typed_outputs: [
        (SHOWN, "answer.shape  # -> (16,)", "an output is typed: # -> (16,)"),
        (SHOWN, "answer.shape  # prints (16,)", "an output is typed: # prints"),
        (SHOWN, "answer  # Array([1., 2.])", "an output is typed: # Array"),
        (SEE, "It shows ShardedDeviceArray([1.]).", "typed into the text"),
        (SEE, "```\n16\n```", "a fence of plain text is never run"),
        (SEE, "```python\nf()\n```", "a fence of python is never run"),
    ],
    house.removed_cells_draw: [
        ("zeros = [", "shards\nzeros = [", "`shards` comes from the removed cell"),
        ("from book", "x = x + 1\nfrom book", "a removed cell changes `x`"),
    ],
    house.comparisons_are_asserted: [
        (SHOWN, "answer == x", "`answer == x` is shown, not asserted"),
        (SHOWN, "(answer == 0).all()", "is shown, not asserted"),
        (SHOWN, "np.allclose(answer, 0)", "is shown, not asserted"),
        (SHOWN, "print(x == answer)", "is shown, not asserted"),
        (SHOWN, 'f"{x.shape == answer.shape}"', "is shown, not asserted"),
        (SHOWN, "{n: x[0] == n for n in range(2)}", "is shown, not asserted"),
        (SHOWN, "same = x == answer\nsame", "`same` is shown, not asserted"),
    ],
    house.lengths: [
        (SEE, "word " * 600, "words of prose, not 150 to 600"),
        (SHOWN, "x\n" * 9, "a cell has 11 lines of code; 8 is the most"),
        (SETUP, "x = 1\n" * 6 + SETUP, "a cell has 15 lines of code; 14 is the most"),
        (LISTED, "pyobject: main", "the listing of `main` has 16 lines; 15"),
        (LISTED, "caption: all of it", "the listing of varying.py has"),
        (LISTED, "pyobject: gone", "varying.py has no `gone`"),
        ("varying.py\n:py", "gone.py\n:py", "there is no gone.py to list"),
    ],
    house.sections: [
        ("## Guess first", "## More", "'More' is no section"),
        ("## Guess first", SEE, "'See it' comes after 'Run it', not before it"),
        ("## Guess first", "#### Guess first", "'Guess first' is no section"),
        ("## Guess first", "## Which map do I want?", "is no section"),
        ("## Keep", "", "there is no section 'Keep'"),
        ("In one breath", "Summary", "no 'In one breath'"),
        ("would search for", "asks?", "the title is a question, not a task"),
        (SEE, "# Another", "the page has 2 titles, not one"),
    ],
    house.pictures_have_words: [
        (FIGURE, "shards(x)", "`shards(...)` has no alt"),
        (FIGURE, 'shards(x, alt=" ")', "`shards(...)` has no alt"),
        (FIGURE, f"{PLOT}\nlines({{}}, x='rows', y='B')", "`lines(...)` has no alt"),
        (SEE, "![](a.svg)", "an image has no alternative text"),
        (SEE, "```{image} a.svg\n:width: 9\n```", "an image has no :alt:"),
    ],
    house.same_device_lines: [
        ("[:8]", "[:4]", "the device lines are the same on every page, not"),
        (house.DEVICE_LINES[0], "", "not the two device lines together"),
        ("name: mesh-of-eight", "name: target", "kernel is 'mesh-of-eight'"),
    ],
    house.page_axes: [
        ('((8,), ("rows",)', '((8,), ("x",)', "an axis is called 'x'"),
        ('P("rows"))', 'P(None, ("rows", "i")))', "an axis is called 'i'"),
        (SHOWN, 'jax.lax.psum(x, "data")', "an axis is called 'data'"),
        (SHOWN, 'jax.vmap(abs, axis_name="b")(x)', "an axis is called 'b'"),
    ],
    house.page_is_calm: [
        (SEE, "You can simply run it.", "'simply' says nothing"),
        (SEE, "Note\nthat it runs.", "'Note that' says nothing"),
    ],
    house.page_is_written: [(SEE, "TODO", "a TODO is left")],
}


def cases(table):
    """Return a case for each rule and change of `table`, named after the complaint."""
    return [
        pytest.param(rule, old, new, says, id=f"{name_of(rule)}: {says}")
        for rule, changes in table.items()
        for old, new, says in changes
    ]


def test_every_rule_for_a_page_or_a_program_is_broken_below():
    assert set(BAD_PAGES) == set(PAGE_RULES)
    assert set(BAD_PROGRAMS) == set(PROGRAM_RULES)


@pytest.mark.parametrize(("rule", "old", "new", "says"), cases(BAD_PAGES))
def test_a_rule_objects_to_a_bad_page(small, rule, old, new, says):
    page = change(small, PAGE, old, new).page("shard_map/varying")
    found = [sentence for sentence in rule(page) if says in sentence]
    assert found, rule(page)
    path, line, _ = found[0].split(":", 2)
    assert path == PAGE
    assert 1 <= int(line) <= len(page.text.splitlines())


def test_a_complaint_names_the_line(small):
    page = change(small, PAGE, SHOWN, "answer == x").page("shard_map/varying")
    [found] = house.comparisons_are_asserted(page)
    line = page.text.splitlines().index("answer == x") + 1
    assert found.startswith(f"{PAGE}:{line}: ")


def test_a_page_that_asserts_nothing_is_an_error(small):
    lines = (small.root / PAGE).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("assert ")]
    (small.root / PAGE).write_text("\n".join(kept) + "\n", encoding="utf-8")
    [found] = house.comparisons_are_asserted(small.page("shard_map/varying"))
    assert found.endswith("the page asserts nothing.")


def test_a_comparison_inside_another_value_is_fine(small):
    fine = "x[x > 3].sum(), np.where(x > 3, x, 0).shape"
    page = change(small, PAGE, SHOWN, fine).page("shard_map/varying")
    assert house.comparisons_are_asserted(page) == []


BAD_PROGRAMS = {
    house.everything_is_documented: [
        (
            "def numbers():",
            "class More:\n    pass\n\n\ndef numbers():",
            "`More` has no",
        ),
        ('"""Return sixteen whole numbers, float32 (16,)."""', "", "`numbers` has no"),
    ],
    house.outputs_are_doctests: [
        ("equal = np", "# prints True\n    equal = np", "an output is typed: # prints"),
        ("on one device.", "Array([1]).", "an output is typed, not a doctest"),
    ],
    house.program_axes: [
        ('ROWS = P("rows")', 'ROWS = P("devices")', "an axis is called 'devices'"),
        ('x.min(), "rows"', 'x.min(), "i"', "an axis is called 'i'"),
    ],
    house.program_is_calm: [
        ("sixteen whole", "just sixteen whole", "'just' says nothing"),
    ],
    house.program_is_written: [("sixteen whole", "TODO", "a TODO is left")],
}


@pytest.mark.parametrize(("rule", "old", "new", "says"), cases(BAD_PROGRAMS))
def test_a_rule_objects_to_a_bad_program(small, rule, old, new, says):
    path = "examples/shard_map/varying.py"
    book = change(small, path, old, new)
    [found] = rule(book.program("shard_map/varying"))
    assert says in found
    assert found.startswith(f"{path}:")


def test_a_program_that_no_page_shows_is_an_error(small):
    (small.root / "examples/shard_map/alone.py").write_text('"""Nobody sees this."""\n')
    [found] = house.programs_are_shown(small)
    assert found.startswith("examples/shard_map/alone.py:1: no page lists it")


def test_a_page_without_a_program_of_its_name_is_an_error(small):
    (small.root / "docs/shard_map/varying.md").rename(small.root / "docs/other.md")
    found = house.pages_have_programs(small)
    assert found == ["docs/other.md:1: it has no program examples/other.py."]


def test_a_page_that_leaves_out_its_own_program_is_an_error(small):
    (small.root / "docs/shard_map/other.md").write_text(
        (small.root / "docs/shard_map/varying.md").read_text(encoding="utf-8")
    )
    (small.root / "examples/shard_map/other.py").write_text('"""Nobody sees this."""\n')
    [found] = house.pages_have_programs(small)
    assert "never shows its own examples/shard_map/other.py" in found


def test_a_page_that_no_toctree_leads_to_is_an_error(small):
    (small.root / "docs/shard_map/lost.md").write_text("# Lost\n")
    found = house.pages_are_reachable(small)
    assert found == ["docs/shard_map/lost.md:1: no toctree leads to it."]


def test_a_toctree_below_the_index_leads_on(small):
    (small.root / "docs/shard_map/far.md").write_text("# Far\n")
    (small.root / "docs/words.md").write_text("# Words\n")
    more = "```{toctree}\n:hidden:\n\nFar away <far>\n/words\n```\n\n## Keep"
    book = change(small, "docs/shard_map/varying.md", "## Keep", more)
    assert house.pages_are_reachable(book) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("data = '" + "/ho" + "me/reader/data'", "a path of one machine"),
        ("see " + "C:" + "\\Users", "a path of one machine"),
        ("--index-" + "url x", "the address of a package index"),
        ("https:/" + "/pypi" + ".example/simple", "the address of a package index"),
    ],
)
def test_a_file_that_names_a_place_is_an_error(line, says):
    found = house.no_private_places(f"fine\n{line}\n", "a.txt")
    assert found == [f"a.txt:2: {says}."]


def test_a_file_that_grows_too_long_is_an_error():
    assert house.at_most("line\n" * 59, "docs/conf.py", 60) == []
    assert "60 lines" in house.at_most("line\n" * 60, "docs/conf.py", 60)[0]
