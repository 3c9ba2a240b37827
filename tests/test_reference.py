"""The first `jax.vmap` of a page leads to JAX's reference."""

import pytest
from docutils import nodes

from book import reference
from tests.shelf import exists

VMAP = f"{reference.JAX}_autosummary/jax.vmap.html#jax.vmap"


def test_all_names_are_names_of_jax():
    assert len(reference.places()) > 500
    assert [name for name in reference.places() if not exists(name)] == []


def test_every_name_without_its_module_is_in_the_reference():
    assert [name for name in reference.BARE if not reference.address(name)] == []


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("jax.vmap", VMAP),
        ("vmap", VMAP),
        ("lax.psum", f"{reference.JAX}_autosummary/jax.lax.psum.html#jax.lax.psum"),
        ("psum", f"{reference.JAX}_autosummary/jax.lax.psum.html#jax.lax.psum"),
        (
            "jax.P",
            f"{reference.JAX}jax.sharding.html#jax.sharding.PartitionSpec",
        ),
        ("scan", f"{reference.JAX}_autosummary/jax.lax.scan.html#jax.lax.scan"),
        (
            "device_put",
            f"{reference.JAX}_autosummary/jax.device_put.html#jax.device_put",
        ),
        ("jax.tree_map", None),
        ("batch", None),
        ("vmap(f)", None),
        ("np.where", None),
    ],
)
def test_a_name_leads_to_its_entry(text, entry):
    assert reference.address(text) == entry


def test_the_first_use_in_prose_is_a_link():
    first, again = nodes.literal("", "vmap"), nodes.literal("", "jax.vmap")
    heading, linked = nodes.literal("", "vmap"), nodes.literal("", "vmap")
    page = nodes.section("", nodes.title("", "", heading))
    page += nodes.paragraph("", "", nodes.reference("", "", linked, refuri="x.html"))
    page += nodes.paragraph("", "", first, again)
    reference.lead(None, page)
    assert [link["refuri"] for link in page.findall(nodes.reference)] == [
        "x.html",
        VMAP,
    ]
    assert first.parent["refuri"] == VMAP
    assert isinstance(again.parent, nodes.paragraph)
