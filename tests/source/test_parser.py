"""What would silently not run is an error that names the page and the line."""

import pytest

from book.source.model import Answer, Raised
from book.source.parser import read
from book.state import Problem

GOOD = """---
file_format: mystnb
kernelspec: {name: target}
book:
  kind: concept
  budget: 30
---

# Good

```{code-cell}
:tags: [hide-input]
:mystnb: {code_prompt_show: "Show: all of it"}
:alone:
import jax

x = 1
```

```{code-cell}
---
raises: "ValueError: odd"
---
raise ValueError("odd")
```

:::{dropdown} Answer
```{literalinclude} ../examples/a.py
:pyobject: solution
```
:::

````markdown
```{code-cell}
this is shown, not run
```
````

```{literalinclude} ../examples/b.py
```

```{code-cell}
:check:
assert True
```
"""


def put(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    return read(path, "page")


def test_cells_know_their_lines_options_and_visibility(tmp_path):
    page = put(tmp_path, GOOD)
    first, second, _ = page.cells
    lines = GOOD.splitlines()
    assert (first.number, second.number) == (1, 2)
    assert lines[first.line - 1] == "import jax"
    assert lines[second.line - 1] == 'raise ValueError("odd")'
    assert first.tags == {"hide-input"}
    assert first.visible
    assert second.raises == "ValueError: odd"
    assert (page.kernel, page.budget) == ("target", 30)
    assert (first.alone, second.alone) == (True, False)


def test_listings_are_found_at_any_depth(tmp_path):
    first, second = put(tmp_path, GOOD).listings
    assert (first.path.name, first.pyobject) == ("a.py", "solution")
    assert (second.path.name, second.pyobject) == ("b.py", None)


def test_a_page_without_cells_needs_no_front_matter(tmp_path):
    assert put(tmp_path, "# Words\n\n```python\nx = 1\n```\n").kernel is None


WHOLE = """---
file_format: mystnb
kernelspec: {name: mesh-of-eight}
book:
  kind: concept
  budget: 30
answers:
  - question: Why is it eight?
    at: why-x-is-8
  - question: And then?
    at: then
error:
  called: [jax.vmap, jax.lax.psum]
  raised: "ValueError: odd"
---

# Eight

## Why `x` is *8*

| a | b |
| - | - |
| 1 | 2 |

```{code-cell}
x = 8
```

```{code-cell}
:check:
assert x == 8
np.testing.assert_allclose(x, 8)
```

(then)=
```{code-cell}
:fresh:
:raises: ValueError
raise ValueError
```

:::{note}
:class: quiet

Inside.
:::

<!-- Not seen. -->

```{toctree}
:hidden:
other.md
Called <third>
```
"""
ANSWERS = WHOLE[WHOLE.index("  - q") : WHOLE.index("error:")]


def test_a_page_has_a_kind_checks_and_answers(tmp_path):
    page = put(tmp_path, WHOLE)
    assert page.kind == "concept"
    assert page.answers == (
        Answer("Why is it eight?", "why-x-is-8"),
        Answer("And then?", "then"),
    )
    assert page.error == Raised(("jax.vmap", "jax.lax.psum"), "ValueError: odd")
    lesson, check, fresh = page.cells
    assert (lesson.visible, check.visible, fresh.visible) == (True, False, True)
    assert (lesson.check, check.check, fresh.fresh) == (False, True, True)
    assert [cell.assertions for cell in page.cells] == [0, 2, 1]


def test_headings_prose_and_toctrees_are_read_once_for_everybody(tmp_path):
    page = put(tmp_path, WHOLE)
    lines = WHOLE.splitlines()
    assert [(h.level, h.text, h.slug) for h in page.headings] == [
        (1, "Eight", "eight"),
        (2, "Why `x` is *8*", "why-x-is-8"),
    ]
    assert all(
        lines[line - 1].endswith(h.text) for h in page.headings for line in [h.line]
    )
    assert [text for _, text in page.prose] == ["| a | b |", "| 1 | 2 |", "Inside."]
    assert all(lines[line - 1] == text for line, text in page.prose)
    assert page.toctree == ["other", "third"]


def test_the_pieces_of_a_page_are_its_text_and_its_cells(tmp_path):
    page = put(tmp_path, WHOLE)
    lines = WHOLE.splitlines()
    pieces = page.text_and_cells()
    assert tuple(p for p in pieces if not isinstance(p, tuple)) == page.cells
    for above, text in (p for p in pieces if isinstance(p, tuple)):
        assert lines[above] == text.splitlines()[0]
    for cell in page.cells:
        first, last = cell.span
        assert lines[first - 1].startswith("```{code-cell}")
        assert lines[last - 1] == "```"


def test_a_page_without_a_check_is_refused(tmp_path):
    with pytest.raises(Problem, match="has no check"):
        put(tmp_path, WHOLE.replace(":check:\n", ""))


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("kind: concept", "kind: essay", 5, "'essay'; there are concept, look-up"),
        ("at: why-x-is-8", "at: nowhere", 9, "answers at 'nowhere'"),
        ("    at: then\n", "", 10, "a `question` and `at`"),
        ("question: And", "query: And", 10, "a `question` and `at`"),
        ("at: then", "at: 3", 10, "both texts"),
        (ANSWERS, "  all: 1\n", 7, "list"),
        ('  raised: "ValueError: odd"\n', "", 12, "`called`, a list of functions, and"),
        ("  raised:", "  is: odd\n  raised:", 12, "`called`, a list of functions, and"),
        ("[jax.vmap, jax.lax.psum]", "jax.vmap", 13, "a list like [jax.vmap"),
        ("[jax.vmap, jax.lax.psum]", "[jax vmap]", 13, "a list like [jax.vmap"),
        ("[jax.vmap, jax.lax.psum]", "[]", 13, "a list like [jax.vmap"),
        ('"ValueError: odd"', "3", 14, "the words of a message, a text"),
        (":check:", ":check: twice", 30, "its `check` takes no value"),
        (":fresh:", ":stale:", 37, "does not know stale"),
    ],
)  # fmt: skip
def test_what_a_page_says_of_itself_is_checked(tmp_path, old, new, line, reason):
    assert old in WHOLE
    with pytest.raises(Problem) as caught:
        put(tmp_path, WHOLE.replace(old, new, 1))
    assert reason in str(caught.value)
    assert caught.value.line == line


