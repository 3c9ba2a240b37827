"""Compile a lowered program, and keep what the compiler says of it as plain facts.

Promise: a number is the compiler's, for one device; what it does not say is left out.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

# What asks the compilers, and what reads their answers.
SOURCES = [
    Path(__file__).with_name(f"{n}.py") for n in ("chips", "facts", "read", "hlo")
]


def facts(lowered) -> dict:
    """Compile a `jax.stages.Lowered`; return what the compiler says of one device.

    Bytes, floating-point operations where the compiler counts them, and for TPUs its
    own estimate of the seconds that one run computes. Where the program does not fit
    in memory, the compiler's message instead.
    """
    import jax

    from book.compilers.read import collectives, overlapped, telling

    start = time.perf_counter()
    try:
        compiled = lowered.compile()
    except jax.errors.JaxRuntimeError as error:
        if not str(error).startswith("RESOURCE_EXHAUSTED"):
            raise
        return {"does not fit": str(error).splitlines()[0]}
    seconds = time.perf_counter() - start
    return {
        "collectives": collectives(compiled),
        "overlapped": overlapped(compiled),
        **_memory(compiled),
        **_cost(compiled),
        "hlo": telling(compiled),
        "compile seconds": round(seconds, 2),
    }


def digest(lowered, program: Path) -> str:
    """Return what tells apart the facts of a `jax.stages.Lowered` of a program file.

    They may change with the code that was lowered, with the program, which may set how
    it is compiled, and with the files here that ask a compiler and read its answer.
    """
    texts = [path.read_text(encoding="utf-8") for path in (program, *SOURCES)]
    whole = "\0".join([lowered.as_text(), *texts])
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


def _memory(compiled) -> dict[str, int]:
    """What a program needs of the memory of one device, in bytes."""
    memory = compiled.memory_analysis()
    return {
        "arguments": memory.argument_size_in_bytes,
        "outputs": memory.output_size_in_bytes,
        "aliased": memory.alias_size_in_bytes,
        "temporaries": memory.temp_size_in_bytes,
        "code": memory.generated_code_size_in_bytes,
    }


def _cost(compiled) -> dict[str, float]:
    """What the compiler counts and estimates of one device; it may do neither."""
    cost, found = compiled.cost_analysis() or {}, {}
    for name in ("flops", "bytes accessed"):
        if cost.get(name, 0) > 0:
            found[name] = round(cost[name])
    if cost.get("optimal_seconds", 0) > 0:
        found["estimated seconds"] = float(f"{cost['optimal_seconds']:.3g}")
    return found
