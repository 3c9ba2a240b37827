"""Run microbatches through stages that lie on several devices, and return the outputs.

Write the body of a `shard_map` over "stage": each of eight stages has a weight of its
own, and computes `x * weight + 1`. All microbatches enter at the first stage; what the
last one makes of them is returned on every device, in order.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax

from examples.tools.traffic import sends


def _turns(weight, micro, pairs):
    """Return what this stage computes in each turn, (turns, k)."""
    stages, stage = lax.axis_size("stage"), lax.axis_index("stage")

    def turn(received, fresh):
        y = jnp.where(stage == 0, fresh, received) * weight[0] + 1
        return lax.ppermute(y, "stage", pairs), y

    idle = jnp.zeros((stages - 1, *micro.shape[1:]), micro.dtype)
    micro = lax.pcast(jnp.concatenate([micro, idle]), "stage", to="varying")
    return lax.scan(turn, jnp.zeros_like(micro[0]), micro)[1]


def _to_the_next():
    """Return the pairs of stages that hand on."""
    return [(s, s + 1) for s in range(lax.axis_size("stage") - 1)]


def _of_stage(x, stage):
    """Return what `stage` holds, on every device."""
    return lax.psum(jnp.where(lax.axis_index("stage") == stage, x, 0), "stage")


def solution(weight, micro):
    """Hand on in M + S - 1 turns; the last stage has results from turn S - 1."""
    stages = lax.axis_size("stage")
    y = _turns(weight, micro, _to_the_next())
    return _of_stage(y[stages - 1 :], stages - 1)


def check(run):
    """Raise AssertionError, with what to look at, unless `run` is right.

    run(weight, micro): float32 (1,) of each of eight stages, and (6, 5), to (6, 5).
    """
    weights = np.float32([1, 2, 1, 3, 1, 2, 1, 1])
    micro = np.arange(30, dtype=np.float32).reshape(6, 5)

    def body(weight, micro):
        answer = run(weight, micro)
        assert isinstance(answer, jax.Array) and answer.shape == micro.shape, (
            f"six microbatches have six outputs, {micro.shape}; yours: "
            f"{np.shape(answer) or answer!r}"
        )
        return answer

    specs = (P("stage"), P())
    with jax.set_mesh(jax.make_mesh((8,), ("stage",))):
        given = jax.device_put((weights, micro), specs)
        mapped = jax.jit(jax.shard_map(body, in_specs=specs, out_specs=P()))
        try:
            found = np.asarray(mapped(*given))
        except ValueError as error:
            if "replication" in str(error):
                raise AssertionError(
                    "each stage returns results of its own: which are the outputs?"
                ) from None
            raise
        moving = sends(mapped.lower(*given))
    expected = micro
    for weight in weights:
        expected = expected * weight + 1
    wrong = np.flatnonzero((found != expected).any(axis=1))
    assert not len(wrong), (
        f"output {wrong[0]} should begin with {expected[wrong[0], 0]}, yours does with "
        f"{found[wrong[0], 0]}: which stage computes it, in which turn?"
    )
    kinds = {sent.kind for sent in moving}
    assert "all-gather" not in kinds and "collective-permute" in kinds, (
        f"activations go from stage to stage by ppermute, not by {sorted(kinds)}"
    )
    print("The check passes.")


def mistake_sends_to_the_one_before(weight, micro):
    """You wrote the pairs as (to, from), so each stage sent to the one before it."""
    stages = lax.axis_size("stage")
    y = _turns(weight, micro, [(t, s) for s, t in _to_the_next()])
    return _of_stage(y[stages - 1 :], stages - 1)


def mistake_takes_the_first_turns(weight, micro):
    """You took the first turns, but the last stage has no output before turn 7."""
    y = _turns(weight, micro, _to_the_next())
    return _of_stage(y[: len(micro)], lax.axis_size("stage") - 1)


def mistake_takes_the_first_stage(weight, micro):
    """You returned what the first stage computed, not the last."""
    y = _turns(weight, micro, _to_the_next())
    return _of_stage(y[lax.axis_size("stage") - 1 :], 0)


def mistake_adds_all_stages(weight, micro):
    """You added what all stages computed, not only what the last one did."""
    y = _turns(weight, micro, _to_the_next())
    return lax.psum(y[lax.axis_size("stage") - 1 :], "stage")


def mistake_gathers_the_weights(weight, micro):
    """You gathered the weights, so every device computes all stages: no pipeline."""
    for w in lax.all_gather(weight, "stage", tiled=True, to="invarying"):
        micro = micro * w + 1
    return micro