TAUGHT = WHOLE.replace("kind: concept", "kind: lesson")


def test_a_lesson_names_those_that_it_needs(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(TAUGHT.replace("kind: lesson", "kind: lesson\n  needs: [one, two]"))
    page = read(path, "learn/page")
    assert page.kind == "lesson"
    assert page.needs == ((6, "learn/one"), (6, "learn/two"))
    assert read(path, "page").needs == ((6, "one"), (6, "two"))


@pytest.mark.parametrize(
    ("text", "needs", "reason"),
    [
        (TAUGHT, "one", "its `needs` is a list of pages beside it"),
        (TAUGHT, "[1]", "its `needs` is a list of pages beside it"),
        (TAUGHT, "{one: two}", "its `needs` is a list of pages beside it"),
        (WHOLE, "[one]", "has `needs`, which only a page of kind lesson has"),
    ],
)
def test_what_a_page_needs_is_checked(tmp_path, text, needs, reason):
    text = text.replace("book:\n", f"book:\n  needs: {needs}\n")
    with pytest.raises(Problem, match=reason) as caught:
        put(tmp_path, text)
    assert text.splitlines()[caught.value.line - 1].startswith("  needs:")


LIST = "- ```{code-cell}\n  1\n  ```\n"
NOTE = "[^1]: A note.\n\n    ```{code-cell}\n    1\n    ```\n"
RST = "```{eval-rst}\n.. note::\n\n.. code-cell::\n\n   1\n```\n"
CELL = "```{code-cell}\n1\n```\n"
INSTEAD = "would not run"


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("file_format: mystnb\n", "", 1, "needs `file_format: mystnb`"),
        ("file_format: mystnb\n", "file_format: [\n", 4, "not YAML"),
        (GOOD[: GOOD.index("# Good")], "", 1, "no front matter"),
        ("name: target", "name: python3", 3, "called 'python3'"),
        ("kernelspec: {name: target}\n", "", 1, "called None"),
        ("budget: 30", "budget: soon", 6, "a positive number"),
        ("budget: 30", "budget: -3", 6, "a positive number"),
        ("budget: 30", "budget: .inf", 6, "a positive number"),
        ("budget: 30", "budget: .nan", 6, "a positive number"),
        ("budget: 30", "budget: true", 6, "a positive number"),
        ("  kind: concept\n", "", 4, "is of kind None; there are concept, look-up"),
        ("book:\n  kind: concept\n  budget: 30\n", "", 1, "is of kind None"),
        ("budget: 30", "lonely: true", 4, "takes `budget`, `kind`"),
        (GOOD, "---\ntitle: x\n\n# No end\n", 1, "has no end"),
        (GOOD, "", 1, "is empty"),
        (GOOD, "---\ntitle: x\n---\n", 1, "is empty"),
        (GOOD, "---\ntitle: [\n---\n\n# No cells\n", 2, "not YAML"),
        (GOOD, "---\n- title\n---\n\n# No cells\n", 1, "no list"),
        ("[hide-input]", "[hide-imput]", 12, "does not know hide-imput"),
        (":tags: [hide-input]", ":load: x.py", 12, "does not know load"),
        ('"ValueError: odd"', "ValueError: odd", 20, "quote a value with a colon"),
        (":pyobject: solution", ":lines: 1-3", 28, "never cut by lines"),
        (":::{dropdown} Answer\n", ":::{dropdown} Answer\n```{code-cell}\n1\n```\n", 28,
         "inside {dropdown} would not run"),
        ("# Good\n", "# Good\n\n- a list\n\n  ```{code-cell}\n  1\n  ```\n", 13,
         "inside a list would not run"),
        ("[hide-input]", "hide-input", 12, "are a list, as in"),
        ("[hide-input]", "[1]", 12, "are a list, as in"),
        ('{code_prompt_show: "Show: all of it"}', "all", 13, "its `mystnb` is like"),
        ('"ValueError: odd"', "true", 22, "a text like"),
        ('"ValueError: odd"', "[ValueError]", 22, "a text like"),
        ('"ValueError: odd"', "3", 22, "a text like"),
        ('"ValueError: odd"', "", 22, "a text like"),
        ("# Good", f"# Good\n\n{LIST}", 11, INSTEAD),
        ("# Good", f"# Good\n\n:::{{note}}\n:open:\n\n{CELL}:::\n", 14, INSTEAD),
        ("# Good", "# Good\n\n:::{code-cell}\n1\n:::\n", 11, INSTEAD),
        ("# Good", "# Good\n\n``` {code-cell}\n1\n```\n", 11, INSTEAD),
        ("# Good", "# Good\n\n```{Code-Cell}\n1\n```\n", 11, INSTEAD),
        ("# Good", "# Good\n\n```{code_cell}\n1\n```\n", 11, INSTEAD),
        ("# Good", f"# Good\n\n<!--\n{CELL}-->\n", 12, "in a comment"),
        ("# Good", "# Good\n\n% ```{code-cell}\n% 1\n% ```\n", 11, "in a comment"),
        ("# Good", f"# Good\n\n<details>\n{CELL}</details>\n", 12, "in HTML"),
        ("# Good", "# Good\n\n    ```{code-cell}\n    1\n    ```\n", 11, "by four"),
        ("# Good", "# Good\n\n\t```{code-cell}\n\t1\n\t```\n", 11, "by four"),
        ("# Good", f"# Good\n\n{RST}", 11, "in {eval-rst}"),
        ("# Good", f"# Good\n\n{NOTE}", 13, INSTEAD),
        ("# Good\n", "# Good\n\n> ```{code-cell}\n> 1\n> ```\n", 11, "would not run"),
    ],
)  # fmt: skip
def test_each_way_to_lose_a_cell_is_refused(tmp_path, old, new, line, reason):
    assert old in GOOD
    with pytest.raises(Problem) as caught:
        put(tmp_path, GOOD.replace(old, new, 1))
    assert reason in str(caught.value)
    assert caught.value.line == line
    assert caught.value.page == "page"


