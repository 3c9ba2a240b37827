"""Judge the notebook of 2022 on vmap and pmap, output by output.

Why it is hard: it ran on eight TPU v3 cores, and most of what it prints is about how
JAX was built then: types, jaxprs, an error, timings.
What finishes it: shapes, jaxprs and the error come from types of ten million rows, for
which no row is needed; what needs numbers runs on the notebook's eight pairs of rows.

Use it: `run(NOTEBOOK, lab())` returns what happens now, a text for each claim
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np

from examples.evidence.then_and_now import (
    HOLDS,
    changed,
    claim,
    count_devices,
    equations,
    first_line,
    normals,
    outline,
    raised,
    unchecked,
)
from examples.tools.text import count_text
from examples.tools.timing import time_calls

ROWS = 10_000_000
MANY = jax.ShapeDtypeStruct((ROWS, 3), jnp.float32)  # the type of v, and of u
FOLDED = jax.ShapeDtypeStruct((8, ROWS // 8, 3), jnp.float32)  # an axis for the devices
OTHER_MACHINE = unchecked("that was a TPU v3, and this is not")
MEASURED = unchecked("an order of times is measured here, and never asserted")
# Milliseconds that it printed for a call with eight rows.
NOTEBOOK_MS = {"jit(vmap)": 2.33, "jit(pmap)": 47.4, "pmap(jit)": 37.1, "pmap": 24.5}
# What it printed for the dot products of eight pairs of rows.
PRINTED = (0.51048726, -0.7174605, -0.20105815, -0.26437205)
PRINTED += (-1.3696793, 2.744793, 1.7936493, -1.1743435)


def dot(v, u):
    """Return the dot product of two rows, (k,) and (k,), as a scalar."""
    return jnp.vdot(v, u)


def few(partitionable=True):
    """Return the notebook's eight pairs of rows, (8, 3) each."""
    numbers = normals(partitionable)
    return numbers[:8], numbers[8:]


def products(v, u):
    """Return the dot products of all pairs of rows by NumPy, (n,)."""
    return (v * u).sum(axis=1)


class Lab(NamedTuple):
    """What many claims look at, made once."""

    ways: dict  # {order of `jit` and a map: the mapped `dot`}
    answers: dict  # {order: its answer for the eight pairs of rows}
    times: dict  # {order: milliseconds a call, at their best}


def lab():
    """Run and time the notebook's four orders once."""
    ways = {
        "jit(vmap)": jax.jit(jax.vmap(dot)),
        "jit(pmap)": jax.jit(jax.pmap(dot)),
        "pmap(jit)": jax.pmap(jax.jit(dot)),
        "pmap": jax.pmap(dot),
    }
    calls = {name: partial(ways[name], *few()) for name in NOTEBOOK_MS}
    answers = {name: call() for name, call in calls.items()}
    timings = time_calls(calls, rounds=7, seconds=0.05)
    times = {name: 1e3 * timing.low for name, timing in timings.items()}
    return Lab(ways, answers, times)


def jaxpr_of(lab, way):
    """Return the outline of what one order of `jit` and a map records for few rows."""
    return outline(jax.make_jaxpr(lab.ways[way])(*few()))


@claim(changed("0.10.0", at_latest=True), then="jax.tools.colab_tpu.setup_tpu()")
def sets_up_the_tpu(lab):
    """A module of JAX connects a notebook to its TPU."""
    error = raised(__import__, "jax.tools.colab_tpu")
    assert isinstance(error, ModuleNotFoundError)
    return first_line(error)


@claim(changed("0.9.0"), then="tpu")
def asks_for_the_platform(lab):
    """`jax.lib.xla_bridge` says which platform is in use."""
    assert not hasattr(jax.lib, "xla_bridge")
    platform = jax.extend.backend.get_backend().platform
    assert platform == jax.default_backend()
    return f"no such module; `jax.default_backend()` says {platform}"


