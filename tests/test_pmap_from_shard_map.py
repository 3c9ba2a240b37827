"""The book's `pmap`, written on `shard_map`, is `jax.pmap` in everything it takes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import lax

from examples.pmap.pmap_from_shard_map import pmap

pytestmark = pytest.mark.needs_devices(8)
BOTH = {"ours": pmap, "jax's": jax.pmap}
DEVICES = 8


@pytest.fixture(scope="module")
def devices():
    return jax.devices("cpu")[:DEVICES]


def whole(*shape):
    """Whole numbers as float32."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 13


def same(ours, theirs):
    """Assert that two results have one structure, and equal arrays spread alike."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
        pieces = [[s.data.shape for s in x.addressable_shards] for x in (a, b)]
        assert pieces[0] == pieces[1]
        assert a.sharding.device_set == b.sharding.device_set


# What a function of one row may do; the collectives make it one program of many.
OPERATIONS = {
    "doubled": lambda x: 2 * x,
    "sum": jnp.sum,
    "number of the device": lambda x: x + lax.axis_index("rows"),
    "less the mean": lambda x: x - lax.pmean(8 * x, "rows"),
    "highest": lambda x: lax.pmax(x, "rows"),
    "gathered": lambda x: lax.all_gather(x, "rows").sum(axis=0),
    "the first one only": lambda x: lax.ppermute(x, "rows", [(0, 0)]),
    "bool": lambda x: x > 3,
}


@st.composite
def programs(draw):
    """Return a function of arrays, its arguments, and the axes to map them over."""
    size = draw(st.integers(1, DEVICES))
    count = draw(st.integers(1, 3))
    cuts = [draw(st.sampled_from([0, 1, 2, None])) for _ in range(count)]
    cuts[draw(st.integers(0, count - 1))] = draw(st.integers(0, 2))
    row = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    args = []
    for cut in cuts:
        shape = row if cut is None else (*row[:cut], size, *row[cut:])
        args.append(whole(*shape) + len(args))
    chosen = draw(st.lists(st.sampled_from(list(OPERATIONS)), min_size=1, max_size=3))

    def fun(*rows):
        x = sum(rows)
        return {name: OPERATIONS[name](x) for name in chosen}

    ranks = {name: 0 if name == "sum" else 2 for name in chosen}
    backs = {name: draw(st.integers(0, ranks[name])) for name in chosen}
    in_axes = cuts[0] if len(set(cuts)) == 1 and draw(st.booleans()) else tuple(cuts)
    return fun, args, {"in_axes": in_axes, "out_axes": backs}


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(programs())
def test_any_program_gives_what_jax_gives(program):
    fun, args, axes = program
    same(*(way(fun, axis_name="rows", **axes)(*args) for way in BOTH.values()))


def power(x, n):
    return x**n


def scaled(x, y):
    return {"product": x * y, "y": y}


def keys():
    """A key for each device; called in a test, since keys live on a device."""
    return jax.random.split(jax.random.key(0), DEVICES)


X = whole(DEVICES, 3)
CASES = {
    "fewer rows than devices": (jnp.sin, {}, (X[:3],), {}),
    "a static argument": (power, {"static_broadcasted_argnums": 1}, (X, 3), {}),
    "a static argument in front": (
        lambda n, x: x**n,
        {"static_broadcasted_argnums": (0,), "in_axes": (None, 0)},
        (3, X),
        {},
    ),
    "a replicated argument": (power, {"in_axes": (0, None)}, (X, 3.0), {}),
    "out_axes as a prefix": (scaled, {"out_axes": 1}, (X, X), {}),
    "a result that is not mapped": (
        scaled,
        {"in_axes": (0, None), "out_axes": {"product": 0, "y": None}},
        (X, 3.0),
        {},
    ),
    "None for what differs": (jnp.sin, {"out_axes": None}, (X,), {}),
    "a prefix of a tree": (
        lambda t: t["a"] * t["b"][0],
        {"in_axes": ({"a": 0, "b": None},)},
        ({"a": X, "b": (2.0, X)},),
        {},
    ),
    "keywords": (lambda x, *, y: x * y, {}, (X,), {"y": X}),
    "axis_size": (jnp.sin, {"axis_size": DEVICES}, (X,), {}),
    "backend": (jnp.sin, {"backend": "cpu"}, (X,), {}),
    "a Python number as result": (lambda x: 1, {}, (X,), {}),
    "a vmap inside": (jax.vmap(jnp.sin), {}, (X,), {}),
    "a key each": (
        partial(jax.random.normal, shape=(2,)),
        {},
        (keys,),
        {},
    ),
    "groups": (
        lambda x: lax.psum(x, "rows", axis_index_groups=[[0, 3, 4, 7], [1, 2, 5, 6]]),
        {"axis_name": "rows"},
        (X,),
        {},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_argument_means_the_same(case):
    fun, options, args, named = CASES[case]
    args = [x() if callable(x) else x for x in args]
    same(*(way(fun, **options)(*args, **named) for way in BOTH.values()))


def test_it_runs_on_the_devices_it_is_given(devices):
    chosen = devices[2:5]
    for rows in (3, 2):
        ours, theirs = (way(jnp.sin, devices=chosen)(X[:rows]) for way in BOTH.values())
        same(ours, theirs)
        assert ours.sharding.device_set == set(chosen[:rows])


def test_a_donated_argument_is_gone():
    given_away = [
        jax.pmap(jnp.sin, donate_argnums=0)(X),
        pmap(jnp.sin, donate_argnums=0)(X),
    ]
    for way, x in zip(BOTH.values(), given_away, strict=True):
        way(jnp.sin, donate_argnums=0)(x)
        assert x.is_deleted()


def test_transformations_go_through_it():
    def loss(way, x):
        return way(lambda x: lax.psum((x**2).sum(), "rows"), axis_name="rows")(x)[0]

    grads = [jax.grad(partial(loss, way))(X) for way in BOTH.values()]
    assert np.array_equal(*grads)
    batch = whole(2, DEVICES, 3)
    same(*(jax.vmap(way(lambda x: 2 * x))(batch) for way in BOTH.values()))
    same(*(jax.jit(way(lambda x: 2 * x))(X) for way in BOTH.values()))


def test_it_is_traced_once_for_each_shape():
    seen = []
    mapped = pmap(lambda x: seen.append(x.shape) or 2 * x)
    for x in (X, X, X[:4], X):
        mapped(x)
    assert seen == [(3,), (3,)]


@pytest.mark.parametrize(
    ("options", "args", "words"),
    [
        (
            {},
            (whole(9, 3),),
            "size 9, and there are 8 devices.*to a multiple of 8",
        ),
        ({}, (whole(24, 3),), r"reshape\(8, 3, ...\) the arguments and map jax.vmap"),
        ({}, (X, X[:4]), r"args\[0\] has size 8, axis 0 of args\[1\] has size 4"),
        ({}, ({"w": X}, {"w": X[:4]}), r"args\[1\]\['w'\] has size 4"),
        ({"axis_size": 4}, (X, X), r"args\[1\] has size 8, axis_size is 4"),
        ({"in_axes": None}, (X, X), "no argument is mapped"),
        (
            {"in_axes": (0, 0)},
            (X, 3.0),
            r"args\[1\] of shape \(\) has no axis 0",
        ),
        ({"in_axes": [0, 0]}, (X, X), "different types"),
    ],
)
def test_what_does_not_fit_is_said(options, args, words):
    with pytest.raises(ValueError, match=words):
        pmap(lambda x, y=0: x + y, **options)(*args)


@pytest.mark.parametrize("axes", [{"in_axes": "rows"}, {"out_axes": 1.0}])
def test_an_axis_is_a_number(axes):
    with pytest.raises(TypeError, match="takes ints and None"):
        pmap(jnp.sin, **axes)


def test_in_axes_counts_from_the_front():
    with pytest.raises(TypeError, match="in_axes counts from the front"):
        pmap(jnp.sin, in_axes=-1)


def test_an_empty_list_of_devices_is_refused():
    for either in BOTH.values():
        with pytest.raises(ValueError, match="must be non-empty, or None"):
            either(jnp.sin, devices=[])


def test_axes_that_do_not_fit_are_named_by_their_place():
    x = np.ones((DEVICES, 2))
    for either in BOTH.values():
        with pytest.raises(ValueError, match=r"pmap in_axes\[0\]\[0\]"):
            either(lambda x, y: x, in_axes=((0, 0, 0), 0))((x, x), x)
        with pytest.raises(ValueError, match="argument passed by keyword is mapped"):
            either(lambda x, y: x, in_axes=((0, 0), 0))(x=(x, x), y=x)


def test_the_function_that_is_mapped_can_be_reached():
    for either in BOTH.values():
        assert either(power).__wrapped__ is power
