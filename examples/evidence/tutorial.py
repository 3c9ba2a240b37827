"""Judge a page of tutorial excerpts on pmap and vmap, claim by claim.

Why it is hard: its sentences come from many years, and it does not say from which.
What finishes it: one small program for each sentence that can fail.

Use it: `run(TUTORIAL)` returns what happens now, a text for each claim
"""

import os
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.evidence.then_and_now import (
    HOLDS,
    MAPPED,
    batch,
    changed,
    claim,
    count_devices,
    dot,
    first_line,
    loop,
    outline,
    raised,
    speedup,
    table,
    unchecked,
)
from examples.tools.text import count_text
from examples.tools.tracing import count_traces


@claim(changed("0.2.7"))
def leads_with_the_mapped_axis():
    """`pmap` always puts the mapped axis first, as `vmap` does with `out_axes=0`."""
    ways = [jax.pmap(jnp.negative, out_axes=axis) for axis in (0, 1)]
    shapes = [jax.eval_shape(way, table()).shape for way in ways]
    assert shapes == [(8, 3), (3, 8)]
    return f"{shapes[0]}, or {shapes[1]} with `out_axes=1`"


@claim(HOLDS)
def maps_purely():
    """`pmap` can map a function whose rows never meet."""
    answer = jax.pmap(jnp.sum)(table())
    assert np.array_equal(answer, table().sum(axis=1))
    return f"{table().shape} becomes {answer.shape}"


@claim(HOLDS)
def communicates_by_collectives():
    """Its function can also use what other devices hold, by collectives."""

    def share(row):
        return row / lax.psum(row, "rows")

    answer = jax.pmap(share, axis_name="rows")(1 + table())
    assert np.allclose(answer.sum(axis=0), 1)
    return f"each column of {answer.shape} adds up to 1"


@claim(HOLDS)
def runs_one_program():
    """All devices run one program, each on its own data."""
    place = count_traces(lambda row: lax.axis_index("rows") + 0 * row)
    answer = jax.pmap(place, axis_name="rows")(np.zeros(8))
    assert answer.tolist() == list(range(8)) and place.traces == 1
    return f"{place.traces} trace of Python for {count_devices(answer)} devices"


@claim(HOLDS)
def layers_with_jit():
    """`pmap` can be used with `jit`."""
    mapped = jax.pmap(jax.jit(jnp.sum))
    assert np.array_equal(jax.jit(mapped)(table()), table().sum(axis=1))
    return "`jit(pmap(jit(sum)))` is `sum` of each row"


@claim(HOLDS)
def layers_with_grad():
    """`pmap` can be used with `grad`."""
    inside = jax.pmap(jax.grad(lambda row: (row**2).sum()))
    outside = jax.jit(jax.grad(lambda x: jax.pmap(jnp.sum)(x**2).sum()))
    assert np.array_equal(inside(table()), outside(table()))
    assert np.array_equal(inside(table()), 2 * table())
    return "inside and outside, the same gradients"


@claim(HOLDS)
def layers_with_vmap():
    """`pmap` can be used with `vmap`."""
    blocks = np.arange(48.0).reshape(8, 2, 3)
    answer = jax.pmap(jax.vmap(jnp.sum))(blocks)
    assert np.array_equal(answer, blocks.sum(axis=2))
    return f"{blocks.shape} becomes {answer.shape}"


@claim(changed("0.10.0", at_latest=True))
def layers_with_itself():
    """A `pmap` can stand in a `pmap`."""
    inner = jax.pmap(jnp.negative)
    error = raised(jax.pmap(inner), np.zeros((2, 4)))
    assert isinstance(error, ValueError) and "context mesh" in str(error)
    return first_line(error, most=60)


