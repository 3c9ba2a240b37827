"""Judge the notes to a video on NumPy and JAX, claim by claim.

Why it is hard: they sum up a talk, and promise much in few words: hardware without
end, no change to the code, hardly a failure.
What finishes it: the program that each promise would have to run.

Use it: `run(VIDEO)` returns what happens now, a text for each claim
"""

from functools import cache
from importlib.util import find_spec
from unittest import mock

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.evidence.then_and_now import (
    HOLDS,
    NEVER,
    changed,
    claim,
    first_line,
    normals,
    raised,
    speedup,
    table,
    unchecked,
)
from examples.tools.text import count_text
from examples.tools.tracing import traces

PLATFORMS = ("cpu", "cuda", "tpu")


@cache
def blocks():
    """Return a mesh of 4 x 2 devices and two matrices, (8, 16) and (16, 4), on it."""
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    a = np.arange(128, dtype=np.float32).reshape(8, 16) % 7
    b = np.arange(64, dtype=np.float32).reshape(16, 4) % 5
    specs = P("rows", "inner"), P("inner", None)
    return mesh, *(
        jax.device_put(x, NamedSharding(mesh, spec))
        for x, spec in zip((a, b), specs, strict=True)
    )


def block(a, b):
    """Return what a device adds to a matmul of `blocks`, summed over "inner"."""
    return lax.psum(a @ b, "inner")


@cache
def product(mesh, body=block):
    """Return `body` as a jitted map over the shards of `blocks`: a matmul."""
    specs = P("rows", "inner"), P("inner", None)
    mapped = jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("rows", None))
    return jax.jit(mapped)


def lowered(fn, *args):
    """Return the platforms of PLATFORMS that `fn` can be lowered for."""
    traced = jax.jit(fn).trace(*args)
    return [p for p in PLATFORMS if traced.lower(lowering_platforms=(p,)).as_text()]


@claim(HOLDS)
def resembles_numpy():
    """`jax.numpy` is an API like NumPy's."""
    names = [n for n in np.__all__ if callable(getattr(np, n))]
    names = [n for n in names if not isinstance(getattr(np, n), type)]
    known = [n for n in names if hasattr(jnp, n)]
    assert len(known) > 0.75 * len(names)
    return f"{len(known)} of NumPy's {len(names)} functions"


@claim(NEVER)
def leaves_eager_execution():
    """JAX compiles, where NumPy executes line by line."""
    seen = []

    def lines(x):
        y = x + 1
        seen.append(isinstance(y, jax.core.Tracer))
        return y * 2

    x = jax.device_put(np.ones(3, np.float32))
    plain, compiled = lines(x), jax.jit(lines)(x)
    assert seen == [False, True] and np.array_equal(plain, compiled)
    return "without `jit` it executes line by line, too"


@claim(HOLDS)
def gains_by_compiling():
    """To compile by `jit` brings a significant gain in speed."""

    def chain(x):
        for _ in range(20):
            x = x * 0.5 + 1
        return x

    x = jax.device_put(np.ones(1000, np.float32), jax.devices()[0])
    compiled = jax.jit(chain).lower(x).compile()
    assert (
        compiled.as_text().count(" fusion(") <= 1 < len(jax.make_jaxpr(chain)(x).eqns)
    )
    ratio = speedup(lambda: chain(x), lambda: compiled(x))
    return f"{count_text(ratio)} times: 40 small operations become one"


@claim(NEVER)
def compiles_numpy_code():
    """`jit` compiles code in Python and NumPy."""
    error = raised(jax.jit(lambda x: np.sin(x)), np.ones(3))
    assert isinstance(error, jax.errors.TracerArrayConversionError)
    assert jax.jit(jnp.sin)(np.ones(3)).shape == (3,)
    return f"`jnp.sin` yes; `np.sin` raises {type(error).__name__}"


@claim(HOLDS)
def keeps_arrays_as_they_are():
    """An array cannot be changed in place."""
    x = jax.device_put(np.zeros(3, np.float32))
    error = raised(x.__setitem__, 0, 1)
    assert isinstance(error, TypeError) and x.at[0].set(1).tolist() == [1, 0, 0]
    assert x.tolist() == [0, 0, 0]
    return "TypeError; `x.at[0].set(1)` returns another array"


@claim(changed("0.10.2", at_latest=True))
def keeps_everything_as_it_is():
    """Nothing in JAX can be changed in place."""

    @jax.jit
    def count(x):
        box = jax.new_ref(jnp.zeros(()))
        jax.ref.addupdate(box, ..., x.sum())
        return box[...]

    assert count(np.ones(3)) == 3
    return "`jax.new_ref` makes a box whose value can be replaced, in `jit`, too"


