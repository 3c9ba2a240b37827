"""The command that asks compilers of other hardware about programs in `examples/`.

Promise: a program's `lower`, and each `lower_NAME` beside it, is compiled for chips
that are not here, and what the compiler found is kept beside the program.  `--check`
compiles again and names what differs.

    python -m book.compilers.command [--check] [--gpu] [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from book.compilers import chips, store
from book.compilers.facts import digest, facts
from book.compilers.store import EXAMPLES
from book.error_text import first_line

if TYPE_CHECKING:
    from jax.sharding import Mesh


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


def module_of(program: str) -> ModuleType:
    """Return the module of a program such as "shard_map/psum"."""
    return importlib.import_module("examples." + program.replace("/", "."))


def names_chips(program: str) -> bool:
    """Whether a program has `TOPOLOGIES`: names of TPUs, for each of its ways."""
    return hasattr(module_of(program), "TOPOLOGIES")


def chips_for(program: str, way: str, gpu: bool = False) -> list[chips.Chip]:
    """List what a way to lower `program` is compiled for, the largest last.

    A program with `LARGE = True` is compiled for thousands of chips, too; one that
    names its chips itself, for no others.
    """
    module = module_of(program)
    if names_chips(program):
        return [] if gpu else [chips.CHIPS[name] for name in module.TOPOLOGIES[way]]
    if gpu:
        return [chips.H100]
    large = chips.LARGE if getattr(module, "LARGE", False) else []
    return [*chips.EIGHT, *large]


def ask(
    program: str, way: str, chip: chips.Chip, mesh: Mesh, available: int, known: dict
) -> dict:
    """Return the facts of one way to lower `program` for `chip`.

    `available` are the bytes of its memory.  Where that gives the code which the facts
    `known` are of, they are returned.  Errors get a note that names the program.
    """
    module = module_of(program)
    try:
        lowered = getattr(module, way)(mesh)
        code = digest(lowered, Path(inspect.getfile(module)))
        if known.get("lowered") == code:
            return known
        found = facts(lowered)
    except Exception as error:
        error.add_note(f"in {way} of examples/{program}.py, for {chip.says}")
        raise
    return {"devices": chip.devices, "available": available, "lowered": code, **found}


def ask_all(
    wanted: dict[str, dict[str, list[chips.Chip]]], known: dict[str, dict]
) -> Iterator[tuple[str, dict[str, dict]]]:
    """Give the facts of each wanted program, by way and by chip, as they are found.

    What `known` facts, in the same form, are of is not compiled. A program with an
    `EFFORT` of its own comes last: how hard a compiler tries is a setting of a process.
    """
    import jax

    every = {
        chip for ways in wanted.values() for some in ways.values() for chip in some
    }
    meshes = {chip: chip.mesh() for chip in every}
    memory = {chip: chip.memory(mesh) for chip, mesh in meshes.items()}
    efforts = {name: getattr(module_of(name), "EFFORT", "UNKNOWN") for name in wanted}

    def one(asked: tuple[str, str, chips.Chip]) -> dict:
        program, way, chip = asked
        before = known.get(program, {}).get(way, {}).get(chip.name, {})
        return ask(program, way, chip, meshes[chip], memory[chip], before)

    for effort in sorted(set(efforts.values()), reverse=True):
        jax.config.update("jax_optimization_level", effort)
        some = {name: ways for name, ways in wanted.items() if efforts[name] == effort}
        asked = [(n, w, c) for n in some for w in some[n] for c in some[n][w]]
        with ThreadPoolExecutor(2) as pool:  # a compiler waits for no Python
            found = zip(asked, pool.map(one, asked), strict=True)
            for name, ways in some.items():
                yield name, {w: {c.name: next(found)[1] for c in ways[w]} for w in ways}


def here(names: list[str]) -> dict[str, dict]:
    """Return the facts of programs compiled for eight devices that are here.

    Of one that does not compile, what was raised stands under "refused".
    """
    import jax

    jax.config.update("jax_num_cpu_devices", 8)
    devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    found: dict[str, dict] = {}
    for name in names:
        try:
            module = module_of(name)
            ways = [way for way in vars(module) if is_way(way)]
            found[name] = {way: facts(getattr(module, way)(mesh)) for way in ways}
        except Exception as error:
            found[name] = {"refused": first_line(type(error).__name__, str(error))}
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
    os.environ |= chips.GPU if given.gpu else chips.TPU  # before JAX starts
    names = given.program or known
    wanted = {n: {w: chips_for(n, w, given.gpu) for w in known[n]} for n in names}
    wanted = {name: ways for name, ways in wanted.items() if any(ways.values())}
    stale = store.left_over(known) if given.check and not given.program else []
    for name, answer in _answers(wanted, given.gpu, given.check):
        if given.check:
            stale += store.compare(name, answer)
        else:
            store.write(name, answer)
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


def _answers(
    wanted: dict[str, dict], gpu: bool, check: bool
) -> Iterator[tuple[str, dict]]:
    """Give, program by program, the part to keep: the facts, and what they are of."""
    part, package = ("gpu", "jax-cuda13-plugin") if gpu else ("tpu", "libtpu")
    made: dict = {"made with": {name: version(name) for name in ("jax", package)}}
    known = {}  # of these very compilers; what is to be written is always asked
    if check:
        before = {name: store.read(name).get(part, {}) for name in wanted}
        known = {n: s for n, s in before.items() if made.items() <= s.items()}
    for count, (name, ways) in enumerate(ask_all(wanted, known), 1):
        print(f"[{count}/{len(wanted)}] {name}: {', '.join(ways)}", flush=True)
        yield name, {part: made | ways}


if __name__ == "__main__":
    raise SystemExit(main())
