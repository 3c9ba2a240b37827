"""Where a page first names a function of JAX, a link leads to JAX's reference.

`jax_links.txt` has the names; a test compares them with the installed JAX, and
`nox -s linkcheck` asks for the pages.  The list takes the place of the `objects.inv` of
JAX's documentation, which no package has and a build without a network cannot ask for.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

JAX = "https://docs.jax.dev/en/latest/"
NAMES = Path(__file__).with_suffix(".txt")
_SHORT = {"lax": "jax.lax", "jnp": "jax.numpy", "random": "jax.random"}
_MOVED = {  # public names, and where the reference has them
    "jax.NamedSharding": "jax.sharding.NamedSharding",
    "jax.P": "jax.sharding.PartitionSpec",
}
_MAPS = "vmap pmap shard_map smap jit grad jacfwd jacrev custom_jvp custom_vjp".split()
_PLACES = "device_put make_mesh set_mesh".split()
_COLLECTIVES = (
    "psum pmean pmax pmin all_gather psum_scatter all_to_all ppermute".split()
)
_LOOPS = "scan cond while_loop fori_loop".split()
BARE = {name: f"jax.{name}" for name in (*_MAPS, *_PLACES)}
BARE |= {name: f"jax.lax.{name}" for name in (*_COLLECTIVES, *_LOOPS)}
_OPAQUE = (nodes.reference, nodes.title, addnodes.pending_xref)


@cache
def addresses() -> dict[str, str]:
    """The address of the entry of each name of the reference."""
    found: dict[str, str] = {}
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, page = line.partition(" ")
            found[name] = f"{JAX}{page or f'_autosummary/{name}.html'}#{name}"
    return found


def address(text: str) -> str | None:
    """The entry about what prose calls `text`: `jax.vmap`, `lax.psum`, or `psum`."""
    module, _, rest = text.partition(".")
    name = f"{_SHORT.get(module, module)}.{rest}" if rest else BARE.get(text, "")
    return addresses().get(_MOVED.get(name, name))


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make a link of each name where the prose of a page has it first."""
    seen: set[str] = set()
    for literal in list(doctree.findall(nodes.literal)):
        found = address(literal.astext())
        if found and found not in seen and not _in_link_or_heading(literal):
            seen.add(found)
            link = nodes.reference("", "", internal=False, refuri=found)
            literal.replace_self(link)
            link += literal


def _in_link_or_heading(node: nodes.Node) -> bool:
    """Whether the node stands in a link or a heading."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, _OPAQUE):
            return True
        parent = parent.parent
    return False
