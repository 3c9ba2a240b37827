"""What would silently not run is an error that names the page and the line."""

import pytest

from book.pages import Problem, read

GOOD = """---
file_format: mystnb
kernelspec:
  name: target
book:
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
"""


def put(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    return read(path, "page")


def test_cells_know_their_lines_options_and_visibility(tmp_path):
    page = put(tmp_path, GOOD)
    first, second = page.cells
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


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("file_format: mystnb\n", "", 1, "needs `file_format: mystnb`"),
        ("file_format: mystnb\n", "file_format: [\n", 4, "not YAML"),
        (GOOD[: GOOD.index("# Good")], "", 1, "no front matter"),
        ("name: target", "name: python3", 1, "called 'python3'"),
        ("kernelspec:\n  name: target\n", "", 1, "called None"),
        ("budget: 30", "budget: soon", 1, "a positive number"),
        ("budget: 30", "budget: -3", 1, "a positive number"),
        ("  budget: 30\n", "", 1, "a positive number"),
        ("budget: 30", "lonely: true", 1, "a positive number"),
        ("[hide-input]", "[hide-imput]", 15, "does not know hide-imput"),
        (":tags: [hide-input]", ":load: x.py", None, "cannot be read"),
        ('"ValueError: odd"', "ValueError: odd", 20, "quote a value with a colon"),
        (":pyobject: solution", ":lines: 1-3", 28, "never cut by lines"),
        (":::{dropdown} Answer\n", ":::{dropdown} Answer\n```{code-cell}\n1\n```\n", 28,
         "inside {dropdown} would not run"),
        ("# Good\n", "# Good\n\n- a list\n\n  ```{code-cell}\n  1\n  ```\n", 13,
         "inside a list would not run"),
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
