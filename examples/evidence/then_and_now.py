"""Hold an old document to its word: each claim has a proof, which runs with the book.

Why it is hard: a tutorial does not change when JAX does, a sentence in it cannot fail,
and an output printed years ago looks like one that was printed today.
What finishes it: write each claim down with a verdict and with a function that asserts
the verdict and returns what happens now; run them all, and let the first that fails
stop the build.

Run it: `python -m examples.evidence.then_and_now`
"""

import re
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from examples.tools.timing import time_calls


class Verdict(NamedTuple):
    """What became of a claim: one of KINDS, and since when or why."""

    kind: str
    detail: str = ""


KINDS = ("holds", "changed", "never so", "cannot be checked here")
HOLDS, NEVER = Verdict(KINDS[0]), Verdict(KINDS[2])


def changed(version, at_latest=False):
    """Return the verdict on what was so before a `version` of JAX, like "0.8.0".

    at_latest: it is only known that it had changed by then.
    """
    return Verdict(KINDS[1], f"{'by' if at_latest else 'in'} JAX {version}")


def unchecked(why):
    """Return the verdict on what this build cannot decide; `why` is its reason."""
    return Verdict(KINDS[3], f"because {why}")


class Claim(NamedTuple):
    """What a document says, in words of this book, and the function that judges it."""

    says: str
    then: str  # what the document prints or names, where it does
    verdict: Verdict
    proof: Callable


def claim(verdict, then=""):
    """Make a `Claim` of a proof, whose docstring is what the document says."""
    return lambda proof: Claim(proof.__doc__, then, verdict, proof)


def run(claims, *given):
    """Run each claim's proof on what is `given`; return what happens now.

    A proof asserts. Raises AssertionError, with the claim, where one objects.
    """
    found = []
    for number, one in enumerate(claims, 1):
        try:
            now = one.proof(*given)
        except AssertionError as error:
            words = f"claim {number}, {one.says!r}, is not {one.verdict.kind!r} {error}"
            raise AssertionError(words) from error
        assert isinstance(now, str) and now, f"claim {number} says nothing of now"
        found.append(now)
    return found


def verdicts(claims, kinds=KINDS):
    """Return how many of `claims` have each kind of verdict, the kinds in order."""
    found = Counter(one.verdict.kind for one in claims)
    return {kind: found[kind] for kind in kinds}


def raised(call, *args):
    """Return the error that `call(*args)` raises; AssertionError if it raises none.

    What it prints is lost: JAX 0.12.0 prints a place in the source before some errors.
    """
    try:
        with redirect_stdout(StringIO()):
            call(*args)
    except Exception as error:
        return error
    raise AssertionError("it raises nothing")


def first_line(error, most=120):
    """Return type and message of an error in one line of at most so many characters."""
    text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def speedup(slow, fast):
    """Return how many times longer `slow()` takes than `fast()`, at their best.

    Lower quartiles are compared: what disturbs a machine only ever makes it slower.
    A busy machine can still turn it around, so that nothing is asserted of it.
    """
    timings = time_calls({"slow": slow, "fast": fast}, rounds=7, seconds=0.05)
    return timings["slow"].low / timings["fast"].low


def count_devices(x):
    """Return how many devices hold a shard of the array `x`."""
    return len(x.sharding.device_set)


# ---- what more than one document speaks of -----------------------------------------


def dot(x, y):
    """Return the dot product of two rows: (n,) and (n,) give ()."""
    return x @ y


BATCHED = jax.vmap(dot)
MAPPED = jax.jit(BATCHED)  # one for all claims, so that it is compiled once


def loop(x, y):
    """Return the dot product of each pair of rows, by a loop in Python."""
    return jnp.stack([dot(*row) for row in zip(x, y, strict=True)])


def one_by_one(x, y):
    """Return the dot product of each pair of rows, by `lax.map`."""
    return lax.map(lambda row: dot(*row), (x, y))


def by_hand(x, y):
    """Return the dot product of each pair of rows, batched by hand."""
    return jnp.einsum("ri,ri->r", x, y)


def batch(rows=16):
    """Return two batches of rows, float32 (rows, 5), of small whole numbers."""
    x = np.arange(5 * rows, dtype=np.float32).reshape(rows, 5)
    return x % 11, x % 7


def table():
    """Return a row of three whole numbers for each of eight devices, float32 (8, 3)."""
    return np.arange(24, dtype=np.float32).reshape(8, 3)


@cache
def normals(partitionable=True):
    """Return the random numbers of key 42, (16, 3), as they are or once were drawn.

    partitionable: False draws them as JAX did before 0.5.0.
    """
    with jax.threefry_partitionable(partitionable):
        return np.asarray(jax.random.normal(jax.random.PRNGKey(42), (16, 3)))


def equations(jaxpr):
    """Yield every equation of a jaxpr, and of the jaxprs inside its equations."""
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            if hasattr(value, "eqns"):
                yield from equations(value)


def outline(jaxpr):
    """Return a jaxpr's primitives in order, what is inside of them in brackets."""
    words = []
    for equation in jaxpr.eqns:
        values = equation.params.values()
        inside = [outline(value) for value in values if hasattr(value, "eqns")]
        name = equation.primitive.name
        words.append(f"{name}({', '.join(inside)})" if inside else name)
    return ", ".join(words)


@cache
def compiled_text(fn):
    """Return the optimized HLO of `fn` of a batch, without names and source places."""

    def program(x, y):
        return fn(x, y)

    hlo = jax.jit(program).lower(*batch()).compile().as_text()
    hlo = re.sub(r"^HloModule [^,]*", "HloModule", hlo)
    tables = "FileNames|FunctionNames|FileLocations|StackFrames"
    hlo = re.sub(rf"(?m)^(?:{tables})\n(?:.+\n)*", "", hlo)
    hlo = re.sub(r",? ?metadata=\{(?:\"[^\"]*\"|[^}\"])*\}", "", hlo)
    return re.sub(r"\n{2,}", "\n\n", hlo)


# ---- a claim that holds, and one that does not -------------------------------------


@claim(HOLDS)
def answers_alone():
    """`vmap` leaves its answer on one device."""
    answer = jax.vmap(jnp.sin)(jax.device_put(jnp.zeros(8), jax.devices()[0]))
    assert count_devices(answer) == 1
    return f"{count_devices(answer)} device of {jax.device_count()}"


@claim(HOLDS)
def answers_everywhere():
    """`vmap` spreads its answer over all devices."""
    answer = jax.vmap(jnp.sin)(jax.device_put(jnp.zeros(8), jax.devices()[0]))
    assert count_devices(answer) == jax.device_count(), (
        f"on {count_devices(answer)} device"
    )
    return "all devices"


def main():
    """Judge a claim that holds, and one that is said to hold and does not.

    >>> main()
    claim 1, holds: 1 device of 8
    AssertionError: claim 1, '`vmap` spreads its answer over all devices.', is not 'holds' on 1 device
    {'holds': 2, 'changed': 0, 'never so': 0, 'cannot be checked here': 0}
    """  # noqa: E501
    [now] = run((answers_alone,))
    print(f"claim 1, {answers_alone.verdict.kind}: {now}")
    error = raised(run, (answers_everywhere,))
    print(first_line(error, most=200))
    assert isinstance(error, AssertionError)
    print(verdicts((answers_alone, answers_everywhere)))


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
