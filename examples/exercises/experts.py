"""Count the tokens that each expert drops, and find the capacity that drops none.

Write the body of a `shard_map` over "expert": it gets what the router chose for the
tokens of one device, int32 (tokens,), and the capacity: the slots that each of 16
experts has for the tokens of *each* device. It returns how many tokens each expert
drops on all devices, (16,), and the lowest capacity with which none is dropped, ().
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax


def solution(expert, capacity):
    """Add what is over the capacity on each device; take the highest."""
    count = jnp.bincount(expert, length=16)
    dropped = lax.psum(jnp.maximum(count - capacity, 0), "expert")
    return dropped, lax.pmax(count.max(), "expert")


def check(audit):
    """Raise AssertionError, with what to look at, unless `audit` is right.

    audit(expert, capacity): int32 (32,) of one device and an int, to (16,) and ().
    """
    even = np.arange(256) % 16
    draw = np.random.default_rng(0)
    uneven = np.minimum(draw.integers(0, 16, 256), draw.integers(0, 16, 256))
    for capacity in 2, 4:
        for expert in even, uneven, np.sort(uneven), np.full(256, 3):
            dropped, needed = _run(audit, expert.astype(np.int32), capacity)
            counts = np.stack(
                [np.bincount(e, minlength=16) for e in expert.reshape(8, 32)]
            )
            expected = np.maximum(counts - capacity, 0).sum(axis=0)
            together = np.maximum(counts.sum(axis=0) - capacity, 0)
            assert np.array_equal(dropped, expected) or not np.array_equal(
                dropped, together
            ), (
                "you compare the tokens of all devices with the capacity, but each "
                "device has so many slots of its own"
            )
            assert np.array_equal(dropped, expected), (
                f"with capacity {capacity}, the 16 experts drop {expected.tolist()} "
                f"of 256 tokens; by your count {np.asarray(dropped).tolist()}"
            )
            most = counts.max()
            assert needed == most or needed != counts.sum(axis=0).max(), (
                f"{needed} slots drop nothing, and are too many: they are for the "
                f"tokens of one device, and {most} are enough"
            )
            assert needed >= most, (
                f"with {needed} slots tokens are still dropped: some expert gets "
                f"{most} from one device"
            )
            assert needed == most, f"{most} slots are enough; yours are {needed}"
    print("The check passes.")


def _run(audit, expert, capacity):
    """Return what `audit` says of the choices (256,) on eight devices."""

    def body(expert):
        found = audit(expert, capacity)
        assert isinstance(found, tuple) and len(found) == 2, (
            f"return two things, dropped tokens and the capacity; yours: {found!r}"
        )
        shapes = [np.shape(one) for one in found]
        assert shapes == [(16,), ()], (
            f"16 experts drop, and one capacity is enough: (16,) and (); the shapes of "
            f"yours are {shapes[0]} and {shapes[1]}"
        )
        return found

    with jax.set_mesh(jax.make_mesh((8,), ("expert",))):
        placed = jax.device_put(expert, P("expert"))
        mapped = jax.shard_map(body, in_specs=P("expert"), out_specs=P())
        try:
            return jax.jit(mapped)(placed)
        except jax.errors.ConcretizationTypeError:
            raise AssertionError(
                "under jit an array cannot be as long as its values say: how many "
                "experts are there, whichever were chosen?"
            ) from None
        except ValueError as error:
            if "replication" not in str(error):
                raise
            raise AssertionError(
                "each device counted its own tokens: which collectives combine these "
                "counts into numbers that hold for all devices?"
            ) from None


def mistake_counts_all_devices_first(expert, capacity):
    """You compared all devices' counts with the slots for one device's tokens."""
    count = lax.psum(jnp.bincount(expert, length=16), "expert")
    return jnp.maximum(count - capacity, 0), count.max()


def mistake_needs_slots_for_all(expert, capacity):
    """You summed the counts over devices, but slots are for one device's tokens."""
    count = jnp.bincount(expert, length=16)
    dropped = lax.psum(jnp.maximum(count - capacity, 0), "expert")
    return dropped, lax.psum(count, "expert").max()


def mistake_trusts_the_mean(expert, capacity):
    """You took the mean of the devices' highest counts, but some need more slots."""
    count = jnp.bincount(expert, length=16)
    dropped = lax.psum(jnp.maximum(count - capacity, 0), "expert")
    return dropped, lax.pmean(count.max(), "expert")


def mistake_speaks_of_its_own_tokens(expert, capacity):
    """You counted the tokens of one device only, without a collective."""
    count = jnp.bincount(expert, length=16)
    return jnp.maximum(count - capacity, 0), count.max()


def mistake_leaves_the_length_to_bincount(expert, capacity):
    """You left out `length=16`, but under `jit` a length cannot depend on values."""
    count = jnp.bincount(expert)
    dropped = lax.psum(jnp.maximum(count - capacity, 0), "expert")
    return dropped, lax.pmax(count.max(), "expert")
