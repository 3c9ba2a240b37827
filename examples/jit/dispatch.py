"""Find out what one call costs before it computes, and pay that price less often.

Why it is hard: a call of a compiled function looks at its arguments, hands the program
to each device and collects the pieces; none of it is in the program, and all of it is
in the time.
What finishes it: the same work at every size, on one device and on eight, beside a call
that does next to nothing and beside the memory's limit.

Run it: `python -m examples.jit.dispatch`
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import NamedSharding, SingleDeviceSharding

from examples.nested.vmap_in_pmap import products, rows_of_three
from examples.tools.text import seconds_text
from examples.tools.timing import time_calls

ROWS = P("rows")
ONE = "one device"


def reference(v, u):
    """Return the dot products of all rows, (n,), without any map."""
    return (v * u).sum(axis=1)


def maps(mesh):
    """Return `{where the rows lie, or what cuts them: map of products over rows}`."""
    lanes = jax.vmap(products)
    manual = jax.shard_map(lanes, mesh=mesh, in_specs=ROWS, out_specs=ROWS)
    return {
        ONE: jax.jit(lanes),
        "split rows": jax.jit(lanes),
        "shard_map": jax.jit(manual),
        "pmap": jax.pmap(lanes, axis_name="rows"),
    }


def prepared(count, mesh):
    """Return `{name: call}`: each map with `count` rows that lie where it wants them.

    Only `pmap` wants them in blocks, (8, count/8, 3).
    """
    first = SingleDeviceSharding(mesh.devices.flat[0])
    one, split = [rows_of_three(count, s) for s in (first, NamedSharding(mesh, ROWS))]
    blocks = [x.reshape(mesh.size, -1, 3) for x in split]
    inputs = {ONE: one, "pmap": blocks}
    return {n: partial(way, *inputs.get(n, split)) for n, way in maps(mesh).items()}


def account(sizes, mesh):
    """Time a call of each map at each size; return `{size: {name: Timing}}`."""
    return {n: time_calls(prepared(n, mesh), rounds=15) for n in sizes}


def crossover(account):
    """Return the size from which on eight devices beat one; None when there is none."""
    found = None
    for size in sorted(account, reverse=True):
        medians = {name: timing.median for name, timing in account[size].items()}
        if medians.pop(ONE) <= min(medians.values()):
            break
        found = size
    return found


def lines(account):
    """Return an account as lines of text: medians, and at last what a row costs."""
    names = list(next(iter(account.values())))
    line = "{:>9}".format, "{:>12}".format
    text = [line[0]("rows") + "".join(map(line[1], names))]
    for size, timings in account.items():
        medians = (seconds_text(timings[name].median) for name in names)
        text.append(line[0](size) + "".join(map(line[1], medians)))
    return "\n".join(text)


@jax.jit
def step(x):
    """Return one more than each number of x, an array of any shape."""
    return x + 1


def by_devices():
    """Return `{how many devices: call}` of `step` with eight numbers spread on them."""
    calls = {"no call": lambda: None}
    for n in (1, 2, 4, 8):
        mesh = jax.make_mesh((n,), ("rows",))
        x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, ROWS))
        calls[f"{n} device{'s' * (n > 1)}"] = partial(step, x)
    return calls


def many_calls(x, steps):
    """Return x after so many steps, each of them a call."""
    for _ in range(steps):
        x = step(x)
    return x


@jax.jit
def one_call(x, steps):
    """Return x after so many steps, all of them in one call."""
    return lax.fori_loop(0, steps, lambda _, held: step(held), x)


def one_by_one(f, requests):
    """Return a list of `f` of each request, a tuple of arguments: a call for each."""
    return [f(*request) for request in requests]


@jax.jit
def each(leaves):
    """Return a list of arrays, each one more than the one given."""
    return [leaf + 1 for leaf in leaves]


def guarded(f, *args):
    """Return `f(*args)`; raise a JaxRuntimeError if that sends anything to a device."""
    with jax.transfer_guard("disallow"):
        return f(*args)


def lower(mesh):
    """Lower `one_call` for a mesh of any size, with one number for each device."""
    split = NamedSharding(mesh, ROWS)
    numbers = jax.ShapeDtypeStruct((mesh.size,), jnp.float32, sharding=split)
    return one_call.lower(numbers, 100)


def main():
    """Compare every map, and many calls with one; nothing is timed.

    >>> main()
    80 rows give (80,) or (8, 10)
    every map gives the same numbers: True
    a hundred calls and one call of a hundred steps agree: True
    donated memory becomes the result's: True
    """
    mesh = jax.make_mesh((8,), ("rows",))
    expected = reference(*rows_of_three(80, SingleDeviceSharding(jax.devices()[0])))
    answers = [call() for call in prepared(80, mesh).values()]
    flat = [jax.device_get(answer).reshape(-1) for answer in answers]
    x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, ROWS))
    donated = jax.jit(step, donate_argnums=0).lower(x).compile().memory_analysis()
    claims = {
        "every map gives the same numbers": all((a == expected).all() for a in flat),
        "a hundred calls and one call of a hundred steps agree": jnp.array_equal(
            many_calls(x, 100), one_call(x, 100)
        ),
        "donated memory becomes the result's": donated.alias_size_in_bytes
        == donated.output_size_in_bytes,
    }
    print(f"80 rows give {answers[0].shape} or {answers[-1].shape}")
    for claim, holds in claims.items():
        assert holds, claim
        print(f"{claim}: {holds}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
