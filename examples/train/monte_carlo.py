"""Price an option on an average by Monte Carlo, on as many devices as there are.

Each chunk of paths has a key of its own, so the price does not depend on the number of
devices. Rounds are added until the standard error is below a cent.

Run it: `python -m examples.train.monte_carlo`
"""

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import NamedSharding

STRIKE, RATE, VOLATILITY = 105.0, 0.03, 0.2
MONTHS, CHUNKS, PATHS = 12, 64, 2048  # the months of a path, the chunks of a round


def payoffs(key, spot, paths=PATHS):
    """Return what each path is worth today, (paths,): its monthly average is paid."""
    z = jax.random.normal(key, (MONTHS, paths))
    step = (RATE - VOLATILITY**2 / 2) / MONTHS + VOLATILITY * z / MONTHS**0.5
    average = (spot * jnp.exp(jnp.cumsum(step, axis=0))).mean(axis=0)
    return jnp.exp(-RATE) * jnp.maximum(average - STRIKE, 0)


def simulate(mesh, paths=PATHS):
    """Return a function from keys (chunks,), sharded, and a price to mean and variance.

    Of all paths; a device holds one of its chunks at a time.
    """
    (name,) = mesh.axis_names

    def body(keys, spot):
        def chunk(key):
            x = payoffs(key, spot, paths)
            return x.mean(), x.var()

        means, variances = lax.map(chunk, keys)
        mean = lax.pmean(means.mean(), name)
        return mean, lax.pmean((variances + (means - mean) ** 2).mean(), name)

    return jax.jit(
        jax.shard_map(body, mesh=mesh, in_specs=(P(name), P()), out_specs=P())
    )


def until(error, mesh, key, spot):
    """Yield the paths so far, the price and its error, until that is below `error`."""
    run, rounds, now = simulate(mesh), [], float("inf")
    while now > error:
        keys = jax.random.split(jax.random.fold_in(key, len(rounds)), CHUNKS)
        keys = jax.device_put(keys, NamedSharding(mesh, P("data")))
        rounds.append([float(number) for number in run(keys, spot)])
        paths = len(rounds) * CHUNKS * PATHS
        means, variances = zip(*rounds, strict=True)
        mean = sum(means) / len(rounds)
        apart = [(each - mean) ** 2 for each in means]
        variance = (sum(variances) + sum(apart)) / len(rounds)
        now = (variance / paths) ** 0.5
        yield paths, mean, now


def lower(mesh):
    """Lower a round on a mesh of any size: on each device, 8 chunks of 2**20 paths."""
    keys = jax.ShapeDtypeStruct(
        (8 * mesh.size,),
        jax.random.key(0).dtype,
        sharding=NamedSharding(mesh, P(mesh.axis_names[0])),
    )
    spot = jax.ShapeDtypeStruct((), jnp.float32, sharding=NamedSharding(mesh, P()))
    return simulate(mesh, 2**20).lower(keys, spot)


def main():
    """Price until the standard error is below a cent.

    >>> main()
       131,072 paths: 3.44 ± 0.018
       262,144 paths: 3.46 ± 0.013
       393,216 paths: 3.45 ± 0.011
       524,288 paths: 3.46 ± 0.009
    """
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    for paths, mean, error in until(0.01, mesh, jax.random.key(0), 100.0):
        print(f"{paths:10,} paths: {mean:.2f} ± {error:.3f}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
