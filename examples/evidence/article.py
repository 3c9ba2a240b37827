"""Judge the article on vmap's role in batch processing, claim by claim.

Why it is hard: it speaks of efficiency and parallelism in general, and says little that
can fail.
What finishes it: the smallest program that would behave otherwise if a sentence were
wrong.

Use it: `run(ARTICLE)` returns what happens now, a text for each claim
"""

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
    by_hand,
    changed,
    claim,
    compiled_text,
    count_devices,
    dot,
    equations,
    one_by_one,
    outline,
    raised,
    speedup,
    unchecked,
)
from examples.tools.text import count_text
from examples.tools.tracing import count_traces


@claim(HOLDS)
def needs_no_loop():
    """`vmap` applies a function to a batch, and nobody writes a loop."""
    (x, y), counted = batch(), count_traces(dot)
    found = outline(jax.make_jaxpr(jax.vmap(counted))(x, y))
    assert counted.traces == 1 and found == "dot_general"
    assert np.array_equal(MAPPED(x, y), (x * y).sum(axis=1))
    return f"{counted.traces} call for {len(x)} rows, which records {found}"


@claim(HOLDS)
def batches_matrix_products():
    """It suits matrix multiplication."""
    matrices, vector = np.arange(24.0).reshape(2, 3, 4), np.arange(4.0)
    answer = jax.jit(jax.vmap(jnp.matmul, in_axes=(0, None)))(matrices, vector)
    assert np.array_equal(answer, matrices @ vector)
    return f"{matrices.shape[1:]} @ {vector.shape} becomes {answer.shape}"


@claim(HOLDS)
def batches_elementwise():
    """It suits element-wise operations."""
    x, _ = batch()

    def wave(row):
        return jnp.sin(row) * row

    mapped = outline(jax.make_jaxpr(jax.vmap(wave))(x))
    assert mapped == outline(jax.make_jaxpr(wave)(x[0]))
    return f"the same operations, mapped or not: {mapped}"


@claim(NEVER)
def batches_every_operation():
    """It gives every operation in the function a batch axis."""
    x, w = np.zeros((16, 3)), np.zeros(3)
    mapped = jax.vmap(lambda row, w: row + jnp.sin(w), in_axes=(0, None))
    [sine] = [e for e in jax.make_jaxpr(mapped)(x, w).eqns if e.primitive.name == "sin"]
    assert sine.outvars[0].aval.shape == (3,)
    return "an operation on unmapped values only stays (3,)"


@claim(NEVER)
def records_a_jaxpr_first():
    """It first turns the function into a jaxpr, and then transforms that."""
    x, w = np.arange(3.0), jnp.float32(2)
    mapped = jax.vmap(lambda x, w: x * float(w), in_axes=(0, None))
    assert mapped(x, w).tolist() == [0, 2, 4]  # Python can read w: nothing is recorded
    error = raised(jax.make_jaxpr(mapped), x, w)
    assert isinstance(error, jax.errors.ConcretizationTypeError)
    return f"`float(w)` works in `vmap`; in a jaxpr, {type(error).__name__}"


@claim(unchecked("the book's default target has neither"))
def serves_accelerators():
    """What it makes is then optimized for GPUs and TPUs."""
    x, y = batch()
    traced = MAPPED.trace(x, y)
    texts = [traced.lower(lowering_platforms=(p,)).as_text() for p in ("cuda", "tpu")]
    assert all("dot_general" in text for text in texts)
    return "it is lowered for both, to one dot_general"


@claim(HOLDS)
def stays_on_one_device():
    """By itself it does not spread work over several devices."""
    x, y = jax.device_put(batch(), jax.devices()[0])
    answer = MAPPED(x, y)
    assert count_devices(answer) == 1
    return f"{count_devices(answer)} device of {jax.device_count()}"


@claim(changed("0.4.1"))
def cannot_use_more():
    """`vmap` is for one device; for more there is `pmap`."""
    mesh = jax.make_mesh((8,), ("rows",))
    x, y = jax.device_put(batch(), NamedSharding(mesh, P("rows")))
    answer = MAPPED(x, y)
    assert count_devices(answer) == 8
    return f"rows that lie on 8 devices: answered on {count_devices(answer)}"


