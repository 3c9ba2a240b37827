"""Ask the compilers of other hardware what they make of the programs in `examples/`.

Promise: a program's `lower`, and each `lower_NAME` beside it, is compiled for chips
that are not here, and what the compiler found is kept beside the program.  `--check`
compiles again and names what differs.

    python -m book.compilers.ask [--check] [--gpu] [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from book.compilers import chips, keep
from book.compilers.keep import EXAMPLES


def programs(folder: Path = EXAMPLES) -> dict[str, list[str]]:
    """Name every program with a `lower`, such as "spine", and its ways to lower."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
        if ways := [name for name in names if is_way(name)]:
            found[path.relative_to(folder).with_suffix("").as_posix()] = ways
    return found


def is_way(name: str) -> bool:
    """Whether a function of this name lowers its program: `lower`, `lower_split`."""
    return name == "lower" or name.startswith("lower_")


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


def module_of(program: str) -> ModuleType:
    """Return the module of a program such as "shard_map/psum"."""
    return importlib.import_module("examples." + program.replace("/", "."))


def wants_large(program: str) -> bool:
    """Whether a program says `LARGE = True`: compile it for thousands of chips, too."""
    return getattr(module_of(program), "LARGE", False)


def ask(program: str, way: str, chip: chips.Chip, mesh, available: int) -> dict:
    """Return the facts of one way to lower `program` for `chip`."""
    try:
        found = facts(getattr(module_of(program), way)(mesh))
    except Exception as error:
        error.add_note(f"in {way} of examples/{program}.py, for {chip.says}")
        raise
    return {"devices": chip.devices, "available": available, **found}


def ask_all(
    wanted: dict[str, list[str]], gpu: bool
) -> Iterator[tuple[str, dict[str, dict]]]:
    """Give the facts of each wanted program, by way and by chip, as they are found."""
    every = [chips.H100] if gpu else [*chips.EIGHT, *chips.LARGE]
    meshes = {chip: chip.mesh() for chip in every}
    memory = {chip: chip.memory(mesh) for chip, mesh in meshes.items()}

    def one(program: str) -> dict[str, dict]:
        large = gpu or wants_large(program)
        some = [chip for chip in every if large or chip in chips.EIGHT]
        return {
            way: {c.name: ask(program, way, c, meshes[c], memory[c]) for c in some}
            for way in wanted[program]
        }

    with ThreadPoolExecutor(2) as pool:  # a compiler waits for no Python
        yield from zip(wanted, pool.map(one, wanted), strict=True)


def here(names: list[str]) -> dict[str, dict]:
    """Return the facts of programs compiled for eight devices that are here."""
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    found = {}
    for name in names:
        module = module_of(name)
        ways = [way for way in vars(module) if is_way(way)]
        found[name] = {way: facts(getattr(module, way)(mesh)) for way in ways}
    return found


def main(arguments: list[str] | None = None) -> int:
    """Write, or with `--check` compare, what the compilers say; 1 where it differs."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.here:
        print(json.dumps(here(given.program)))
        return 0
    known = programs()
    if unknown := set(given.program) - set(known):
        parser.error(f"no program with a `lower`: {', '.join(sorted(unknown))}")
    wanted = {name: known[name] for name in given.program or known}
    stale = keep.left_over(known) if given.check and not given.program else []
    for name, answer in _answers(wanted, given.gpu):
        if given.check:
            stale += keep.compare(name, answer)
        else:
            keep.write(name, answer)
    for line in stale:
        print(line, file=sys.stderr)
    if stale:
        session = "compile_gpu" if given.gpu else "compile"
        print(f"To write them anew: nox -s {session}", file=sys.stderr)
    return int(bool(stale))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nox -s compile --", description=__doc__)
    parser.add_argument("program", nargs="*", help="such as shard_map/psum; else all")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--gpu", action="store_true", help="for eight H100s, not TPUs")
    parser.add_argument("--here", action="store_true", help="print those of this build")
    return parser


def _answers(wanted: dict[str, list[str]], gpu: bool) -> Iterator[tuple[str, dict]]:
    """Give, program by program, the part to keep: the facts, and what they are of."""
    os.environ |= chips.GPU if gpu else chips.TPU
    packages = ("jax", "jax-cuda13-plugin" if gpu else "libtpu")
    made = {"made with": {name: version(name) for name in packages}}
    for count, (name, ways) in enumerate(ask_all(wanted, gpu), 1):
        print(f"[{count}/{len(wanted)}] {name}: {', '.join(ways)}", flush=True)
        yield name, {"gpu" if gpu else "tpu": made | ways}


if __name__ == "__main__":
    raise SystemExit(main())
