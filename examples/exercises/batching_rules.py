"""Write a batching rule: what `concatenate` becomes when its arguments have a batch.

A rule is called with the mapped axis, the operation, its arguments, for each of them
0 or None, and the parameter `dimension`, along which one example is joined.
It returns the output and 0 or None.
"""

import jax
import jax.numpy as jnp
import numpy as np

from examples.vmap.batching_rules import MappedAxis, all_batched


def solution(mapped, op, args, dims, dimension):
    """Give each argument a batch in front, and join along an axis one higher."""
    return op(*all_batched(args, dims, mapped), dimension=dimension + 1), 0


def check(make):
    """Raise AssertionError, with what to look at, unless the rule `make` is right.

    make(mapped, op, args, dims, dimension) to (output, dim), for args of (3, 2, 2)
    where the dim is 0 and (2, 2) where it is None.
    """
    full = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
    for dims in ((0, 0), (0, None), (None, 0)):
        args = [x if dim == 0 else x[0] for x, dim in zip(full, dims, strict=True)]
        for dimension in (0, 1):
            _check_one(make, args, dims, dimension)
    print("The check passes.")


def _check_one(make, args, dims, dimension):
    def joined(x, y):
        return jax.lax.concatenate([x, y], dimension)

    case = f"with dims {dims} and dimension {dimension}"
    [eqn] = jax.make_jaxpr(joined)(*np.zeros((2, 2, 2), np.float32)).eqns

    def op(*args, **changed):
        return eqn.primitive.bind(*args, **eqn.params | changed)

    try:
        answer = make(MappedAxis(None, 3, {}), op, args, dims, dimension=dimension)
    except TypeError as error:
        sentence = f"{case}, the operation does not fit its arguments"
        raise AssertionError(f"{sentence}: {error}") from error
    assert isinstance(answer, tuple) and len(answer) == 2, (
        "a rule returns two things: the output, and 0 or None"
    )
    out, dim = answer
    assert dim == 0, f"{case}, the output depends on the example: its dim is 0"
    expected = jax.vmap(joined, in_axes=dims)(*args)
    assert jnp.shape(out) == expected.shape, (
        f"{case}, the output has shape {expected.shape}, yours has {jnp.shape(out)}"
    )
    assert np.array_equal(out, expected), f"{case}, the numbers are in other places"


def mistake_joins_the_examples(mapped, op, args, dims, dimension):
    """You did not add 1 to `dimension`, although the batch is now axis 0."""
    return op(*all_batched(args, dims, mapped)), 0


def mistake_leaves_out_who_shares(mapped, op, args, dims, dimension):
    """You gave no batch axis to the arguments that all examples share."""
    return op(*args, dimension=dimension + 1), 0


def mistake_says_it_is_shared(mapped, op, args, dims, dimension):
    """You returned `None` as the dim, as if all examples shared the output."""
    return op(*all_batched(args, dims, mapped), dimension=dimension + 1), None