@claim(changed("0.4.4"), then="jax.pjit")
def has_pjit():
    """For several devices, `pjit` compiles what `jit` compiles for one."""
    error = raised(getattr, jax, "pjit")
    assert isinstance(error, AttributeError)
    mesh = jax.make_mesh((8,), ("rows",))
    split = NamedSharding(mesh, P("rows"))
    answer = jax.jit(jnp.negative, out_shardings=split)(table())
    assert count_devices(answer) == 8
    return f"there is none; `jit` answers on {count_devices(answer)} devices"


@claim(unchecked("other programs hold this machine's cores, too"))
def uses_several_cores():
    """XLA may use several cores for an operation, a mapped one as well."""
    x = jax.device_put(np.ones((16, 128, 128), np.float32), jax.devices()[0])
    mapped = jax.jit(jax.vmap(jnp.matmul))
    assert count_devices(mapped(x, x).block_until_ready()) == 1
    start = time.perf_counter(), time.process_time()
    for _ in range(20):
        mapped(x, x).block_until_ready()
    wall, busy = time.perf_counter() - start[0], time.process_time() - start[1]
    return f"{count_text(busy / wall)} of {os.cpu_count()} cores busy, for one device"


@claim(HOLDS)
def says_nothing_of_devices():
    """Nothing in `vmap` itself asks for parallel work."""
    text = MAPPED.lower(*batch()).as_text()
    assert "num_partitions = 1 " in text and "num_replicas = 1 " in text
    return "the lowered program has 1 partition and 1 replica"


@claim(HOLDS)
def differs_from_a_pool():
    """`pmap` is neither a `vmap` nor a pool of processes."""
    seen = []
    mapped = jax.pmap(lambda row: seen.append(os.getpid()) or row)
    answer = mapped(table())
    assert seen == [os.getpid()] and count_devices(answer) == 8
    return f"{len(seen)} call, in this process, for {count_devices(answer)} devices"


@claim(HOLDS)
def needs_no_broadcasting():
    """With `vmap` nobody adds axes by hand."""
    x, y = np.arange(3.0), np.arange(4.0)
    outer = jax.jit(jax.vmap(jax.vmap(jnp.subtract, (None, 0)), (0, None)))
    assert np.array_equal(outer(x, y), x[:, None] - y[None, :])
    return f"all differences of {x.shape} and {y.shape}: {outer(x, y).shape}"


@claim(HOLDS)
def composes():
    """`vmap` composes with `jit` and `grad`."""
    gradients = jax.jit(jax.vmap(jax.grad(lambda w, row: (w * row).sum()), (None, 0)))
    answer = gradients(np.ones(3), table())
    assert np.array_equal(answer, table())
    return f"a gradient for each of 8 rows: {answer.shape}"


@claim(HOLDS)
def obeys_in_and_out_axes():
    """`in_axes` and `out_axes` say which axis is the batch."""
    total = jax.jit(jax.vmap(jnp.cumsum, in_axes=1, out_axes=1))(table())
    assert np.array_equal(total, np.cumsum(table(), axis=0))
    return "`cumsum` down the columns"


@claim(HOLDS)
def beats_a_loop():
    """It is much faster than a loop in Python."""
    x, y = jax.device_put(batch(), jax.devices()[0])
    single, rows = jax.jit(dot), [*zip(*batch(), strict=True)]
    ratio = speedup(lambda: [single(*row) for row in rows], lambda: MAPPED(x, y))
    found = outline(jax.make_jaxpr(loop)(x, y)).count("dot_general")
    assert found == len(rows) == 16
    return f"{count_text(ratio)} times: 1 call for 16 rows, where the loop has {found}"


TUTORIAL = (
    leads_with_the_mapped_axis,
    maps_purely,
    communicates_by_collectives,
    runs_one_program,
    layers_with_jit,
    layers_with_grad,
    layers_with_vmap,
    layers_with_itself,
    has_pjit,
    uses_several_cores,
    says_nothing_of_devices,
    differs_from_a_pool,
    needs_no_broadcasting,
    composes,
    obeys_in_and_out_axes,
    beats_a_loop,
)
