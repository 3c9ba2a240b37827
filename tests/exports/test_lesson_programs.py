"""A lesson's program can be taken along, as it stands and as a notebook."""

import ast
import io
import re
from contextlib import redirect_stdout

import nbformat
import pytest

from book.exports import lesson_programs
from book.exports.notebook import notebook
from tests.conftest import PAGE

PROGRAM = '''"""Doubles: what `vmap` makes of a function.

Take it as a start.
"""

# %%
import jax
import jax.numpy as jnp

TEXT = """ # %% no mark, it is inside a string """


# %% [markdown]
# ## Twice
#
# Each *example* alone.

# %%
def double(x):
    """Return twice `x`, a number."""
    return 2 * x  # %% no mark


# %%
if __name__ == "__main__":
    print(jax.vmap(double)(jnp.arange(3.0)))
'''
LISTING = "```{{literalinclude}} ../../examples/{}.py\n```\n"


def cells_of(program):
    """The cells of the notebook of a program, which is valid: kind and source."""
    found = nbformat.reads(notebook(lesson_programs.contents(program)), as_version=4)
    nbformat.validate(found)
    return [(cell.cell_type, cell.source) for cell in found.cells]


def test_marks_begin_cells_and_the_docstring_is_the_first_text():
    kinds, sources = zip(*cells_of(PROGRAM), strict=True)
    assert kinds == ("markdown", "code", "markdown", "code", "code")
    title, imports, text, function, main = sources
    assert title == "Doubles: what `vmap` makes of a function.\n\nTake it as a start."
    assert imports.startswith("import jax\n") and "inside a string" in imports
    assert text == "## Twice\n\nEach *example* alone."
    assert function.startswith("def double(x):")
    assert main.startswith('if __name__ == "__main__":\n    print')


@pytest.mark.parametrize(
    ("program", "cells"),
    [
        ("x = 1\n", [("code", "x = 1")]),
        ("x = 1\n\n# %%\ny = 2\n", [("code", "x = 1"), ("code", "y = 2")]),
        ("# %%\nx = 1\n# %%\n", [("code", "x = 1")]),
        ("# %% [markdown]\n# A\nx = 1\n", [("markdown", "A"), ("code", "x = 1")]),
        ("# %% [markdown]\n# B\n\n#\tC\n", [("markdown", "B\n\n\tC")]),
        ('"""A."""\n\n# of x\nx = 1', [("markdown", "A."), ("code", "# of x\nx = 1")]),
        ("", []),
    ],
)
def test_no_code_and_no_text_is_lost(program, cells):
    assert cells_of(program) == cells


def put(book, name="one", program="learn/one", kind="lesson", more=""):
    """Write a page that lists a program."""
    text = PAGE.replace("kind: concept", f"kind: {kind}")
    check = "```{code-cell}\nx = 1\n```\n\n```{code-cell}\n:check:\nassert x\n```"
    body = f"{LISTING.format(program)}\n{more}\n{check}"
    page = text.format(kernel="target", budget=60, title=name, body=body)
    book.write(f"docs/learn/{name}.md", page)


def taken(book):
    """The files of programs that a site has."""
    folder = book.html / lesson_programs.FOLDER
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")}


@pytest.fixture
def learn(book):
    """A book with a lesson that lists a program."""
    book.write("examples/learn/one.py", PROGRAM)
    put(book)
    book.index("learn/one")
    return book


def test_below_the_program_of_a_lesson_two_links_lead_to_its_files(learn):
    built = learn.build()
    assert built.code == 0, built.said
    page = learn.text("learn/one")
    below = page.split("no mark, it is inside")[1].split("</pre>")[1]
    links = re.findall(r'<a href="([^"]+)" download>([^<]+)</a>', below)
    assert [name for _, name in links] == ["one.py", "one.ipynb"]
    assert 'Download: <a href="../_downloads/programs/learn/one.py"' in below
    script, made = ((learn.html / "learn" / link).resolve() for link, _ in links)
    assert script.read_text() == PROGRAM
    found = nbformat.read(made, as_version=4)
    nbformat.validate(found)
    code = "\n".join(c.source for c in found.cells if c.cell_type == "code")
    whole = ast.parse(PROGRAM)
    whole.body = whole.body[1:]
    assert ast.dump(ast.parse(code)) == ast.dump(whole)
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(code, "notebook", "exec"), {"__name__": "__main__"})
    assert said.getvalue() == "[0. 2. 4.]\n"
    assert (learn.html / "learn/one.py").read_text() != PROGRAM  # the page's own


def test_the_files_follow_the_program_and_go_with_the_page(learn):
    assert learn.build().code == 0
    assert taken(learn) == {"learn/one.py", "learn/one.ipynb"}
    assert learn.build().code == 0
    assert taken(learn) == {"learn/one.py", "learn/one.ipynb"}
    learn.write("examples/learn/one.py", PROGRAM.replace("2 * x", "x + x"))
    assert learn.build().code == 0
    for path in (learn.html / lesson_programs.FOLDER).rglob("*.*"):
        assert "return x + x" in path.read_text()
    (learn.docs / "learn/one.md").unlink()
    learn.write("docs/learn/two.md", "# Two\n\nNo program.\n")
    learn.index("learn/two")
    built = learn.build()
    assert built.code == 0, built.said
    assert not (learn.html / lesson_programs.FOLDER).exists()


def test_other_pages_and_other_listings_offer_no_files(learn):
    more = LISTING.format("train/two")
    part = LISTING.format("learn/one").replace("\n", "\n:pyobject: double\n", 1)
    learn.write("examples/train/two.py", PROGRAM)
    put(learn, more=f"{more}\n{part}")
    put(learn, "look", kind="look-up")
    learn.index("learn/one", "learn/look")
    built = learn.build()
    assert built.code == 0, built.said
    assert learn.text("learn/one").count("Download:") == 1
    assert "Download:" not in learn.text("learn/look")
    assert taken(learn) == {"learn/one.py", "learn/one.ipynb"}


def test_a_listing_with_a_caption_has_its_links_below_it(learn):
    text = (learn.docs / "learn/one.md").read_text()
    text = text.replace("one.py\n", "one.py\n:caption: The program\n")
    learn.write("docs/learn/one.md", text)
    built = learn.build()
    assert built.code == 0, built.said
    page = learn.text("learn/one")
    assert page.count("Download:") == 1
    opened = page.index('<div class="literal-block-wrapper')
    inside = page[opened : page.index('<div class="no-search"><p class="prog')]
    assert inside.count("<div") == inside.count("</div>")
