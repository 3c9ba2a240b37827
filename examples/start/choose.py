"""Map one function over rows in nine ways, and measure what each way costs.

Why it is hard: all ways return the same numbers, each is the best somewhere, and what
decides is how many rows there are, how much memory, and how many devices.
What finishes it: the same function in every way, equal to the last bit, and one table
of times, compile times and bytes, measured side by side on the machine at hand.

Run it: `python -m examples.start.choose`
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

WIDTH = 64  # numbers in a row


def reference(weights, rows):
    """Return the score of every row, (n,), by NumPy."""
    up, down = (np.asarray(matrix) for matrix in weights)
    return np.maximum(np.asarray(rows) @ up, 0) @ down


def score(weights, row):
    """Return the score of one row, (64,), as a scalar; weights: (64, 64) and (64,)."""
    up, down = weights
    return jnp.maximum(row @ up, 0) @ down


def numbers(count):
    """Return weights and (count, 64) rows: whole numbers, so small that sums are exact.

    Both are float32.
    """
    across = jnp.arange(WIDTH)
    up = across * (across[:, None] + 3) % 11 % 3 - 1.0
    rows = (jnp.arange(count)[:, None] + across**2) % 4 - 1.0
    return (up, across % 5 - 2.0), rows


def on_one_device(f):
    """Return `{name: f mapped over rows}`: six ways on one device."""
    batched = jax.vmap(f, in_axes=(None, 0))
    return {
        "Python loop": by_python(f),
        "Python loop, jit(f)": by_python(jax.jit(f)),
        "jit(lax.map)": jax.jit(
            lambda weights, rows: lax.map(partial(f, weights), rows)
        ),
        "jit(scan)": jax.jit(by_scan(f)),
        "vmap, no jit": batched,
        "jit(vmap)": jax.jit(batched),
    }


def on_eight_devices(f, mesh):
    """Return `{name: f mapped over rows}`: three ways on the devices of `mesh`."""
    batched = jax.vmap(f, in_axes=(None, 0))
    specs = {"in_specs": (P(), P("rows")), "out_specs": P("rows")}
    return {
        "pmap(vmap)": jax.pmap(batched, "rows", in_axes=(None, 0)),
        "jit(vmap), rows split": jax.jit(batched),
        "jit(shard_map(vmap))": jax.jit(jax.shard_map(batched, mesh=mesh, **specs)),
    }


def by_python(f):
    """Return `f` mapped over rows by Python, with the answers in a NumPy array."""
    return lambda weights, rows: np.stack([f(weights, row) for row in rows])


def by_scan(f):
    """Return `f` mapped over rows by a `scan` that carries nothing."""

    def mapped(weights, rows):
        return lax.scan(lambda _, row: (None, f(weights, row)), None, rows)[1]

    return mapped


def placed(count, mesh):
    """Return `{name: (weights, rows)}`, each put where that way wants it.

    For `pmap` the rows are folded, (8, n/8, 64); eight must divide `count`.
    """
    weights, rows = numbers(count)
    everywhere = jax.device_put(weights, NamedSharding(mesh, P()))
    split = jax.device_put(rows, NamedSharding(mesh, P("rows")))
    found = dict.fromkeys(on_one_device(score), (weights, rows))
    found |= dict.fromkeys(on_eight_devices(score, mesh), (everywhere, split))
    found["pmap(vmap)"] = everywhere, split.reshape(mesh.size, -1, WIDTH)
    return found


def limits(count):
    """Return `{name: call}`: what one call costs at least, and the product alone."""
    (up, _), rows = numbers(count)
    one = jax.jit(lambda number: number + 1)
    product = jax.jit(jnp.matmul)
    return {
        "limit: next to nothing": partial(one, rows[0, 0]),
        "limit: one product": partial(product, rows, up),
    }


def calls(count, mesh, without=()):
    """Return `{name: call}` of the nine ways, less those in `without`, and limits."""
    ways = on_one_device(score) | on_eight_devices(score, mesh)
    where = placed(count, mesh)
    found = {name: partial(way, *where[name]) for name, way in ways.items()}
    kept = {name: call for name, call in found.items() if name not in without}
    return kept | limits(count)


def compiles(count, mesh):
    """Return `{name: call}`: a call compiles that way anew, and runs nothing."""

    def anew(name):
        def body(weights, row):  # a new function: nothing of it is remembered
            return score(weights, row)

        ways = on_one_device(body) | on_eight_devices(body, mesh)
        return ways[name].lower(*where[name]).compile()

    where = placed(count, mesh)
    return {name: partial(anew, name) for name in where if has_program(name)}


def has_program(name):
    """Return whether that way is one compiled program, not operation by operation."""
    return "Python" not in name and "no jit" not in name


def temporaries(count, mesh):
    """Return `{name: bytes}`: what a compiled way needs on one device, on the way."""
    programs = {name: call() for name, call in compiles(count, mesh).items()}
    return {
        name: program.memory_analysis().temp_size_in_bytes
        for name, program in programs.items()
    }


def unrolled(count):
    """Compile a Python loop over `count` rows inside of `jit`, and run nothing."""
    weights, rows = numbers(count)

    def loop(weights, rows):
        return jnp.stack([score(weights, row) for row in rows])

    return jax.jit(loop).lower(weights, rows).compile()


def batched(count):
    """Compile the `vmap` of `count` rows, and run nothing."""
    weights, rows = numbers(count)
    fn = jax.vmap(lambda weights, row: score(weights, row), in_axes=(None, 0))
    return jax.jit(fn).lower(weights, rows).compile()


def curves(measured, names):
    """Return `{name: [(rows, seconds), ...]}` from `{rows: {name: Timing}}`."""
    return {
        name: [(count, timings[name].median) for count, timings in measured.items()]
        for name in names
    }


def lower(mesh):
    """Lower `jit(shard_map(vmap))` for a mesh of any size, 64 rows on each device."""
    weights, rows = jax.eval_shape(partial(numbers, 64 * mesh.size))

    def on(spec, leaf):
        sharding = NamedSharding(mesh, spec)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    way = on_eight_devices(score, mesh)["jit(shard_map(vmap))"]
    return way.lower(jax.tree.map(partial(on, P()), weights), on(P("rows"), rows))


def main():
    """Run the nine ways and compare each with NumPy.

    >>> main()
    weights (64, 64) and (64,), rows (64, 64) give (64,)
    six ways on one device give the same numbers: True
    three ways on eight devices give the same numbers: True
    with no more devices than they were given: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    weights, rows = numbers(64)
    expected = reference(weights, rows)
    shapes = " and ".join(str(leaf.shape) for leaf in weights)
    print(f"weights {shapes}, rows {rows.shape} give {expected.shape}")
    where = placed(64, mesh)
    answers = {
        name: way(*where[name])
        for name, way in (on_one_device(score) | on_eight_devices(score, mesh)).items()
    }
    same = [np.array_equal(a.reshape(-1), expected) for a in answers.values()]
    spread = [len(a.sharding.device_set) for a in list(answers.values())[2:]]
    claims = {
        "six ways on one device give the same numbers": all(same[:6]),
        "three ways on eight devices give the same numbers": all(same[6:]),
        "with no more devices than they were given": spread == [1] * 4 + [8] * 3,
    }
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