def test_a_cell_in_an_included_file_is_refused_where_it_is_included(tmp_path):
    (tmp_path / "more.md").write_text(f"Prose.\n\n{CELL}")
    with pytest.raises(Problem, match=r"included file \(more.md\)") as caught:
        put(tmp_path, GOOD.replace("# Good", "# Good\n\n```{include} more.md\n```\n"))
    assert caught.value.line == 11
    (tmp_path / "more.md").write_text("Only prose.\n")
    put(tmp_path, GOOD.replace("# Good", "# Good\n\n```{include} more.md\n```\n"))


def test_a_page_that_is_not_utf_8_is_named_with_its_line(tmp_path):
    path = tmp_path / "page.md"
    path.write_bytes("# Größe\n".encode() + "Maße\n".encode("latin-1"))
    with pytest.raises(Problem, match="page: is not UTF-8") as caught:
        read(path, "page")
    assert caught.value.line == 2


def test_a_file_that_is_included_and_not_utf_8_is_named(tmp_path):
    (tmp_path / "part.txt").write_bytes(b"Ma\xdfe\n")
    with pytest.raises(
        Problem, match=r"part\.txt, which it includes, is not UTF"
    ) as one:
        put(tmp_path, "# Title\n\n```{include} part.txt\n```\n")
    assert one.value.line == 3


