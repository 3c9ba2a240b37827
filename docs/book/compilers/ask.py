"""Ask the compilers of other hardware what they make of the programs in `examples/`.

Promise: a program's `lower`, and each `lower_NAME` beside it, is compiled for chips
that are not here, and what the compiler found is kept beside the program, as
`NAME.compiled.json`.  `--check` compiles again and names what differs; how long the
compiler took may.

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

from book.compilers import chips

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
TIMES = ("compile seconds",)  # what may differ from one run to the next


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


def kept(program: str, folder: Path = EXAMPLES) -> Path:
    """Where what the compilers said of `program` is kept."""
    return folder / f"{program}.compiled.json"


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
    memory, cost = compiled.memory_analysis(), compiled.cost_analysis() or {}
    found = {
        "collectives": collectives(compiled),
        "overlapped": overlapped(compiled),
        "arguments": memory.argument_size_in_bytes,
        "outputs": memory.output_size_in_bytes,
        "aliased": memory.alias_size_in_bytes,
        "temporaries": memory.temp_size_in_bytes,
        "code": memory.generated_code_size_in_bytes,
    }
    for name in ("flops", "bytes accessed"):
        if cost.get(name, 0) > 0:
            found[name] = round(cost[name])
    if cost.get("optimal_seconds", 0) > 0:
        found["estimated seconds"] = float(f"{cost['optimal_seconds']:.3g}")
    return found | {"hlo": telling(compiled), "compile seconds": round(seconds, 2)}


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


def differences(before: dict, now: dict, at: str = "") -> Iterator[str]:
    """Say, one by one, what differs between two answers; how long it took may."""
    for key in [*before, *(k for k in now if k not in before)]:
        where = f"{at}, {key}" if at else key
        if key in TIMES:
            continue
        if key not in now or key not in before:
            yield f"{where}: is {'new' if key in now else 'gone'}"
        elif isinstance(before[key], dict) and isinstance(now[key], dict):
            yield from differences(before[key], now[key], where)
        elif before[key] != now[key]:
            yield f"{where}: was {before[key]}, is {now[key]}"


def written(value, indent: str = "") -> str:
    """Write JSON so that a line is one fact or one collective."""
    deep = any(isinstance(v, dict | list) for v in value.values())
    if not deep:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + "  "
    lines = []
    for key, v in value.items():
        if isinstance(v, dict):
            text = written(v, inner)
        elif isinstance(v, list) and any(isinstance(e, dict | str) for e in v):
            items = [json.dumps(e, ensure_ascii=False) for e in v]
            text = "[\n" + ",\n".join(f"{inner}  {i}" for i in items) + f"\n{inner}]"
        else:
            text = json.dumps(v, ensure_ascii=False)
        lines.append(f"{inner}{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def main(arguments: list[str] | None = None) -> int:
    """Write, or with `--check` compare, what the compilers say; 1 where it differs."""
    parser = argparse.ArgumentParser(prog="nox -s compile --", description=__doc__)
    parser.add_argument("program", nargs="*", help="such as shard_map/psum; else all")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--gpu", action="store_true", help="for eight H100s, not TPUs")
    parser.add_argument("--here", action="store_true", help="print those of this build")
    given = parser.parse_args(arguments)
    if given.here:
        print(json.dumps(here(given.program)))
        return 0
    known = programs()
    if unknown := set(given.program) - set(known):
        parser.error(f"no program with a `lower`: {', '.join(sorted(unknown))}")
    os.environ |= chips.GPU if given.gpu else chips.TPU
    wanted = {name: known[name] for name in given.program or known}
    part = "gpu" if given.gpu else "tpu"
    packages = ("jax", "jax-cuda13-plugin" if given.gpu else "libtpu")
    made = {"made with": {name: version(name) for name in packages}}
    stale = left_over(known) if given.check and not given.program else []
    for count, (name, ways) in enumerate(ask_all(wanted, given.gpu), 1):
        print(f"[{count}/{len(wanted)}] {name}: {', '.join(ways)}", flush=True)
        answer = {part: made | ways}
        if given.check:
            stale += compare(name, answer)
        else:
            write(name, answer)
    for line in stale:
        print(line, file=sys.stderr)
    if stale:
        session = "compile_gpu" if given.gpu else "compile"
        print(f"To write them anew: nox -s {session}", file=sys.stderr)
    return int(bool(stale))


def write(program: str, answer: dict, folder: Path = EXAMPLES) -> None:
    """Keep a part of what the compilers say of `program`, beside the other part."""
    path = kept(program, folder)
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    both = dict(sorted((before | answer).items(), reverse=True))
    path.write_text(written(both) + "\n", encoding="utf-8")


def compare(program: str, answer: dict, folder: Path = EXAMPLES) -> list[str]:
    """Say what differs between what is kept of `program` and a part asked for now."""
    path = kept(program, folder)
    if not path.exists():
        return [f"examples/{path.relative_to(folder).as_posix()}: is missing"]
    before = json.loads(path.read_text(encoding="utf-8"))
    before = {part: before.get(part, {}) for part in answer}
    name = f"examples/{path.relative_to(folder).as_posix()}"
    return [f"{name}: {change}" for change in differences(before, answer)]


def left_over(known: dict[str, list[str]], folder: Path = EXAMPLES) -> list[str]:
    """Name the files that belong to no program with a `lower`."""
    belong = {kept(program, folder) for program in known}
    paths = sorted(set(folder.rglob("*.compiled.json")) - belong)
    names = [path.relative_to(folder).as_posix() for path in paths]
    return [f"examples/{name}: belongs to no program with a `lower`" for name in names]


if __name__ == "__main__":
    raise SystemExit(main())
