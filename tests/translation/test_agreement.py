"""A translation has the code, links, roles, numbers and bold words of its English."""

import pytest

from book.translation.agreement import disagreements

ENGLISH = (
    "In **lesson 2**, `vmap` maps {term}`arrays <array>`: see [axes](axes.md#all)."
)
CHINESE = "**第 2 课** 里，`vmap` 映射 {term}`数组 <array>`：见 [轴](axes.md#all)。"


def test_other_words_in_another_order_agree():
    assert disagreements(ENGLISH, CHINESE) == []
    assert disagreements("{count} checks", "{count} 项检查") == []


@pytest.mark.parametrize(
    ("there", "instead", "kind"),
    [
        ("`vmap`", "`pmap`", "code"),
        ("`vmap`", "vmap", "code"),
        ("axes.md#all", "axes.md", "links"),
        ("第 2 课", "第 3 课", "numbers"),
        ("{term}", "{doc}", "roles"),
        ("<array>", "<数组>", "targets of roles"),
        ("**第 2 课**", "第 2 课", "bold"),
    ],
)
def test_what_differs_is_named(there, instead, kind):
    [found] = disagreements(ENGLISH, CHINESE.replace(there, instead))
    assert found.startswith(f"{kind}: ")


def test_a_field_that_is_lost_is_named():
    [found] = disagreements("Run on {day}, JAX {jax}.", "运行于 {day}，JAX。")
    assert found.startswith("fields: ")
