"""Each rule for the shelf of errors objects when it is broken."""

import json

import pytest

from book.html.release_diff import code, raising
from book.scaffold import new as scaffold
from book.source.parser import read
from tests.house import error_pages
from tests.house.book import Book
from tests.house.rules import ERROR_PAGE_RULES, rules_of

PAGE = "docs/errors/rank.md"
INDEX = "# A book\n\n```{toctree}\nerrors/rank\nerrors/which\n```\n"
LISTS = "# Which\n\n```{messages} called\n```\n\n```{messages} words\n```\n"
RAISED = 'raised: "ValueError: vmap was requested to map its argument along axis, which'
LEARNT = "(../start/your_hardware.md)"
BAD = {
    error_pages.it_is_about_a_message: [("error:\n", "other:\n", "has no `error:`")],
    error_pages.the_title_has_the_words: [
        ('"vmap was requested to map its argument along axis, which implies that its '
         'rank should be at least"\n\n', '"an axis is lacking"\n\n',
         "the title lacks words of the message: "),
    ],
    error_pages.the_words_are_raised: [
        (RAISED, 'raised: "ValueError: which vmap was requested', "has these words"),
        (RAISED, 'raised: "ValueError: vmap was asked', "has these words"),
    ],
    error_pages.what_a_cell_declares_was_raised: [
        ('raises: "ValueError: vmap was', 'raises: "ValueError: vmap is', "vmap is"),
        ('raises: "ValueError: vmap', 'raises: "TypeError: vmap', "the words 'TypeE"),
    ],
    error_pages.it_leads_to_a_page_that_teaches: [
        (LEARNT, "(inconsistent_sizes.md)", "no link to a page that"),
        (LEARNT, "(../evidence/timeline.md)", "no link to a page that"),
        ("[devices]", "Eight devices: [devices]", "no link to a page that"),
    ],
    error_pages.it_ends_with_other_causes: [
        (":::{admon", "## Another cause\n\n:::{admon", "none of these causes"),
        ("## If every", "### If every", "none of these causes"),
    ],
    error_pages.what_was_called_exists: [
        ("[jax.vmap]", "[jax.vmap, jax.vmop]", "there is no jax.vmop, and gone.md"),
        ("[jax.vmap]", "[jax.vmap.deep]", "there is no jax.vmap.deep"),
        ("[jax.vmap]", "[jacks.vmap]", "there is no jacks.vmap"),
    ],
}  # fmt: skip


