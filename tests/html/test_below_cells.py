"""What stands below a cell stands there in one order, on every page."""

import json

import jax

EXERCISE = '''"""Say no."""


def check(make):
    """Raise."""
    raise ValueError("the check says no to it")


def mistake_none(x):
    """Return nothing."""
'''
CELL = """:raises: "ValueError: the check"
import jax.numpy as jnp
from examples.exercises.no import check

x = jnp.float32(1) + 1  # ~float32[]
check(x)"""
ABOUT = """---
error: {called: [jax.vmap], raised: "ValueError: the check says no"}
---

# "The check says no"

Prose.
"""
ORDER = ["mistakes no-search", "wordings", "legend no-search", "causes no-search"]


def test_what_stands_below_a_cell_has_one_order(book):
    book.write("examples/exercises/no.py", EXERCISE)
    book.page("p", CELL.replace("jnp.float32(1)", "2 * jnp.asarray(1.0)"))
    book.write("docs/errors/no.md", ABOUT)
    book.index("p", "errors/no")
    assert book.build("-D", "book_keep_outputs=1").code == 0
    own = book.root / f"docs/evidence/outputs/{jax.__version__}.json"
    [(cell, _)] = json.loads(own.read_text())["p"].items()
    other = {"p": {cell: "ValueError: the check refuses"}}
    book.write("docs/evidence/outputs/0.1.json", json.dumps(other))
    built = book.build()
    assert built.code == 0, built.said
    below = book.text("p").partition('id="cell1"')[2]
    assert all(f'"{classes}' in below for classes in ORDER)
    assert sorted(ORDER, key=lambda one: below.index(f'"{one}')) == ORDER
