"""Marks in types are explained below the first lesson that has them, once."""

import html
import re

import pytest

PAGE = """---
file_format: mystnb
kernelspec: {name: mesh-of-eight}
book: {kind: look-up, budget: 30}
---

# Marks

Plain text.

```{code-cell}
import jax
import jax.numpy as jnp
from jax import P

mesh = jax.make_mesh((8,), ("data",))
rows = jax.NamedSharding(mesh, P("data"))
x = jax.device_put(jnp.ones((16, 2)), rows)  # float32[16@data,2]
```

Said below.

```{code-cell}
def mean(part):
    local = part.mean()  # float32[]{V:data}
    return jax.lax.pmean(local, "data")

y = jax.shard_map(mean, mesh=mesh, in_specs=P("data"), out_specs=P())(x)
z = x + 1  # float32[16@data,2]
```

```{code-cell}
:check:
assert y == 1
```
"""
WORDS = "# Words\n\n```{glossary}\nsharded\n  Split.\n\nvarying\n  Differing.\n```\n"


@pytest.fixture
def marked(book):
    """A book of a page with marks, and of its words."""
    book.write("docs/marked.md", PAGE)
    book.write("docs/words.md", WORDS)
    book.index("marked", "words")
    return book


def legends(book):
    """The sentences about marks, without markup."""
    found = re.findall(
        r'<p class="legend[^>]*>(.*?)</p>', book.text("marked"), re.DOTALL
    )
    return [html.unescape(re.sub(r"<[^>]+>", "", one)) for one in found]


def test_each_mark_is_explained_once(marked):
    built = marked.build()
    assert built.code == 0, built.said
    assert legends(marked) == [
        "In the comments, 16@data is an axis of length 16, "
        "sharded over mesh axis data.",
        "In the comments, {V:data} marks a varying value, "
        "which may differ between devices along data.",
    ]
    assert "words.html#term-varying" in marked.text("marked")


def test_an_axis_over_two_mesh_axes_is_told_as_such(marked):
    both = 'rows = jax.make_mesh((4, 2), ("data", "model"))\n'
    both += 'rows = jax.NamedSharding(rows, P(("data", "model")))\n'
    both += "grid = jax.device_put(jnp.ones(8), rows)  # float32[8@(data,model)]\n"
    cell = f"```{{code-cell}}\n{both}```\n\nSaid below."
    marked.write("docs/marked.md", PAGE.replace("Said below.", cell))
    built = marked.build()
    assert built.code == 0, built.said
    assert legends(marked)[1] == (
        "In the comments, 8@(data,model) is an axis of length 8, "
        "sharded over mesh axes data and model."
    )


@pytest.mark.parametrize("where", ["Plain text.", "Said below."])
def test_what_the_page_itself_has_explained_is_not(marked, where):
    own = "And `float32[16@data]` is split."
    marked.write("docs/marked.md", PAGE.replace(where, own))
    built = marked.build()
    assert built.code == 0, built.said
    [left] = legends(marked)
    assert "varying" in left
