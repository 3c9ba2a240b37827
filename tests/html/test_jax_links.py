"""The first `jax.vmap` of a page leads to JAX's reference."""

import pytest
from docutils import nodes

from book.html import jax_links
from tests.house.error_pages import exists

VMAP = f"{jax_links.JAX}_autosummary/jax.vmap.html#jax.vmap"


def test_all_names_are_names_of_jax():
    assert len(jax_links.addresses()) > 500
    assert [name for name in jax_links.addresses() if not exists(name)] == []


def test_every_name_without_its_module_is_in_the_reference():
    assert [name for name in jax_links.BARE if not jax_links.address(name)] == []


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("jax.vmap", VMAP),
        ("vmap", VMAP),
        ("lax.psum", f"{jax_links.JAX}_autosummary/jax.lax.psum.html#jax.lax.psum"),
        ("psum", f"{jax_links.JAX}_autosummary/jax.lax.psum.html#jax.lax.psum"),
        (
            "jax.P",
            f"{jax_links.JAX}jax.sharding.html#jax.sharding.PartitionSpec",
        ),
        ("scan", f"{jax_links.JAX}_autosummary/jax.lax.scan.html#jax.lax.scan"),
        (
            "device_put",
            f"{jax_links.JAX}_autosummary/jax.device_put.html#jax.device_put",
        ),
        ("jax.tree_map", None),
        ("batch", None),
        ("vmap(f)", None),
        ("np.where", None),
    ],
)
def test_a_name_leads_to_its_entry(text, entry):
    assert jax_links.address(text) == entry


def test_the_first_use_in_prose_is_a_link():
    first, again = nodes.literal("", "vmap"), nodes.literal("", "jax.vmap")
    heading, linked = nodes.literal("", "vmap"), nodes.literal("", "vmap")
    page = nodes.section("", nodes.title("", "", heading))
    page += nodes.paragraph("", "", nodes.reference("", "", linked, refuri="x.html"))
    page += nodes.paragraph("", "", first, again)
    jax_links.link_names(None, page)
    assert [link["refuri"] for link in page.findall(nodes.reference)] == [
        "x.html",
        VMAP,
    ]
    assert first.parent["refuri"] == VMAP
    assert isinstance(again.parent, nodes.paragraph)
