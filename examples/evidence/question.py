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
    BATCHED,
    HOLDS,
    MAPPED,
    NEVER,
    batch,
    changed,
    claim,
    compiled_text,
    dot,
    equations,
    loop,
    one_by_one,
    outline,
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
    x, y = batch()
    found = words(jax.make_jaxpr(one_by_one)(x, y))
    assert found == ["scan(dot_general)"]
    return f"`{found[0]}` over {len(x)} rows"


@claim(NEVER)
def runs_elements_in_parallel():
    """`vmap` runs the elements in parallel."""
    found = words(jax.make_jaxpr(BATCHED)(*batch()))
    assert found == ["dot_general"] and " call(" not in compiled_text(BATCHED)
    return f"nothing is left of the elements: {len(found)} operation for all rows"


@claim(NEVER)
def chooses_a_number():
    """It chooses a number of processes to run at the same time."""
    known = set(inspect.signature(jax.vmap).parameters)
    assert {"in_axes", "out_axes", "axis_size"} <= known
    assert not any(w in n for n in known for w in ("process", "worker", "thread"))
    text = MAPPED.lower(*batch()).as_text()
    assert "num_partitions = 1 " in text and "num_replicas = 1 " in text
    return "1 partition, 1 replica, and no option for more"


@claim(changed("0.4.1"))
def cannot_be_influenced():
    """Nothing about it is parallel, so there is nothing for a user to influence."""
    mesh = jax.make_mesh((8,), ("rows",))
    x, y = jax.device_put(batch(), NamedSharding(mesh, P("rows")))
    [here] = MAPPED(x, y).sharding.shard_shape((16,))
    [alone] = MAPPED(*batch()).sharding.shard_shape((16,))
    assert (here, alone) == (2, 16)
    return f"the sharding says it: {here} of {alone} rows on each device"


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
    with jax.default_matmul_precision("float32"):
        answer = jax.jit(loop)(*pairs())
    assert np.allclose(answer, PRINTED, rtol=1e-6)
    return str(answer)


@claim(HOLDS, then="[1.3567398 2.1908383 1.6315514]")
def prints_the_map():
    """`vmap` prints these numbers, too."""
    with jax.default_matmul_precision("float32"):
        answer = MAPPED(*pairs())
    assert np.allclose(answer, PRINTED, rtol=1e-6)
    return f"{answer}, which is the same up to the last digit"


@claim(NEVER)
def returns_the_same():
    """A loop and `vmap` return the same results, by design."""
    source = np.random.default_rng(0)
    x, y = source.normal(size=(2, 32, 512)).astype(np.float32)
    with jax.default_matmul_precision("float32"):
        once, single = MAPPED(x, y), jax.jit(dot)
        each = np.array([single(*row) for row in zip(x, y, strict=True)])
    scale = abs(x * y).sum(axis=1)
    assert np.all(abs(once - each) <= 1e-5 * scale)  # rounding, on any hardware
    differ = np.count_nonzero(once != each)
    return f"equal up to rounding: {differ} of {len(x)} products of 512 terms differ"


@claim(changed("0.10.2", at_latest=True), then="19 equations, the last a concatenate")
def records_a_long_loop():
    """The loop records 19 equations: slices, squeezes, products, a concatenate."""
    found = words(jax.make_jaxpr(loop)(*pairs()))
    assert found.count("dot_general") == 3 and found[-1] == "stack" and len(found) < 19
    return f"{len(found)}: {', '.join(dict.fromkeys(found))}"


@claim(HOLDS)
def grows_with_the_batch():
    """The loop is as long as the batch, and `vmap` is not."""
    loops = [words(jax.make_jaxpr(loop)(*pairs(n))) for n in (3, 30)]
    maps = [words(jax.make_jaxpr(BATCHED)(*pairs(n))) for n in (3, 30)]
    assert [found.count("dot_general") for found in loops] == [3, 30]
    assert maps[0] == maps[1] == ["dot_general"]
    return f"{len(loops[0])} and {len(loops[1])} equations for 3 and 30 rows; 1 and 1"


@claim(HOLDS, then="dot_general, (([1], [1]), ([0], [0]))")
def records_one_product():
    """The mapped function is one `dot_general` with a batch axis."""
    [found] = equations(jax.make_jaxpr(BATCHED)(*pairs()))
    numbers = found.params["dimension_numbers"]
    assert numbers == (((1,), (1,)), ((0,), (0,)))
    return f"{found.primitive.name}, {numbers}"


@claim(changed("0.10.2", at_latest=True), then="dimension_numbers")
def prints_its_options():
    """Its equation prints no option but the dimensions."""
    text = str(jax.make_jaxpr(BATCHED)(*pairs()))
    assert "dimension_numbers" in text and "preferred_element_type" in text
    return "dimension_numbers, preferred_element_type"


@claim(HOLDS)
def adds_no_parallelism():
    """With a larger function, too, `vmap` adds nothing that is parallel."""

    def layers(row, weights):
        return lax.fori_loop(0, 3, lambda _, row: jnp.tanh(weights @ row), row)

    mapped = jax.jit(jax.vmap(layers, in_axes=(0, None)))
    rows, weights = np.ones((16, 5), np.float32), np.eye(5, dtype=np.float32)
    found = {e.primitive.name for e in equations(jax.make_jaxpr(mapped)(rows, weights))}
    assert not found & {"shard_map", "psum", "all_gather", "ppermute"}
    text = mapped.lower(rows, weights).as_text()
    assert "num_partitions = 1 " in text and "num_replicas = 1 " in text
    return ", ".join(sorted(found - {"jit"}))


@claim(NEVER)
def is_always_efficient():
    """Whatever the function, what comes out is an efficient batch."""

    def countdown(n):
        return lax.while_loop(lambda n: n > 0, lambda n: n - 1, n)

    text = jax.jit(jax.vmap(countdown)).lower(np.arange(16)).as_text()
    assert text.count("stablehlo.while") == 1
    assert "stablehlo.or" in text and "stablehlo.select" in text
    return "examples that are done are computed, and discarded, until the last is done"


QUESTION = (
    maps_in_turn,
    runs_elements_in_parallel,
    chooses_a_number,
    cannot_be_influenced,
    becomes_a_batched_function,
    prints_the_loop,
    prints_the_map,
    returns_the_same,
    records_a_long_loop,
    grows_with_the_batch,
    records_one_product,
    prints_its_options,
    adds_no_parallelism,
    is_always_efficient,
)