@claim(HOLDS, then="8 × TpuDevice, ids 0 to 7, process 0")
def lists_eight_devices(lab):
    """`jax.local_devices()` lists eight devices of one process."""
    devices = jax.devices()
    assert [device.id for device in devices] == list(range(8))
    assert {device.process_index for device in devices} == {0}
    return f"8 × {devices[0].device_kind}, ids 0 to {devices[-1].id}, process 0"


@claim(changed("0.4.1"), then="DeviceArray(3., dtype=float32)")
def returns_a_device_array(lab):
    """The dot product of two rows of ones is a `DeviceArray`."""
    answer = jax.jit(dot)(np.ones(3), np.ones(3))
    assert answer == 3 and isinstance(answer, jax.Array)
    assert not hasattr(jnp, "DeviceArray") and not repr(answer).startswith("Device")
    return repr(answer)


@claim(HOLDS, then="((10000000, 3), (10000000, 3))")
def makes_the_rows(lab):
    """Twenty million random rows become two halves."""
    draw = partial(jax.random.normal, shape=(2 * ROWS, 3))
    halves = jax.eval_shape(lambda key: jnp.split(draw(key), 2), jax.random.PRNGKey(42))
    shapes = tuple(half.shape for half in halves)
    assert shapes == ((ROWS, 3), (ROWS, 3))
    return str(shapes)


@claim(HOLDS, then="(10000000,)")
def maps_all_rows_on_one(lab):
    """`vmap(dot)` turns (b, v) and (b, v) into (b,)."""
    shape = jax.eval_shape(jax.vmap(dot), MANY, MANY).shape
    answer = lab.answers["jit(vmap)"]
    assert shape == (ROWS,) and count_devices(answer) == 1
    assert np.allclose(answer, products(*few()), atol=0.05)
    return str(shape)


@claim(
    changed("0.8.0"),
    then="compiling computation that requires 10000000 logical devices, but only 8 XLA "
    "devices are available",
)
def refuses_too_many_rows(lab):
    """`pmap` over ten million rows asks for ten million devices."""
    error = raised(jax.eval_shape, lab.ways["pmap"], MANY, MANY)
    assert isinstance(error, ValueError)
    assert "cannot select an axis to squeeze out" in str(error)
    return first_line(error)


@claim(HOLDS)
def takes_no_more_than_devices(lab):
    """The mapped axis may be as long as there are local devices, or shorter."""
    mapped = jax.pmap(jnp.negative)
    sizes = {n: count_devices(mapped(np.arange(float(n)))) for n in (4, 8)}
    assert sizes == {4: 4, 8: 8}
    for more in (9, 16):
        assert isinstance(raised(mapped, np.arange(float(more))), ValueError)
    return "4 and 8 rows run on as many devices; 9 and 16 raise"


@claim(HOLDS, then="((8, 1250000, 3), (8, 1250000, 3))")
def folds_the_rows(lab):
    """A reshape gives the rows an axis for the devices."""
    fold = jax.eval_shape(lambda x: x.reshape(8, -1, 3), MANY)
    assert fold == FOLDED
    return str((fold.shape, fold.shape))


@claim(HOLDS, then="(8,)")
def maps_a_block_each(lab):
    """`pmap(dot)` of the folded rows turns (d, ...) and (d, ...) into (d,)."""
    shape = jax.eval_shape(lab.ways["pmap"], FOLDED, FOLDED).shape
    assert shape == (8,)  # each is a sum over all rows of a device: vdot flattens
    return str(shape)