@pytest.fixture
def small(tmp_path):
    """A book of one message and of the page that lists it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(INDEX)
    scaffold.create(tmp_path, "errors/rank", "vmap was requested to map")
    text = (tmp_path / PAGE).read_text().replace("TODO", "Here")
    (tmp_path / PAGE).write_text(text)
    (tmp_path / "docs/errors/which.md").write_text(LISTS)
    page = read(tmp_path / PAGE, "errors/rank")
    message = "ValueError: vmap was requested to map its argument 1 along axis 0,\n"
    message += "which implies that its rank should be at least 1, but is only 0"
    kept = {"errors/rank": {code(page, cell): message for cell in raising(page)}}
    (tmp_path / "docs/evidence/outputs").mkdir(parents=True)
    (tmp_path / "docs/evidence/outputs/0.1.json").write_text(json.dumps(kept))
    return Book(tmp_path)


def test_what_the_template_gives_keeps_every_rule(small):
    page = small.page("errors/rank")
    assert [sentence for rule in rules_of(page) for sentence in rule(page)] == []
    assert error_pages.every_message_is_listed(small) == []
    assert error_pages.it_is_about_a_message(small.page("errors/which")) == []


def test_every_rule_for_a_page_is_broken_below():
    assert set(BAD) == set(ERROR_PAGE_RULES)


CASES = [(rule, *case) for rule, cases in BAD.items() for case in cases]


@pytest.mark.parametrize(("rule", "old", "new", "says"), CASES)
def test_a_rule_objects(small, rule, old, new, says):
    text = (small.root / PAGE).read_text()
    assert old in text
    (small.root / PAGE).write_text(text.replace(old, new, 1))
    [found] = rule(small.page("errors/rank"))
    assert says in found
    assert found.startswith(f"{PAGE}:")


def test_of_what_only_warns_nothing_is_kept(small):
    text = (small.root / PAGE).read_text()
    text = text.replace(RAISED, 'raised: "UserWarning: Some donated buffers')
    (small.root / PAGE).write_text(text)
    assert error_pages.the_words_are_raised(small.page("errors/rank")) == []


def test_a_page_without_an_error_says_what_is_seen(small):
    silent = 'raised: "no error; a row comes twice / '
    text = (small.root / PAGE).read_text().replace('raised: "', silent)
    text = text.replace("[jax.vmap]", "[print]")
    (small.root / PAGE).write_text(text)
    page = small.page("errors/rank")
    assert [sentence for rule in ERROR_PAGE_RULES for sentence in rule(page)] == []


def test_a_new_page_is_not_asked_for_what_was_kept(small):
    (small.root / "docs/evidence/outputs/0.1.json").write_text("{}")
    text = (small.root / PAGE).read_text().replace(RAISED, 'raised: "OddError: odd')
    (small.root / PAGE).write_text(text)
    assert error_pages.the_words_are_raised(small.page("errors/rank")) == []


def test_a_name_that_is_gone_may_have_been_called(small):
    text = (small.root / PAGE).read_text().replace("[jax.vmap]", "[jax.vmop]")
    (small.root / PAGE).write_text(text)
    (small.root / "docs/errors/gone.md").write_text("# Gone\n\n`jax.vmop` is gone.\n")
    assert error_pages.what_was_called_exists(small.page("errors/rank")) == []


def test_a_message_that_is_not_listed_is_an_error(small):
    (small.root / "docs/errors/which.md").write_text(LISTS.replace("words", "called"))
    [found] = error_pages.every_message_is_listed(Book(small.root))
    assert found == "docs/errors/:1: no page has ```{messages} words```"


def test_a_message_on_another_shelf_is_an_error(small):
    text = (small.root / PAGE).read_text()
    (small.root / "docs/rank.md").write_text(text)
    [found] = error_pages.every_message_is_listed(Book(small.root))
    assert found.startswith("docs/rank.md:1: it has an `error:`")


RAISES = """---
file_format: mystnb
kernelspec: {{name: target}}
book: {{kind: look-up, budget: 20, short: raised}}
---

# Raised

```{{code-cell}}
:raises: "{declared}"
{code}
```

```{{code-cell}}
:check:
assert True
```
"""


@pytest.mark.parametrize(
    ("code_", "said", "count"),
    [
        ("jax.vmap(f)(1)", "ValueError: vmap was requested to map its argument", 1),
        ("jax.vmap(f)(1)", "TypeError: of another type, argument and rank", 1),
        ("from examples.exercises.rank import check", "TypeError: do it", 0),
    ],
)
def test_what_another_page_raises_has_a_page_of_the_shelf(small, code_, said, count):
    path = small.root / "docs/teaches.md"
    path.write_text(RAISES.format(declared=said.partition(",")[0], code=code_))
    kept = small.root / "docs/evidence/outputs/0.1.json"
    [cell] = raising(page := read(path, "teaches"))
    there = json.loads(kept.read_text()) | {"teaches": {code(page, cell): said}}
    kept.write_text(json.dumps(there))
    found = error_pages.what_pages_raise_is_on_the_shelf(Book(small.root))
    assert len(found) == count
    where = f"docs/teaches.md:{cell.line}: no page of docs/errors/ is about"
    assert all(one.startswith(where) for one in found)


def test_what_the_shelf_is_about_is_found_on_another_page(small):
    text = (small.root / PAGE).read_text()
    (small.root / "docs/teaches.md").write_text(text.replace("error:", "other:", 1))
    kept = small.root / "docs/evidence/outputs/0.1.json"
    there = json.loads(kept.read_text())
    kept.write_text(json.dumps(there | {"teaches": there["errors/rank"]}))
    assert error_pages.what_pages_raise_is_on_the_shelf(Book(small.root)) == []
