"""The house keeps its own rules, and each rule objects when it is broken."""

import shutil
import subprocess
from pathlib import Path

import pytest

from book.files import local_strings
from book.scaffold import new as scaffold
from tests.house import advice
from tests.house import book as house
from tests.house import error_pages as shelf
from tests.house import teaching_pages as page_rules
from tests.house.book import PAGE_RULES, PROGRAM_RULES, Book

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "docs" / "book"
BOOK = Book(ROOT)
BOOK_RULES = (*house.BOOK_RULES, *page_rules.BOOK_RULES, *shelf.BOOK_RULES)


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


def rules_for(page):
    """Return the rules for a page: everybody's, its kind's, and the shelf's."""
    errors = shelf.RULES if page.name.startswith("errors/") else ()
    return (*house.PAGE_RULES, *page_rules.rules_of(page), *errors)


def test_a_term_of_jax_is_no_word_to_leave_out():
    assert house.banned("compiled just-in-time", "here") == []
    assert house.banned("compiled just now", "here") != []


@pytest.mark.parametrize("name", BOOK.page_names)
def test_every_page_keeps_the_rules(name):
    page = BOOK.page(name)
    found = [sentence for rule in rules_for(page) for sentence in rule(page)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", BOOK.program_names)
def test_every_program_keeps_the_rules(name):
    program = BOOK.program(name)
    found = [sentence for rule in PROGRAM_RULES for sentence in rule(program)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("rule", BOOK_RULES, ids=name_of)
def test_the_book_keeps_the_rules(rule):
    found = rule(BOOK)
    assert not found, "\n" + "\n".join(found)


MODULES = [p.relative_to(ENGINE).as_posix() for p in sorted(ENGINE.rglob("*.py"))]


@pytest.mark.parametrize("name", [m for m in MODULES if "template/" not in m])
def test_the_engine_is_documented_and_knows_nothing_of_the_content(name):
    text = (ENGINE / name).read_text(encoding="utf-8")
    found = house.engine_rules(text, f"docs/book/{name}")
    assert not found, "\n" + "\n".join(found)


def test_no_file_names_a_machine_or_a_package_index():
    private = [s for s in local_strings(ROOT, ROOT / "docs") if "/" in s]
    found = []
    for name in files():
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found += house.no_private_places(text, name, private)
    assert not found, "\n" + "\n".join(found)


# ---- each rule, broken on purpose ------------------------------------------------

INDEX = """---
book:
  short: A book
---

# A book

```{toctree}
shard_map/varying
vmap/options
```
"""


def written(root, text, path):
    """Write a template with no TODO left."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text.replace("TODO", "Here"), encoding="utf-8")


@pytest.fixture
def small(tmp_path):
    """A book of two pages, as `nox -s new` writes them."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(INDEX)
    scaffolded(tmp_path, "shard_map/varying")
    scaffolded(tmp_path, "vmap/options", "look-up", kernel="target")
    return Book(tmp_path)


def scaffolded(root, name, kind="concept", kernel="mesh-of-eight"):
    """Write what `nox -s new` writes in a chapter of pages with this kernel."""
    other = root / "docs" / name.partition("/")[0] / "other.md"
    other.parent.mkdir()
    other.write_text(f"---\nkernelspec:\n  name: {kernel}\n---\n")
    for path in scaffold.create(root, name, kind):
        written(root, (root / path).read_text(encoding="utf-8"), path)
    other.unlink()


@pytest.fixture
def program(small):
    """The same book, and a program."""
    text = (ROOT / "tests/house/program.py.txt").read_text("utf-8")
    text = text.replace("FOLDER", "shard_map").replace("NAME", "varying")
    written(small.root, text, "examples/shard_map/varying.py")
    return small


@pytest.fixture
def course(tmp_path):
    """A book of one lesson, as `nox -s new` writes it."""
    (tmp_path / "docs").mkdir()
    index = "---\nbook:\n  short: A book\n---\n\n# A book\n\n"
    index += "```{toctree}\nlearn/mapped\n```\n"
    (tmp_path / "docs/index.md").write_text(index)
    scaffolded(tmp_path, "learn/mapped", "lesson")
    return Book(tmp_path)


def change(book, path, old, new):
    """Replace `old` by `new` in a file of `book`, where it must occur."""
    text = (book.root / path).read_text(encoding="utf-8")
    assert old in text
    (book.root / path).write_text(text.replace(old, new, 1), encoding="utf-8")
    return Book(book.root)


def test_what_the_templates_give_keeps_every_rule(small):
    found = [s for rule in BOOK_RULES for s in rule(small)] + advice.of_book(small)
    for name in small.page_names:
        page = small.page(name)
        found += [s for rule in rules_for(page) for s in rule(page)]
    for name in small.program_names:
        program = small.program(name)
        found += [s for rule in PROGRAM_RULES for s in rule(program)]
    assert not found, "\n" + "\n".join(found)


def test_what_the_templates_of_other_kernels_give_keeps_every_rule(tmp_path):
    (tmp_path / "docs").mkdir()
    index = INDEX.replace("shard_map/varying", "jit/ahead")
    (tmp_path / "docs/index.md").write_text(index.replace("vmap/options", "mesh/table"))
    scaffolded(tmp_path, "jit/ahead", kernel="target")
    scaffolded(tmp_path, "mesh/table", "look-up")
    test_what_the_templates_give_keeps_every_rule(Book(tmp_path))


def test_what_the_template_of_a_lesson_gives_keeps_every_rule(course):
    page = course.page("learn/mapped")
    found = [s for rule in BOOK_RULES for s in rule(course)]
    found += [s for rule in rules_for(page) for s in rule(page)]
    for name in course.program_names:
        program = course.program(name)
        found += [s for rule in PROGRAM_RULES for s in rule(program)]
    assert not found, "\n" + "\n".join(found)


PAGE = "docs/shard_map/varying.md"
HEAD = "## The lowest of all takes one pmin"
TASK = "## Here: exercise for varying: a task of ten minutes"
TABLE = "Here: an answer table or a figure, where the question is *which* or *where*."
ABOVE = "above_own_lowest(x)\n```"
LEAD = "TODO: the answer, in two".replace("TODO", "Here")
MAP = '@jax.shard_map(in_specs=P("data"), out_specs=P("data"))'
ENTRY = "## The mean of each column"
FIRST = """  - question: "Here: a question of a reader, in a reader's words"
    at: the-lowest-of-all-takes-one-pmin
"""
FIGURE = 'shards(x, alt="Eight devices; each holds two of sixteen numbers.")'
PLOT = "from book.draw import lines"
# rule: what is replaced on the page, by what, and a piece of the complaint
BAD = {
    house.it_has_a_short_title: [
        ("  short: ", "  # ", "no `short` in its front matter"),
    ],
    house.its_short_title_fits: [
        ("  short: ", "  short: a title that is rather long, ", "26 fit on a line"),
    ],
    house.no_typed_outputs: [
        (ABOVE, "x  # -> (16,)\n```", "an output is typed: # -> (16,)"),
        (ABOVE, "x.shape  # prints (16,)\n```", "an output is typed: # prints"),
        (ABOVE, "x  # Array([1., 2.])\n```", "an output is typed: # Array"),
        (TABLE, "It shows ShardedDeviceArray([1.]).", "typed into the text"),
        (TABLE, "```\n16\n```", "a fence of plain text is never run"),
        (TABLE, "```python\nf()\n```", "a fence of python is never run"),
    ],
    house.pictures_have_words: [
        (FIGURE, "shards(x)", "`shards(...)` has no alt"),
        (FIGURE, 'shards(x, alt=" ")', "`shards(...)` has no alt"),
        (FIGURE, f"{PLOT}\nlines({{}}, x='rows', y='B')", "`lines(...)` has no alt"),
        (TABLE, "![](a.svg)", "an image has no alternative text"),
        (TABLE, "```{image} a.svg\n:width: 9\n```", "an image has no :alt:"),
    ],
    house.page_axes: [
        ('((8,), ("data",)', '((8,), ("x",)', "an axis is called 'x'"),
        ('P("data"))   ', 'P(None, ("data", "i")))   ', "an axis is called 'i'"),
        (ABOVE, 'jax.lax.psum(x, "foo")\n```', "an axis is called 'foo'"),
        (ABOVE, 'jax.vmap(abs, axis_name="b")(x)\n```', "an axis is called 'b'"),
    ],
    house.page_is_calm: [
        (TABLE, "You can simply run it.", "'simply' says nothing"),
        (TABLE, "Note\nthat it runs.", "'Note that' says nothing"),
    ],
    house.page_is_written: [(TABLE, "TODO", "a TODO is left")],
    page_rules.it_begins_with_the_answer: [
        (LEAD, ":::{admonition} In one breath\n:::\n\n" + LEAD, "does not begin with"),
    ],
    page_rules.its_first_code_is_in_view: [
        ("```{code-cell}", "```{code-cell}\n:tags: [hide-input]", "is folded away"),
    ],
    page_rules.it_has_one_title: [
        ("# Here: a title", "## Here: a title", "the page has 0 titles, not one"),
    ],
    page_rules.it_sets_eight_devices: [
        (page_rules.EIGHT, "", "the first code that imports JAX does not ask for"),
    ],
    page_rules.code_comes_soon: [
        (LEAD, "word " * 150 + LEAD, "words before the first code; 150 are usual"),
    ],
    page_rules.lessons_are_short: [
        (ABOVE, "x" * 81 + "\n" + ABOVE, "a line of 81 columns; 80 is usual"),
        (ABOVE, "x\n" * 11 + ABOVE, "a lesson has 16 lines of code; 15 is usual"),
        (TABLE, "word " * 900, "words of prose; 900 is usual"),
        (
            TABLE,
            "```{code-cell}\nx\n```\n\n" * 9,
            "lessons on one page; 12 is usual",
        ),
    ],
    page_rules.headings_say_something: [
        (TASK, "## See it", "the heading 'See it' could stand on any page"),
        (TASK, "## Overview", "the heading 'Overview' could stand on any page"),
    ],
    page_rules.it_ends_with_a_card: [
        ("In short", "Keep", "there is no box 'In short'"),
        ("- Here: two to four lines for a card.\n", "", "'In short' has 1 lines"),
    ],
    page_rules.checks_prove: [
        ("assert np.array_equal(above_lowest", "(above_lowest", "asserts nothing"),
    ],
    page_rules.names_are_in_view: [
        (ABOVE, "from examples.spine import center\n" + ABOVE, "imports from examples"),
        (ABOVE, "import pandas\n" + ABOVE, "a lesson imports from pandas"),
        (
            ABOVE,
            "from examples.spine import center\n"
            + ABOVE
            + "\n```{literalinclude} ../../examples/spine.py\n:pyobject: center\n```\n",
            "imports from examples",
        ),
    ],
    page_rules.specs_are_written_out: [
        (MAP, "@jax.shard_map(**specs)", "hides its arguments behind `**`"),
    ],
    page_rules.words_are_jaxs: [
        (TASK, "## Each lane does it", "'lane' is not JAX's word; say example"),
        (TABLE, "On the way back it is summed.", "'the way back' is not JAX's word"),
    ],
    page_rules.links_and_tables_can_be_read_aloud: [
        (TABLE, "[the {term}`mesh` here](x.md)", "'[the {term}`mesh` here](' would"),
        (TABLE, "| | b |\n| --- | --- |\n| a | b |", "a column of this table has no"),
    ],
    page_rules.a_note_is_referred_to_once: [
        (TABLE, "One.[^a] Two.[^a]\n\n[^a]: A.", "[^a] stands here a second time"),
    ],
    page_rules.it_answers_questions: [
        (FIRST, "", "the page declares 1 questions; 2 or more"),
    ],
    page_rules.what_a_compiler_chose_is_guarded: [
        (ABOVE, f"{code}\n{ABOVE}", f"`{code.splitlines()[-1].strip()}` asserts for")
        for code in (
            "assert sends(f.lower(x))[0].kind == 'all-reduce'",
            "assert all((one.operand == 4 for one in sends(f.lower(x))))",
            "[sent] = sends(f.lower(x))",
            "found = sends(f.lower(x))\nassert len(found) == 1",
            "def kinds(f):\n    return sends(f)\nassert kinds(f) == {1}",
            "one = jax.jit(f).lower(x).compile()\nassert 'fusion' in one.as_text()",
            "held = f.lower(x).compile().memory_analysis()\nassert held.temp == 8",
            "if x:\n    for one in sends(f):\n        assert one.moved < 9",
        )
    ],
}


def cases(table):
    """Return a case for each rule and change of `table`, named after the complaint."""
    return [
        pytest.param(rule, old, new, says, id=f"{name_of(rule)}: {says}")
        for rule, changes in table.items()
        for old, new, says in changes
    ]


def test_every_rule_for_a_page_or_a_program_is_broken_below():
    fails = {*PAGE_RULES, *page_rules.RULES, *page_rules.REFERENCE_RULES}
    told = {*house.PAGE_ADVICE, *page_rules.ADVICE, *page_rules.REFERENCE_ADVICE}
    assert set(BAD) == fails | told
    assert set(BAD_LESSONS) == {*page_rules.LESSON_RULES, *page_rules.LESSON_ADVICE}
    assert set(BAD_PROGRAMS) == {*PROGRAM_RULES, *house.PROGRAM_ADVICE}
    assert not fails & told


def complaint(book, rule, old, new, says):
    """Return the complaint of `rule` that has `says` in it, after a change."""
    page = change(book, PAGE, old, new).page("shard_map/varying")
    found = [sentence for sentence in rule(page) if says in sentence]
    assert found, rule(page)
    return found[0]


@pytest.mark.parametrize(("rule", "old", "new", "says"), cases(BAD))
def test_a_rule_objects_to_a_page(small, rule, old, new, says):
    path, line, _ = complaint(small, rule, old, new, says).split(":", 2)
    assert path == PAGE
    assert 1 <= int(line) <= len(Path(small.root / PAGE).read_text().splitlines())


TAUGHT = "docs/learn/mapped.md"
LINK = "the [page](../start/your_hardware.md)"
CHECKS = "from examples.exercises.mapped import check"
BAD_LESSONS = {
    page_rules.a_lesson_needs_no_book: [
        ("import jax\n", "import pandas\n", "imports from pandas"),
        ("import jax\n", "from examples.spine import center\n", "from examples.spine"),
        ("import jax\n", "from examples.tools.timing import x\n", "examples.tools"),
        (CHECKS, CHECKS.replace("check", "solution"), "from examples.exercises.mapped"),
    ],
    page_rules.it_lists_its_program: [
        ("learn/mapped.py\n", "learn/mapped.py\n:pyobject: main\n", "no whole program"),
        ("examples/learn/", "examples/train/", "no whole program"),
    ],
    page_rules.it_lets_the_reader_guess: [
        ("{admonition} Guess", "{admonition} Think", "called 'Guess': 1; 2 or more"),
    ],
    page_rules.it_says_where_to_look_it_up: [
        ("{admonition} Look it up", "{admonition} More", "no box 'Look it up'"),
    ],
    page_rules.it_has_an_exercise: [(CHECKS, "check = abs", "no cell has `from exam")],
    page_rules.a_lesson_takes_half_an_hour: [
        ("## In other words", "## In other words", "words; 900 to 1,600 are usual"),
        ("## In other words", "word " * 1601, "words; 900 to 1,600 are usual"),
    ],
    page_rules.a_lesson_stands_alone: [
        ("## In other words", f"{LINK} {LINK} {LINK}\n{LINK}", "4 links lead out"),
    ],
}


@pytest.mark.parametrize(("rule", "old", "new", "says"), cases(BAD_LESSONS))
def test_a_rule_objects_to_a_lesson(course, rule, old, new, says):
    page = change(course, TAUGHT, old, new).page("learn/mapped")
    [found] = rule(page)
    assert says in found
    path, line, _ = found.split(":", 2)
    assert path == TAUGHT
    assert 1 <= int(line) <= len(page.text.splitlines())


def test_links_within_the_course_and_in_its_last_box_are_welcome(course):
    near = "[a](which_axis.md) [b](../learn/index.md) [c](https://a.b/c.md) [d](#e)"
    change(course, TAUGHT, "## In other words", f"{near} {LINK} {LINK} {LINK}")
    book = change(course, TAUGHT, "- Here: the pages", f"- {LINK}\n- {LINK}\n- more")
    assert page_rules.a_lesson_stands_alone(book.page("learn/mapped")) == []


def test_a_lesson_of_a_usual_length_gets_no_advice(course):
    book = change(course, TAUGHT, "## In other words", "word " * 900)
    assert page_rules.a_lesson_takes_half_an_hour(book.page("learn/mapped")) == []
    folded = "def below(x, highest):"
    change(course, TAUGHT, folded, "y = 1\n" * 40 + folded)
    told = [s for s in advice.of_page(course.page("learn/mapped")) if "lines of" in s]
    assert told == []


def test_lessons_are_not_asked_for_a_card_or_an_answer_in_front(course):
    box = ":::{admonition} Before you begin\n:::\n\nHere: the problem first"
    before = advice.of_page(course.page("learn/mapped"))
    page = change(course, TAUGHT, "Here: the problem first", box).page("learn/mapped")
    assert [s for rule in rules_for(page) for s in rule(page)] == []
    assert len(advice.of_page(page)) == len(before)


def test_lessons_are_advised_and_may_have_the_same_headings(course):
    assert any("900 to 1,600" in one for one in advice.of_book(course))
    text = (course.root / TAUGHT).read_text(encoding="utf-8")
    (course.root / "docs/learn/again.md").write_text(text, encoding="utf-8")
    assert page_rules.headings_are_unique(Book(course.root)) == []


@pytest.mark.parametrize(
    "held",
    [
        'if jax.default_backend() == "cpu":\n    [one] = sends(f)\n    assert one == 4',
        'cpu = jax.default_backend() == "cpu"\nassert len(sends(f)) == 1 or not cpu',
        "assert sends(f) == [] and sends(g) != []",
        "assert x.any()\nassert sends(f)",
        "assert 'stablehlo' in jax.jit(f).lower(x).as_text()",
        "found = sends(f)\nfound = [2]\nassert found == [2]",
        "one = jax.jit(f).lower(x).compile()\nassert one(x) == 2",
    ],
)
def test_what_all_compilers_agree_on_needs_no_guard(small, held):
    page = change(small, PAGE, ABOVE, f"{held}\n{ABOVE}").page("shard_map/varying")
    assert page_rules.what_a_compiler_chose_is_guarded(page) == []


def test_an_entry_of_a_look_up_page_has_two_lessons_at_most(small):
    more = ENTRY + "\n\n```{code-cell}\nx\n```\n\n```{code-cell}\nx\n```"
    book = change(small, "docs/vmap/options.md", ENTRY, more)
    [found] = page_rules.lessons_are_short(book.page("vmap/options"))
    assert "an entry has 3 lessons; 2 is usual" in found


def test_code_without_jax_may_stand_above_the_devices(small):
    above = "```{code-cell}\nx = 1\nx\n```\n\n```{code-cell}"
    book = change(small, PAGE, "```{code-cell}", above)
    assert page_rules.it_sets_eight_devices(book.page("shard_map/varying")) == []


def test_a_heading_that_stands_on_two_pages_is_told(small):
    change(small, "docs/vmap/options.md", "at: the-mean-of-each-column", "at: x")
    change(small, "docs/vmap/options.md", ENTRY, HEAD)
    at = "at: the-lowest-of-all-takes-one-pmin"
    book = change(small, "docs/vmap/options.md", "at: x", at)
    [found] = page_rules.headings_are_unique(book)
    assert f"is the heading of {PAGE}:" in found


def test_a_question_that_one_page_answers_twice_is_an_error(small):
    [found] = page_rules.questions_are_unique(change(small, PAGE, FIRST, FIRST + FIRST))
    assert "a question of a reader" in found
    assert "is answered on shard_map/varying too" in found


def test_a_question_that_two_pages_answer_is_an_error(small):
    asked = "Here: a question of a reader, in a reader's words"
    change(
        small,
        "docs/vmap/options.md",
        "Here: what somebody else asks, on the same list",
        asked,
    )
    [found] = page_rules.questions_are_unique(small)
    assert "is answered on shard_map/varying too" in found


def test_a_chapter_whose_questions_are_not_collected_is_an_error(small):
    lists = small.root / "docs/evidence/questions.md"
    lists.parent.mkdir()
    lists.write_text("# Asked\n\n```{questions} vmap\n```\n")
    [found] = page_rules.questions_are_collected(Book(small.root))
    assert found.endswith("it lacks ```{questions} shard_map```")
    lists.write_text(lists.read_text() + "\n```{questions} shard_map\n```\n")
    assert page_rules.questions_are_collected(Book(small.root)) == []


def test_advice_is_a_list_that_fails_nothing(small, capsys):
    change(small, PAGE, TABLE, "word " * 900)
    change(small, "docs/vmap/options.md", ENTRY, "## See it")
    change(small, "docs/vmap/options.md", "the-mean-of-each-column", "see-it")
    assert advice.main([], small.root) == 0
    told = capsys.readouterr().out
    assert "900 is usual" in told and "could stand on any page" in told
    assert told.endswith("2 pieces of advice; none has to be followed.\n")
    assert advice.main(["vmap/options"], small.root) == 0
    told = capsys.readouterr().out
    assert "900 is usual" not in told and "could stand on any page" in told
    assert "\n1 piece of advice;" in told


def test_a_long_copy_and_a_long_program_are_told(small):
    change(small, PAGE, ABOVE, "y = 1\n" * 81 + ABOVE)
    trains = small.root / "examples/train/long.py"
    trains.parent.mkdir()
    trains.write_text("x = 1\n" * 121)
    [copy, *_] = advice.copies_are_short(small)
    assert copy.startswith(f"{PAGE}:") and "80 are many" in copy
    [program] = advice.training_is_read_in_one_go(Book(small.root))
    assert "it has 121 lines" in program


def test_programs_of_which_half_are_long_are_told(small, monkeypatch):
    monkeypatch.setattr(advice, "SHORT_PROGRAM", 3)
    [told] = advice.copies_are_short(small)
    assert told.startswith("docs/:1: half of all programs have more than ")


def test_a_word_of_the_list_that_is_used_and_not_linked_is_told(small):
    words = "# Words\n\n```{glossary}\nlowest\n  The least.\n\nminimum\n  Too.\n```\n"
    (small.root / "docs/words.md").write_text(words)
    found = page_rules.first_uses_lead_to_the_words(small)
    assert [text.rsplit(":", 1)[1] for text in found] == [
        " 'minimum' is first used here; write {term}`minimum`."
    ]
    change(small, PAGE, "the minimum of one", "the {term}`minimum` of one")
    assert page_rules.first_uses_lead_to_the_words(small) == []


def test_words_of_programs_and_of_the_front_door_are_told(program):
    path = "examples/shard_map/varying.py"
    book = change(program, path, "sixteen whole", "just sixteen whole")
    (book.root / "README.md").write_text("# A book\n\nIt is simply a book.\n")
    assert any("'just' says nothing" in one for one in advice.of_book(book))
    [found] = advice.front_door_is_calm(book)
    assert found.startswith("README.md:3: 'simply' says nothing")


def test_a_private_word_in_what_a_mistake_says_of_itself_is_told(small):
    exercise = small.root / "examples/exercises/lanes.py"
    exercise.parent.mkdir(parents=True, exist_ok=True)
    exercise.write_text('def mistake_adds(x):\n    """It adds over\n    lanes."""\n')
    [found] = page_rules.exercises_say_jaxs_words(small)
    assert found.startswith("examples/exercises/lanes.py:1: 'lanes' is not JAX's word")
    exercise.write_text('def mistake_adds(x):\n    """It adds over examples."""\n')
    assert page_rules.exercises_say_jaxs_words(small) == []


def test_a_page_that_asserts_nothing_is_an_error(small):
    lines = (small.root / PAGE).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("assert ")]
    (small.root / PAGE).write_text("\n".join(kept) + "\n", encoding="utf-8")
    found = page_rules.checks_prove(small.page("shard_map/varying"))
    assert found[0].endswith("the page asserts nothing.")


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
    house.no_type_comments: [
        (
            "lowest = lax",
            "# float32[2]: a type\n        lowest = lax",
            "nothing verifies",
        ),
    ],
    house.content_imports_pictures_only: [
        ("import jax\n", "import jax\nfrom book.pages import read\n", "of the engine"),
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
def test_a_rule_objects_to_a_bad_program(program, rule, old, new, says):
    path = "examples/shard_map/varying.py"
    book = change(program, path, old, new)
    [found] = rule(book.program("shard_map/varying"))
    assert says in found
    assert found.startswith(f"{path}:")


def test_a_program_that_an_exercise_or_a_table_needs_is_shown(small):
    for name in "taken", "compiled":
        (small.root / f"examples/{name}.py").write_text('"""A part."""\n')
    assert len(house.programs_are_shown(Book(small.root))) == 2
    exercise = small.root / "examples/exercises/varying.py"
    exercise.write_text(exercise.read_text() + "\nfrom examples.taken import x\n")
    page = small.root / PAGE
    page.write_text(page.read_text() + "\n```{compiled} compiled\n```\n")
    assert house.programs_are_shown(Book(small.root)) == []


def test_a_program_that_no_page_shows_is_an_error(small):
    (small.root / "examples/alone.py").write_text('"""Nobody sees this."""\n')
    [found] = house.programs_are_shown(small)
    assert found.startswith("examples/alone.py:1: no page lists it")


def test_a_page_that_no_toctree_leads_to_is_an_error(small):
    (small.root / "docs/shard_map/lost.md").write_text("# Lost\n")
    found = house.pages_are_reachable(small)
    assert found == ["docs/shard_map/lost.md:1: no toctree leads to it."]


def test_a_short_title_that_a_chapter_has_twice_is_an_error(small):
    called = "Here, varying"
    book = change(small, "docs/vmap/options.md", "Here, options", called)
    [found] = house.short_titles_are_unique(book)
    assert found.endswith("shard_map/varying is called 'here, varying' too.")


def test_a_toctree_below_the_index_leads_on(small):
    (small.root / "docs/shard_map/far.md").write_text("# Far\n")
    (small.root / "docs/words.md").write_text("# Words\n")
    more = f"```{{toctree}}\n:hidden:\n\nFar away <far>\n/words\n```\n\n{HEAD}"
    book = change(small, PAGE, HEAD, more)
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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('"""M."""\nfrom examples.spine import center\n', "imports examples.spine"),
        ("x = 1\n", "the module has no docstring"),
    ],
)
def test_a_curious_module_of_the_engine_is_an_error(text, says):
    [found] = house.engine_rules(text, "docs/book/x.py")
    assert says in found