@claim(HOLDS, then="d:f32[1250000,3]")
def sees_no_mapped_axis(lab):
    """The function in `pmap` sees its shard without the mapped axis."""
    seen = []
    mapped = jax.pmap(lambda x: seen.append(x.shape) or x)
    jax.eval_shape(mapped, FOLDED)
    assert seen == [(ROWS // 8, 3)]
    return str(seen[0])


@claim(changed("0.8.0"), then="xla_pmap(reshape, reshape, dot_general)")
def records_xla_pmap(lab):
    """The jaxpr of `pmap` is an equation of its own kind, `xla_pmap`."""
    found = outline(jax.make_jaxpr(lab.ways["pmap"])(FOLDED, FOLDED))
    assert "xla_pmap" not in found and found.startswith("jit(shard_map(")
    return found


@claim(
    changed("0.8.0"), then="axis_size, in_axes, out_axes, devices, global_arg_shapes"
)
def records_its_options(lab):
    """That equation keeps the options of `pmap` as they were given."""
    jaxpr = jax.make_jaxpr(lab.ways["pmap"])(*few())
    [mapped] = [e for e in equations(jaxpr) if e.primitive.name == "shard_map"]
    assert not {"axis_size", "in_axes", "global_arg_shapes"} & set(mapped.params)
    assert {"mesh", "in_specs", "out_specs"} <= set(mapped.params)
    return ", ".join(sorted(set(mapped.params) - {"jaxpr"}))


@claim(HOLDS, then="2 × reshape to (3750000,)")
def reshapes_in_vdot(lab):
    """Inside, `vdot` flattens each shard by a reshape."""
    jaxpr = jax.make_jaxpr(lab.ways["pmap"])(FOLDED, FOLDED)
    sizes = [e.params.get("new_sizes") for e in equations(jaxpr)]
    sizes = [size for size in sizes if size]
    assert sizes == [(3 * ROWS // 8,)] * 2
    return f"{len(sizes)} × reshape to {sizes[0]}"


@claim(HOLDS)
def avoids_the_reshape(lab):
    """`pmap(vmap(dot))` has no such reshape."""
    mapped = jax.pmap(jax.vmap(dot))
    found = outline(jax.make_jaxpr(mapped)(FOLDED, FOLDED))
    assert "reshape" not in found and "dot_general" in found
    return found


@claim(HOLDS, then="(8, 1250000)")
def maps_rows_of_blocks(lab):
    """`pmap(vmap(dot))` returns the product of each row, an eighth on each device."""
    mapped = jax.pmap(jax.vmap(dot))
    shape = jax.eval_shape(mapped, FOLDED, FOLDED).shape
    answer = mapped(*(x[:, None] for x in few()))
    assert shape == (8, ROWS // 8) and count_devices(answer) == 8
    assert np.allclose(answer[:, 0], products(*few()), atol=0.05)
    return str(shape)


@claim(changed("0.4.1"), then="jax.interpreters.pxla._ShardedDeviceArray")
def has_a_type_of_its_own(lab):
    """What `pmap` returns has a type of its own."""
    answer = lab.answers["pmap"]
    assert type(answer) is type(lab.answers["jit(vmap)"])
    assert not hasattr(jax.interpreters.pxla, "_ShardedDeviceArray")
    return f"{type(answer).__name__}, the type of every array"


@claim(HOLDS)
def is_one_array_on_eight(lab):
    """It is one array to look at, and lies on all devices."""
    answer = lab.answers["pmap"]
    shards = [shard.data.shape for shard in answer.addressable_shards]
    assert answer.shape == (8,) and shards == [(1,)] * 8
    return f"{answer.shape}, in {len(shards)} shards of {shards[0]}"


@claim(changed("0.4.1"))
def gathers_for_other_functions(lab):
    """A function without `pmap` moves it to one device before it computes."""
    answer = lab.answers["pmap"]
    after = [answer + 1, jax.jit(jnp.sort)(answer)]
    assert [count_devices(x) for x in after] == [8, 8]
    return "`+ 1` and `jit(sort)` leave it on 8 devices"


@claim(OTHER_MACHINE, then="51.5 ms ± 1.4 ms")
def takes_so_long(lab):
    """`pmap(vmap(dot))` takes this long for the ten million rows."""
    v, u = np.ones((2, 8, 1250, 3), np.float32)
    call = partial(jax.pmap(jax.vmap(dot)), v, u)
    timing = time_calls({"call": call}, rounds=3, seconds=0.05)["call"]
    assert call().shape == (8, 1250)
    took = f"{count_text(1e3 * timing.median)} ms"
    return f"{took} for 10,000 rows on {jax.devices()[0].device_kind}"


@claim(changed("0.5.0"), then="0.51048726, -0.7174605, -0.20105815, …")
def draws_these_numbers(lab):
    """The dot products of eight random rows of key 42 are these."""
    now, before = products(*few()), products(*few(partitionable=False))
    assert np.allclose(before, PRINTED, atol=1e-4) and not np.allclose(now, PRINTED)
    return ", ".join(str(x) for x in now[:3]) + ", …; the old ones by the old generator"


@claim(HOLDS)
def agrees_with_vmap(lab):
    """`pmap` prints the numbers that `vmap` prints."""
    mapped, batched = (np.asarray(lab.answers[k]) for k in ("pmap", "jit(vmap)"))
    difference = float(abs(mapped - batched).max())
    assert difference < 1e-3
    return f"the largest difference is {difference:.0e}" if difference else "the same"


@claim(changed("0.4.1"), then="ShardedDeviceArray([ 0.51048726, …")
def prints_its_type(lab):
    """`pmap` prints its answer as a `ShardedDeviceArray`."""
    text = repr(lab.answers["pmap"])
    assert text.startswith("Array(")
    return text.partition(",")[0] + ", …"


@claim(HOLDS)
def runs_in_every_order(lab):
    """`jit(vmap)`, `jit(pmap)`, `pmap(jit)` and `pmap` alone all run."""
    expected = products(*few())
    answers = [np.asarray(answer) for answer in lab.answers.values()]
    assert len(answers) == 4 and np.allclose(answers, expected, atol=0.05)
    return f"{len(answers)} orders, the same {len(expected)} numbers, up to rounding"


@claim(OTHER_MACHINE, then="2.33 ms ± 260 µs")
def times_jit_of_vmap(lab):
    """A call of `jit(vmap(dot))` for eight rows takes this long."""
    assert count_devices(lab.answers["jit(vmap)"]) == 1
    return f"{count_text(1e3 * lab.times['jit(vmap)'])} µs"


@claim(OTHER_MACHINE, then="47.4 ms ± 22.7 ms")
def times_jit_of_pmap(lab):
    """A call of `jit(pmap(dot))` takes this long."""
    assert count_devices(lab.answers["jit(pmap)"]) == 8
    return f"{count_text(1e3 * lab.times['jit(pmap)'])} µs"


@claim(OTHER_MACHINE, then="37.1 ms ± 924 µs")
def times_pmap_of_jit(lab):
    """A call of `pmap(jit(dot))` takes this long."""
    assert count_devices(lab.answers["pmap(jit)"]) == 8
    return f"{count_text(1e3 * lab.times['pmap(jit)'])} µs"


@claim(OTHER_MACHINE, then="24.5 ms ± 4.04 ms")
def times_pmap(lab):
    """A call of `pmap(dot)` takes this long."""
    assert count_devices(lab.answers["pmap"]) == 8
    return f"{count_text(1e3 * lab.times['pmap'])} µs"


@claim(MEASURED, then="10 to 20 times")
def finds_one_device_fastest(lab):
    """For so few rows one device is faster than any `pmap`."""
    times = lab.times
    ratios = [times[name] / times["jit(vmap)"] for name in times if "pmap" in name]
    assert len(ratios) == 3
    return f"{count_text(min(ratios))} to {count_text(max(ratios))} times"


@claim(changed("0.8.0"), then="47.4 ms, not 24.5 ms")
def finds_jit_of_pmap_slower(lab):
    """`jit` around `pmap` makes it slower."""
    assert jaxpr_of(lab, "jit(pmap)") == f"jit({jaxpr_of(lab, 'pmap')})"
    ratio = count_text(lab.times["jit(pmap)"] / lab.times["pmap"])
    return f"`pmap` has a `jit` of its own, and this is one more: {ratio} times"


@claim(changed("0.8.0"), then="37.1 ms, not 24.5 ms")
def finds_pmap_of_jit_slower(lab):
    """`jit` inside `pmap` makes it slower."""
    inner = jaxpr_of(lab, "pmap(jit)").replace("jit(dot_general)", "dot_general")
    assert inner == jaxpr_of(lab, "pmap")
    ratio = count_text(lab.times["pmap(jit)"] / lab.times["pmap"])
    return f"the same operations, one of them in a `jit`: {ratio} times"


@claim(changed("0.4.4"), then="xla_call(dot_general)")
def records_xla_call(lab):
    """The jaxpr of `jit(vmap)` is an `xla_call` around one `dot_general`."""
    found = jaxpr_of(lab, "jit(vmap)")
    assert found == "jit(dot_general)"
    return found


@claim(HOLDS, then="(((1,), (1,)), ((0,), (0,)))")
def records_the_dimensions(lab):
    """That `dot_general` contracts the second axes and batches the first."""
    jaxpr = jax.make_jaxpr(lab.ways["jit(vmap)"])(*few())
    [found] = [e for e in equations(jaxpr) if e.primitive.name == "dot_general"]
    assert found.params["dimension_numbers"] == (((1,), (1,)), ((0,), (0,)))
    return str(found.params["dimension_numbers"])


@claim(changed("0.8.0"), then="xla_call(xla_pmap(dot_general))")
def records_jit_of_pmap(lab):
    """The jaxpr of `jit(pmap)` is an `xla_pmap` in an `xla_call`."""
    found = jaxpr_of(lab, "jit(pmap)")
    assert found.startswith("jit(jit(shard_map(") and "xla_" not in found
    return found


@claim(changed("0.8.0"), then="xla_pmap(xla_call(dot_general))")
def records_pmap_of_jit(lab):
    """The jaxpr of `pmap(jit)` is an `xla_call` in an `xla_pmap`."""
    found = jaxpr_of(lab, "pmap(jit)")
    assert found.startswith("jit(shard_map(") and "jit(dot_general)" in found
    return found


@claim(changed("0.8.0"), then="xla_pmap(dot_general)")
def records_pmap(lab):
    """The jaxpr of `pmap` for few rows is an `xla_pmap` around one `dot_general`."""
    found = jaxpr_of(lab, "pmap")
    assert found.startswith("jit(shard_map(") and found.count("dot_general") == 1
    return found


NOTEBOOK = (
    sets_up_the_tpu,
    asks_for_the_platform,
    lists_eight_devices,
    returns_a_device_array,
    makes_the_rows,
    maps_all_rows_on_one,
    refuses_too_many_rows,
    takes_no_more_than_devices,
    folds_the_rows,
    maps_a_block_each,
    sees_no_mapped_axis,
    records_xla_pmap,
    records_its_options,
    reshapes_in_vdot,
    avoids_the_reshape,
    maps_rows_of_blocks,
    has_a_type_of_its_own,
    is_one_array_on_eight,
    gathers_for_other_functions,
    takes_so_long,
    draws_these_numbers,
    agrees_with_vmap,
    prints_its_type,
    runs_in_every_order,
    times_jit_of_vmap,
    times_jit_of_pmap,
    times_pmap_of_jit,
    times_pmap,
    finds_one_device_fastest,
    finds_jit_of_pmap_slower,
    finds_pmap_of_jit_slower,
    records_xla_call,
    records_the_dimensions,
    records_jit_of_pmap,
    records_pmap_of_jit,
    records_pmap,
)
