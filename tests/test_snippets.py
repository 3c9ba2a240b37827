"""A copied program runs alone in an empty folder, and prints what its page shows."""

import ast
import os
import re
import subprocess
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

from book.html import release_diff
from book.snippets.slicer import Slicer, programs
from book.source.model import Cell, Page
from tests.house.book import Book
from tests.launcher import Ended
from tests.page_output import as_shown, difference, message, unmarked, wrong_copies

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BOOK = Book(ROOT)
LIMIT = 300  # seconds after which a program hangs
LAUNCH = ROOT / "examples" / "scale" / "launch.py"
JOINS = re.compile(
    r"^(    |    else:\n +)jax\.distributed\.initialize\(\)", re.MULTILINE
)


PAGES = [name for name in BOOK.page_names if BOOK.page(name).cells]
SLICER = Slicer((ROOT, DOCS))


def programs_of(name: str) -> dict[str, str]:
    """The program of each lesson and listing of a page, by the page and its own name.

    What is wrong with one, the test of its page says.
    """
    found = programs(BOOK.page(name), SLICER, lambda problem: None)
    return {f"{name}/{which}": text for which, text in found.items()}


PROGRAMS = {which: text for name in PAGES for which, text in programs_of(name).items()}
MESSAGES = release_diff.kept(DOCS).get(version("jax"), {})


def test_there_are_programs():
    assert len(PROGRAMS) > 50


def raises(page: Page, which: str) -> str | None:
    """What the cell called `which`, such as "cell3", of `page` is meant to raise."""
    cells = {f"cell{cell.number}": cell for cell in page.cells}
    return cells[which].raises if which in cells else None


def shown(name: str) -> tuple[str, bool]:
    """Return the code that the program `name` is a copy of, and whether it raises."""
    page_name, _, which = name.rpartition("/")
    page = BOOK.page(page_name)
    if which.startswith("cell"):
        cell = page.cells[int(which.removeprefix("cell")) - 1]
        return cell.source, bool(cell.raises)
    listing = page.listings[int(which.removeprefix("listing")) - 1]
    return listing.path.read_text(encoding="utf-8"), False


def unused(program: str, own: str) -> list[str]:
    """Return what `program` imports, or defines for its `own` code, and never uses.

    A method of what is used may register a function, and a name of several that one
    statement binds may be left over.  A cell that only imports is copied as it is.
    """
    tree, found = ast.parse(program), []
    body = ast.parse(own).body
    if all(isinstance(one, ast.Import | ast.ImportFrom) for one in body):
        return []
    lesson = {ast.unparse(statement) for statement in body}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {name.id for name in names if not isinstance(name.ctx, ast.Store)}
    for statement in tree.body:
        rules = getattr(statement, "decorator_list", [])
        if isinstance(statement, ast.Import | ast.ImportFrom):
            bound = {a.asname or a.name.split(".")[0] for a in statement.names}
            found += bound - used
        elif ast.unparse(statement) in lesson or any(map(_is_method, rules)):
            continue
        elif (bound := _bound(statement)) and not bound & used:
            found += bound
    return sorted(found)


def _is_method(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Attribute) and decorator.attr.startswith("def")


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


@pytest.mark.parametrize(
    ("above", "found"),
    [
        ("import jax", ["jax"]),
        ("import numpy as np", ["np"]),
        ("from jax import P, lax as l", ["P", "l"]),
        ("def f(x):\n    return x", ["f"]),
        ("y = 3", ["y"]),
        ("y = x = 3", []),
        ("import math\nx = math.pi", []),
        ("@x.def_vmap\ndef rule(x):\n    return x", []),
    ],
)
def test_a_name_that_a_copy_does_not_use_is_found(above, found):
    assert unused(f"{above}\nz = x", "z = x") == found
    assert unused("y = 3\nz = x", "y = 3\nz = x") == []
    assert unused("import jax\nimport os", "import jax, os") == []


def test_no_copy_has_a_name_that_nothing_uses():
    """But for a cell whose error is that there is no such name to import."""
    found = {}
    for name, program in PROGRAMS.items():
        own, raises = shown(name)
        if raises and "import" in own:
            continue
        if left := unused(program, own):
            found[name] = left
    assert not found


HAND_MADE = 0.08  # of all copies have lines that a page breaks as it reads best


def test_a_formatter_finds_nothing_to_do_in_a_copy(tmp_path):
    """But where a page breaks a line by hand; and then it means the same."""
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.is_file():
        pytest.skip("ruff is not installed: nox -s tests has it")
    paths = {}
    for number, program in enumerate(PROGRAMS.values()):
        paths[tmp_path / f"{number}.py"] = program
        (tmp_path / f"{number}.py").write_text(program, encoding="utf-8")
    settings = ("--config", str(ROOT / "pyproject.toml"), "--no-cache", "--quiet")
    subprocess.run([ruff, "format", *settings, tmp_path], check=True)
    formatted = {p: path.read_text("utf-8") for path, p in paths.items()}
    other = {p: text for p, text in formatted.items() if p != text}
    assert len(other) <= HAND_MADE * len(formatted)
    for program, text in other.items():
        assert ast.dump(ast.parse(program)) == ast.dump(ast.parse(text))


