"""Arrays to paint, and what is read from a picture of them."""

import re
from xml.etree import ElementTree

import jax
from jax import P
from jax.sharding import NamedSharding

from tests.devices import eight


def mesh_of(*axes):
    """Return a mesh of eight devices from (name, size) pairs."""
    names, sizes = zip(*axes, strict=True)
    return jax.make_mesh(sizes, names, devices=eight())


LINE = [("rows", 8)]
GRID = [("batch", 2), ("model", 4)]


def sharded(values, axes, *spec):
    """Return `values` on a mesh of `axes`, sharded by `spec`."""
    return jax.device_put(values, NamedSharding(mesh_of(*axes), P(*spec)))


def parse(text):
    """Return the SVG element of a figure's text; it has to be well-formed XML."""
    root = ElementTree.fromstring(text)
    return root if root.tag.endswith("svg") else root.find("svg")


def elements(root, kind):
    """Return the elements of a class, in the order in which they are painted."""
    return [e for e in root.iter() if e.get("class") == kind]


def numbers(frame):
    """Return the values painted in a frame."""
    texts = [e.text.replace("\N{MINUS SIGN}", "-") for e in elements(frame, "value")]
    return [float(text) for text in texts]


def labels(frame):
    """Return the words at the head of a frame."""
    return [e.text for e in frame.iter() if e.get("font-variant")]


def place(frame):
    """Return where a frame stands, as (x, y)."""
    return tuple(map(float, re.findall(r"[-.\d]+", frame.get("transform"))))