@claim(HOLDS)
def wants_a_key():
    """Random numbers want a key, and the same key gives the same numbers."""
    first, again = (jax.random.normal(jax.random.key(7), (16, 3)) for _ in range(2))
    assert np.array_equal(first, again) and not np.array_equal(first, normals())
    assert isinstance(raised(jax.random.normal), TypeError)
    return "the same within this JAX; without a key, TypeError"


@claim(changed("0.5.0"))
def reproduces_for_ever():
    """With explicit keys, results can be reproduced."""
    now, before = normals(), normals(partitionable=False)
    assert not np.isclose(now, before).any()
    return "key 42 gives other numbers; `jax.threefry_partitionable(False)` the old"


@claim(HOLDS)
def vectorizes_by_itself():
    """`vmap` takes a function to batches, without a loop."""
    x = table()
    seen = traces(lambda f: jax.vmap(f)(x))
    assert seen == 1 and np.array_equal(jax.vmap(jnp.sum)(x), x.sum(axis=1))
    return f"{seen} call for {len(x)} rows"


@claim(HOLDS)
def trains_on_parts():
    """`pmap` is for data parallelism: one model, and a part of the data on each."""
    x, w = np.arange(16, dtype=np.float32).reshape(8, 2), np.float32(3)

    def slope(w, part):
        return lax.pmean(jax.grad(lambda w: (w * part).mean())(w), "rows")

    mapped = jax.pmap(slope, "rows", in_axes=(None, 0))
    assert mapped(w, x).tolist() == [x.mean()] * 8
    return f"8 devices agree on the gradient of all data, {x.mean()}"


@claim(NEVER, then="shardmap")
def calls_it_shardmap():
    """The map with manual control is called `shardmap`."""
    assert not hasattr(jax, "shardmap") and callable(jax.shard_map)
    return "`jax.shard_map`"


@claim(HOLDS)
def sees_one_shard():
    """Its function is written for what one device holds."""
    mesh, a, b = blocks()
    seen = []
    spied = product(mesh, lambda a, b: seen.append((a.shape, b.shape)) or block(a, b))
    jax.eval_shape(spied, a, b)
    assert seen == [((2, 8), (8, 4))]
    return f"of {a.shape} and {b.shape} it sees {seen[0][0]} and {seen[0][1]}"


@claim(HOLDS)
def says_what_is_sent():
    """Its function says itself what the devices send, by collectives."""
    mesh, a, b = blocks()
    text = product(mesh).lower(a, b).compile().as_text()
    quiet = jax.shard_map(
        jnp.negative, mesh=mesh, in_specs=P("rows"), out_specs=P("rows")
    )
    a = jax.device_put(a, NamedSharding(mesh, P("rows")))
    assert " all-reduce" in text and text.count(" all-gather") == 0
    assert " all-" not in jax.jit(quiet).lower(a).compile().as_text()
    return "an all-reduce for the `psum`, and nothing without one"


@claim(HOLDS)
def is_finer_than_pmap():
    """It is finer-grained than `pmap`."""
    mesh, a, b = blocks()
    assert product(mesh)(a, b).sharding.spec == P("rows", None)
    nested = jax.pmap(jax.pmap(jnp.negative))
    assert isinstance(raised(nested, np.zeros((4, 2))), ValueError)
    return "two mesh axes, a sum over one of them; `pmap` has one axis"


@claim(HOLDS)
def partitions_by_itself():
    """In `jit` the compiler partitions the work, and adds the communication."""
    mesh = jax.make_mesh((8,), ("rows",))
    x = jax.device_put(table(), NamedSharding(mesh, P("rows")))
    compiled = jax.jit(lambda x: x.sum()).lower(x).compile().as_text()
    assert "num_partitions=8" in compiled and " all-reduce" in compiled
    return "a plain `sum` becomes 8 partitions and an all-reduce"


@claim(HOLDS)
def works_in_jit():
    """`shard_map` can be used in `jit`."""
    mesh, a, b = blocks()
    answer = jax.jit(lambda a, b: jnp.tanh(product(mesh)(a, b) * 0))(a, b)
    assert answer.shape == (8, 4) and not answer.any()
    return "in a function beside operations that the compiler partitions"


@claim(HOLDS)
def leaves_some_axes():
    """Some mesh axes can be manual, and the rest be left to the compiler."""
    mesh, a, _ = blocks()
    seen = []
    mapped = jax.shard_map(
        lambda a: seen.append(a.shape) or 2 * a,
        mesh=mesh,
        in_specs=P("rows"),
        out_specs=P("rows"),
        axis_names={"rows"},
    )
    assert np.array_equal(jax.jit(mapped)(a), 2 * np.asarray(a))
    assert seen[0] == (2, 16)
    return f"with `axis_names={{'rows'}}` it sees {seen[0]} of {a.shape}"