@pytest.mark.parametrize(("old", "line"), [("# Good", 9), ("x = 1", 17)])
def test_a_nul_is_named_with_its_line(tmp_path, old, line):
    with pytest.raises(Problem, match="page: has a NUL") as caught:
        put(tmp_path, GOOD.replace(old, f"{old}\0"))
    assert caught.value.line == line


def test_a_byte_order_mark_loses_nothing(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("\N{ZERO WIDTH NO-BREAK SPACE}" + GOOD, encoding="utf-8")
    assert len(read(path, "page").cells) == 3


MATH = "mathematics would be set by a program from another host, and pages ask none"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```{math}\na = b\n```\n", 5),
        ("See\nthat {math}`a = b` holds.\n", 6),
        ("## What {math}`a` is\n", 5),
        (":::{note}\n\n{math}`a` is one.\n:::\n", 7),
        ("| a |\n| --- |\n| {math}`a` |\n", 7),
    ],
)
def test_mathematics_is_refused_where_it_stands(tmp_path, text, line):
    with pytest.raises(Problem, match=MATH) as caught:
        put(tmp_path, f"# Title\n\nProse.\n\n{text}")
    assert caught.value.line == line


def test_mathematics_in_an_included_file_is_refused(tmp_path):
    (tmp_path / "part.txt").write_text("Here {math}`a` is one.\n")
    with pytest.raises(Problem, match=f"part.txt: {MATH}") as caught:
        put(tmp_path, "# Title\n\n```{include} part.txt\n```\n")
    assert caught.value.line == 3


def test_what_is_shown_as_code_is_no_mathematics(tmp_path):
    put(tmp_path, "# Title\n\nA role is `{math}` and ``{math}`a` ``, {doc}`/a`.\n")


def test_a_second_title_is_refused_with_its_line(tmp_path):
    """Sphinx would leave both out of the table of contents, and say nothing."""
    with pytest.raises(Problem, match="a second title, a heading with one `#`") as one:
        put(tmp_path, "# Title\n\nProse.\n\n## Part\n\n# Second\n\nProse.\n")
    assert one.value.line == 7