def run_together(program: str, folder: Path) -> Ended:
    """Run `program` as its page says, in two processes."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, str(LAUNCH), "2", "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", PAGES)
def test_what_is_copied_prints_what_the_page_shows(launcher, name, tmp_path):
    def run(which: str, program: str) -> Ended:
        joins = which != "script" and JOINS.search(program)
        if joins and not raises(page, which):
            return run_together(program, tmp_path)
        ended = launcher.finish(program, LIMIT)
        if other := in_other_words(message_of(f"{name}/{which}"), unmarked(ended.out)):
            with warnings.catch_warnings():
                warnings.simplefilter("always")  # to be told, and no failure
                told = f"{name}/{which} is not as kept:\n{other}"
                warnings.warn(told, stacklevel=2)
        assert "verified on JAX" not in ended.err
        return ended

    page = BOOK.page(name)
    wrong = list(wrong_copies(page, SLICER, version("jax"), run))
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)


@pytest.mark.parametrize(
    ("raises", "shown", "printed", "found"),
    [
        (None, "1\n2\n", "1\n2\n", ""),
        (None, "1\n2\n", "1\n3\n", "- 2\n+ 3"),
        (None, "1\n", "", "- 1"),
        ("ValueError", "a\nValueError: b\n", "a\nValueError: b\n", ""),
        ("ValueError", "a\nValueError: b\n", "ValueError: b\n", "- a"),
        (
            "ValueError",
            "ValueError: b in /a/b.py:3\n",
            "ValueError: b in /c.py:9\n",
            "",
        ),
        (
            "ValueError",
            "ValueError: 3\n",
            "ValueError: 4\n",
            "- ValueError: 3\n+ ValueError: 4",
        ),
        (
            "ValueError",
            "ValueError: 3\n",
            "TypeError: 3\n",
            "- ValueError: 3\n+ TypeError: 3",
        ),
    ],
)
def test_any_difference_but_the_place_of_an_error_is_found(
    raises, shown, printed, found
):
    cell = Cell(1, 1, "", raises=raises)
    assert difference(*(as_shown(cell, text) for text in (shown, printed))) == found


def message_of(name: str) -> str | None:
    """Return what was kept of the message of a program, a cell of the shelf of errors.

    None where nothing was, on this JAX, or where the cell raises nothing.
    """
    page, _, which = name.rpartition("/")
    known = MESSAGES.get(page)
    if not known or not which.startswith("cell"):
        return None
    read_page = BOOK.page(page)
    cell = read_page.cells[int(which.removeprefix("cell")) - 1]
    return known.get(release_diff.code(read_page, cell)) if cell.raises else None


def in_other_words(kept: str | None, said: str) -> str:
    """Return the difference of a message from what a program printed of it.

    A program prints it, or its first line, last of all.
    """
    if kept is None or not said.strip():
        return ""
    kind = kept.partition(":")[0]
    last = (
        said[said.rfind(f"{kind}:") :]
        if f"{kind}:" in said
        else said.strip().split("\n")[-1]
    )
    printed, whole = message(last.strip().splitlines()[0]), " ".join(kept.split())
    return "" if whole.startswith(printed) else f"- {whole}\n+ {printed}"


def test_a_message_in_other_words_is_told():
    kept = "ValueError: vmap got sizes that differ, and they are\nmany:\n  * one"
    said = "ready\nValueError: vmap got sizes that differ, and they are many:\n"
    assert in_other_words(kept, said) == ""
    assert in_other_words(None, said) == ""
    assert in_other_words(kept, f"{said}  * one\n") == ""
    assert in_other_words(kept, "ready\n").endswith("+ ready")
    assert in_other_words(kept, said.replace("differ", "do not agree")).startswith(
        "- ValueError: vmap got sizes that differ, and they are many: * one\n+ Value"
    )


def test_messages_that_were_kept_are_found():
    for page in MESSAGES:
        cells = release_diff.raising(BOOK.page(page))
        copied = [one for c in cells if (one := f"{page}/cell{c.number}") in PROGRAMS]
        assert not copied or any(map(message_of, copied)), f"{page}: nox -s outputs"


def test_some_run_in_an_interpreter_of_their_own_just_as_well(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    env["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS", "")
    for name in list(PROGRAMS)[:: max(1, len(PROGRAMS) // 8)]:
        page, _, which = name.rpartition("/")
        error = raises(BOOK.page(page), which)
        path = tmp_path / "program.py"
        path.write_text(PROGRAMS[name], encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-P", str(path)],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == bool(error), (name, done.stderr)
        if error:
            assert error.partition(":")[0] in done.stderr
