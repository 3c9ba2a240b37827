"""Judge the question on how `vmap` runs in parallel, and the answer it got in 2023.

Why it is hard: what the asker saw is true, and what it was taken for is not.
What finishes it: run the program of the answer again, and read what each version of it
records.

Use it: `run(QUESTION)` returns what happens now, a text for each claim
"""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.evidence.then_and_now import (
    HOLDS,
    NEVER,
    changed,
    claim,
    count_devices,
)
from examples.jit.ordering import outline
from examples.vmap.what_it_does import (
    batch,
    dot,
    equations,
    facts,
    normalized_hlo,
    one_by_one,
    reference,
)

# What it printed, for the loop and for vmap alike.
PRINTED = (1.3567398, 2.1908383, 1.6315514)


def pairs(rows=3):
    """Return the answer's two batches of rows, float64 (rows, 5), by its seed."""
    source = np.random.RandomState(0)
    return source.rand(rows, 5), source.rand(rows, 5)


def words(jaxpr):
    """Return the names of a jaxpr's operations, in order."""
    return outline(jaxpr).split(", ")


@claim(HOLDS)
def maps_in_turn():
    """`jax.lax.map` takes one element after the other."""
    found = facts(one_by_one, dot, *batch())
    assert found.scans == 1
    return f"{found.scans} scan over {len(batch()[0])} rows"


@claim(NEVER)
def runs_elements_in_parallel():
    """`vmap` runs the elements in parallel."""
    found = facts(jax.vmap, dot, *batch())
    hlo = normalized_hlo(jax.vmap(dot), *batch())
    assert found.dot_generals == 1 and found.equations == 1 and " call(" not in hlo
    return f"there are no elements any more: {found.equations} operation for all rows"


@claim(NEVER)
def chooses_a_number():
    """It chooses a number of processes to run at the same time."""
    known = set(inspect.signature(jax.vmap).parameters)
    assert {"in_axes", "out_axes", "axis_size"} <= known
    assert not any(w in n for n in known for w in ("process", "worker", "thread"))
    text = jax.jit(jax.vmap(dot)).lower(*batch()).as_text()
    assert "num_partitions = 1 " in text and "num_replicas = 1 " in text
    return "1 partition, 1 replica, and no option for more"


@claim(changed("0.4.1"))
def cannot_be_influenced():
    """Nothing about it is parallel, so there is nothing for a user to influence."""
    mesh = jax.make_mesh((8,), ("rows",))
    counts = []
    for spec in (P(), P("rows")):
        x, y = jax.device_put(batch(), NamedSharding(mesh, spec))
        answer = jax.jit(jax.vmap(dot))(x, y)
        counts.append(answer.sharding.shard_shape(answer.shape)[0])
    assert counts == [16, 2]
    return f"the sharding says it: {counts[1]} of {counts[0]} rows on each device"


@claim(HOLDS)
def becomes_a_batched_function():
    """It turns a function of one element into one of a batch."""
    mapped = jax.vmap(dot)
    shapes = jax.eval_shape(dot, *pairs(1)[0], *pairs(1)[1]).shape
    whole = jax.eval_shape(mapped, *pairs()).shape
    assert shapes == () and whole == (3,)
    return f"a row gives {shapes}, three rows {whole}"


@claim(HOLDS, then="[1.3567398 2.1908383 1.6315514]")
def prints_the_loop():
    """The answer's loop over three pairs of rows prints these products."""
    answer = reference(dot)(*pairs())
    assert np.allclose(answer, PRINTED, rtol=1e-6)
    return str(answer)


@claim(HOLDS, then="[1.3567398 2.1908383 1.6315514]")
def prints_the_map():
    """`vmap` prints the same, by design."""
    answer = jax.vmap(dot)(*pairs())
    assert np.allclose(answer, PRINTED, rtol=1e-6)
    assert np.array_equal(jax.vmap(dot)(*batch()), reference(dot)(*batch()))
    return f"{answer}; whole numbers are equal to the bit"


@claim(changed("0.10.2", at_latest=True), then="19 equations, the last a concatenate")
def records_a_long_loop():
    """The loop records 19 equations: slices, squeezes, products, a concatenate."""
    found = words(jax.make_jaxpr(reference(dot))(*pairs()))
    assert found.count("dot_general") == 3 and found[-1] == "stack" and len(found) < 19
    return f"{len(found)}: {', '.join(dict.fromkeys(found))}"


@claim(HOLDS)
def grows_with_the_batch():
    """The loop is as long as the batch, and `vmap` is not."""
    loops = [words(jax.make_jaxpr(reference(dot))(*pairs(n))) for n in (3, 30)]
    maps = [words(jax.make_jaxpr(jax.vmap(dot))(*pairs(n))) for n in (3, 30)]
    assert [loop.count("dot_general") for loop in loops] == [3, 30]
    assert maps[0] == maps[1] == ["dot_general"]
    return f"{len(loops[0])} and {len(loops[1])} equations for 3 and 30 rows; 1 and 1"


@claim(HOLDS, then="dot_general, (([1], [1]), ([0], [0]))")
def records_one_product():
    """The mapped function is one `dot_general` with a batch axis."""
    [found] = equations(jax.make_jaxpr(jax.vmap(dot))(*pairs()))
    numbers = found.params["dimension_numbers"]
    assert numbers == (((1,), (1,)), ((0,), (0,)))
    return f"{found.primitive.name}, {numbers}"


@claim(changed("0.10.2", at_latest=True), then="dimension_numbers")
def prints_its_options():
    """Its equation prints no option but the dimensions."""
    text = str(jax.make_jaxpr(jax.vmap(dot))(*pairs()))
    assert "dimension_numbers" in text and "preferred_element_type" in text
    return "dimension_numbers, preferred_element_type"


@claim(HOLDS)
def adds_no_parallelism():
    """With a larger function, too, `vmap` adds nothing that is parallel."""

    def layers(row, weights):
        return lax.fori_loop(0, 3, lambda _, row: jnp.tanh(weights @ row), row)

    mapped = jax.vmap(layers, in_axes=(0, None))
    rows, weights = jax.device_put((jnp.ones((16, 5)), jnp.eye(5)), jax.devices()[0])
    found = {e.primitive.name for e in equations(jax.make_jaxpr(mapped)(rows, weights))}
    assert not found & {"shard_map", "psum", "all_gather", "ppermute"}
    assert count_devices(mapped(rows, weights)) == 1
    return ", ".join(sorted(found))


@claim(NEVER)
def is_always_efficient():
    """Whatever the function, what comes out is an efficient batch."""

    def countdown(n):
        return lax.while_loop(lambda n: n > 0, lambda n: n - 1, n)

    text = jax.jit(jax.vmap(countdown)).lower(jnp.arange(16)).as_text()
    assert text.count("stablehlo.while") == 1
    assert "stablehlo.or" in text and "stablehlo.select" in text
    return "rows that are done are computed, and thrown away, until the last is done"


QUESTION = (
    maps_in_turn,
    runs_elements_in_parallel,
    chooses_a_number,
    cannot_be_influenced,
    becomes_a_batched_function,
    prints_the_loop,
    prints_the_map,
    records_a_long_loop,
    grows_with_the_batch,
    records_one_product,
    prints_its_options,
    adds_no_parallelism,
    is_always_efficient,
)
