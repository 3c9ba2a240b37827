"""The book keeps its rules, and each rule is broken in some test."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from tests.house import advice, rules
from tests.house.book import Book
from tests.house.conftest import INDEX, name_of, scaffolded
from tests.house.rules import BOOK_RULES, PROGRAM_RULES, rules_of

BOOK = Book(Path(__file__).parents[2])


@pytest.mark.parametrize("name", BOOK.page_names)
def test_every_page_keeps_the_rules(name):
    page = BOOK.page(name)
    found = [sentence for rule in rules_of(page) for sentence in rule(page)]
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


def test_what_the_templates_give_keeps_every_rule(small):
    found = [s for rule in BOOK_RULES for s in rule(small)] + advice.of_book(small)
    for name in small.page_names:
        page = small.page(name)
        found += [s for rule in rules_of(page) for s in rule(page)]
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
    found += [s for rule in rules_of(page) for s in rule(page)]
    for name in course.program_names:
        program = course.program(name)
        found += [s for rule in PROGRAM_RULES for s in rule(program)]
    assert not found, "\n" + "\n".join(found)


def broken(table: str) -> set[Callable]:
    """Return the rules that the tests of this folder break in tables of that name."""
    names = [path.stem for path in Path(__file__).parent.glob("test_*.py")]
    modules = [import_module(f"tests.house.{name}") for name in names]
    return {rule for module in modules for rule in getattr(module, table, ())}


def test_every_rule_for_a_page_or_a_program_is_broken_on_purpose():
    fails = {*rules.PAGE_RULES, *rules.TEACHING_RULES, *rules.REFERENCE_RULES}
    told = {*rules.PAGE_ADVICE, *rules.TEACHING_ADVICE, *rules.REFERENCE_ADVICE}
    assert broken("BAD_PAGES") == fails | told
    assert broken("BAD_LESSONS") == {*rules.LESSON_RULES, *rules.LESSON_ADVICE}
    assert broken("BAD_PROGRAMS") == {*PROGRAM_RULES, *rules.PROGRAM_ADVICE}
    assert not fails & told