@claim(HOLDS)
def takes_all_rows_at_once():
    """On one device it lets the batch run in parallel."""
    at_once, in_turn = compiled_text(BATCHED), compiled_text(one_by_one)
    assert " while(" not in at_once and " while(" in in_turn
    return "one operation for all rows; `lax.map` compiles to a loop"


@claim(HOLDS)
def equals_batching_by_hand():
    """Its results are those of a batch written by hand."""
    assert compiled_text(BATCHED) == compiled_text(by_hand)
    return "the compiled programs are the same text"


@claim(NEVER)
def equals_other_libraries():
    """They are identical to the batched operations of NumPy, PyTorch or TensorFlow."""
    x = np.random.default_rng(0).random((1000, 100), dtype=np.float32)
    ours = np.asarray(jax.jit(jax.vmap(lambda row: jnp.exp(row).sum()))(x))
    theirs = np.exp(x).sum(axis=1)
    assert np.allclose(ours, theirs, rtol=1e-5) and (ours != theirs).any()
    differ = np.count_nonzero(ours != theirs)
    return f"{differ} of {len(x)} sums of `exp` differ from NumPy's in the last digits"


@claim(HOLDS)
def needs_no_rewriting():
    """A model written for one example becomes one for a batch, without a change."""
    x, _ = batch()
    weights = {"w": np.arange(10.0).reshape(5, 2), "b": np.arange(2.0)}

    def model(weights, row):
        return jnp.maximum(row @ weights["w"] + weights["b"], 0)

    answer = jax.jit(jax.vmap(model, in_axes=(None, 0)))(weights, x)
    assert np.array_equal(answer, np.maximum(x @ weights["w"] + weights["b"], 0))
    row = jax.eval_shape(model, weights, x[0])
    return f"{row.shape} for a row, {answer.shape} for {len(x)}"


@claim(HOLDS)
def jit_makes_it_faster():
    """`jit` around it makes it faster still."""
    x, y = jax.device_put(batch(), jax.devices()[0])
    often, once = count_traces(dot), count_traces(dot)
    plain, compiled = jax.vmap(often), jax.jit(jax.vmap(once))
    ratio = speedup(lambda: plain(x, y), lambda: compiled(x, y))
    assert often.traces > 3 and once.traces == 1
    times = f"{count_text(ratio)} times, on 16 rows of 5"
    return f"{times}: Python ran the function once, not {often.traces} times"


@claim(NEVER)
def jit_makes_it_the_fastest():
    """`vmap` in `jit` is as efficient as can be."""

    def either(x):
        return lax.cond(x > 0, jnp.sin, jnp.cos, x)

    x = np.arange(4.0)
    mapped = outline(jax.make_jaxpr(jax.vmap(either))(x))
    single = [e.primitive.name for e in equations(jax.make_jaxpr(either)(x[0]))]
    assert "cond" in single and "cond" not in mapped
    assert all(name in mapped for name in ("sin", "cos", "select_n"))
    return "a mapped `cond` computes both branches for every row"


@claim(HOLDS)
def pmap_uses_all_devices():
    """`pmap` runs a function on several devices."""
    x, y = (a.reshape(8, 2, 5) for a in batch())
    answer = jax.pmap(jax.vmap(dot))(x, y)
    assert count_devices(answer) == 8 and answer.shape == (8, 2)
    return f"{count_devices(answer)} devices"


ARTICLE = (
    needs_no_loop,
    batches_matrix_products,
    batches_elementwise,
    batches_every_operation,
    records_a_jaxpr_first,
    serves_accelerators,
    stays_on_one_device,
    cannot_use_more,
    takes_all_rows_at_once,
    equals_batching_by_hand,
    equals_other_libraries,
    needs_no_rewriting,
    jit_makes_it_faster,
    jit_makes_it_the_fastest,
    pmap_uses_all_devices,
)