@claim(HOLDS)
def runs_eagerly():
    """It can run eagerly, which makes it easier to debug."""
    mesh, a, _ = blocks()
    specs = {"in_specs": P("rows", "inner"), "out_specs": P("rows", "inner")}
    texts = []
    jax.shard_map(lambda a: texts.append(str(a)) or a, mesh=mesh, **specs)(a)
    assert str(np.asarray(a)[0, :8]).strip("[]") in texts[0]
    choose = jax.shard_map(lambda a: a if a.sum() > 0 else -a, mesh=mesh, **specs)
    error = raised(choose, a)
    assert isinstance(error, jax.errors.TracerBoolConversionError)
    return (
        f"`print` shows each device's numbers; an `if` on them: {type(error).__name__}"
    )


@claim(HOLDS)
def needs_eight_devices():
    """The example wants eight devices."""
    four = jax.devices()[:4]
    error = raised(lambda: jax.make_mesh((4, 2), ("rows", "inner"), devices=four))
    assert isinstance(error, ValueError)
    assert blocks()[0].size == 8
    return f"with four: {type(error).__name__}"


@claim(HOLDS)
def multiplies_by_blocks():
    """A product of blocks on each device, and a sum over devices, are the matmul."""
    mesh, a, b = blocks()
    answer = product(mesh)(a, b)
    assert np.array_equal(answer, np.asarray(a) @ np.asarray(b))
    return f"{a.shape} @ {b.shape} is {answer.shape}, as NumPy has it"


@claim(HOLDS)
def draws_the_sharding():
    """`jax.debug.visualize_array_sharding` shows what lies where."""
    _, a, _ = blocks()
    if find_spec("rich"):
        with mock.patch("rich.console.Console.print") as shown:
            jax.debug.visualize_array_sharding(a)
        assert shown.called
        return "a table of devices"
    error = raised(jax.debug.visualize_array_sharding, a)
    assert isinstance(error, ValueError) and "rich" in str(error)
    return first_line(error)


@claim(unchecked("a build has one kind of device; this one only lowers for three"))
def runs_everywhere():
    """One and the same code runs on CPUs, GPUs and TPUs."""
    found = lowered(jax.vmap(lambda a, b: jnp.tanh(a @ b)), *([np.ones((4, 3, 3))] * 2))
    assert found == list(PLATFORMS)
    return f"lowered for {', '.join(found)}"


@claim(HOLDS)
def compiles_by_xla():
    """XLA makes the machine code for the hardware at hand."""
    compiled = jax.jit(jnp.sin).lower(np.ones(3)).compile()
    assert "HloModule" in compiled.as_text()
    return f"a compiled HloModule for {jax.devices()[0].platform}"


@claim(unchecked("the default target has no GPU or TPU to compare with"))
def gains_by_accelerators():
    """GPUs and TPUs make heavy computations much faster."""
    assert len({device.platform for device in jax.devices()}) == 1
    return f"only {jax.devices()[0].device_kind} devices"


@claim(HOLDS)
def numpy_stays_on_the_cpu():
    """NumPy alone does not run on a GPU or TPU."""
    error = raised(lambda: np.zeros(3, device="gpu"))
    assert isinstance(error, ValueError) and np.zeros(3).device == "cpu"
    return first_line(error)


@claim(HOLDS)
def moves_between_platforms():
    """A model made on one kind of hardware can be deployed on another."""
    exported = jax.export.export(jax.jit(jnp.sin), platforms=PLATFORMS)(np.ones(3))
    assert exported.platforms == PLATFORMS
    assert np.allclose(exported.call(np.ones(3)), np.sin(1))
    return f"`jax.export` writes one program for {', '.join(exported.platforms)}"


@claim(unchecked("neither the study's programs nor its machines are here"))
def ports_best_of_all():
    """In a study of 2023, JAX moved between GPUs and TPUs with the fewest failures."""
    x = np.eye(4) + 1
    functions = [jnp.sort, jnp.fft.fft, jnp.cumsum, jnp.argmax, jax.nn.softmax]
    found = [lowered(fn, x) for fn in functions]
    assert all(platforms == list(PLATFORMS) for platforms in found)
    return f"{len(found)} functions of this book's choice are lowered for all three"


VIDEO = (
    resembles_numpy,
    leaves_eager_execution,
    gains_by_compiling,
    compiles_numpy_code,
    keeps_arrays_as_they_are,
    keeps_everything_as_it_is,
    wants_a_key,
    reproduces_for_ever,
    vectorizes_by_itself,
    trains_on_parts,
    calls_it_shardmap,
    sees_one_shard,
    says_what_is_sent,
    is_finer_than_pmap,
    partitions_by_itself,
    works_in_jit,
    leaves_some_axes,
    runs_eagerly,
    needs_eight_devices,
    multiplies_by_blocks,
    draws_the_sharding,
    runs_everywhere,
    compiles_by_xla,
    gains_by_accelerators,
    numpy_stays_on_the_cpu,
    moves_between_platforms,
    ports_best_of_all,
)
