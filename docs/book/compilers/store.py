"""The files `NAME.compiled.json` beside programs: what compilers said of each.

Promise: what is kept reads the same, a line is one fact, and each difference between
what is kept and what is said now has a name; how long a compiler took may differ, and
the digest of what it compiled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"
MAY_DIFFER = ("compile seconds", "lowered")  # no fact of what was compiled


def kept(program: str, folder: Path = EXAMPLES) -> Path:
    """Where what the compilers said of `program` is kept."""
    return folder / f"{program}.compiled.json"


def read(program: str, folder: Path = EXAMPLES) -> dict:
    """What is kept of `program`, by part; nothing where nothing is."""
    path = kept(program, folder)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(program: str, answer: dict, folder: Path = EXAMPLES) -> None:
    """Keep a part of what the compilers say of `program`, beside the other part."""
    both = dict(sorted((read(program, folder) | answer).items(), reverse=True))
    path = kept(program, folder)
    path.write_text(written(both) + "\n", encoding="utf-8")


def written(value: dict, indent: str = "") -> str:
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


def compare(program: str, answer: dict, folder: Path = EXAMPLES) -> list[str]:
    """Say what differs between what is kept of `program` and a part asked for now."""
    name = f"examples/{kept(program, folder).relative_to(folder).as_posix()}"
    before = read(program, folder)
    if not before:
        return [f"{name}: is missing"]
    before = {part: before.get(part, {}) for part in answer}
    return [f"{name}: {change}" for change in differences(before, answer)]


def differences(before: dict, now: dict, at: str = "") -> Iterator[str]:
    """Say, one by one, what differs between two answers."""
    for key in [*before, *(k for k in now if k not in before)]:
        where = f"{at}, {key}" if at else key
        if key in MAY_DIFFER:
            continue
        if key not in now or key not in before:
            yield f"{where}: is {'new' if key in now else 'gone'}"
        elif isinstance(before[key], dict) and isinstance(now[key], dict):
            yield from differences(before[key], now[key], where)
        elif before[key] != now[key]:
            yield f"{where}: was {before[key]}, is {now[key]}"


def left_over(known: Iterable[str], folder: Path = EXAMPLES) -> list[str]:
    """Name the files that belong to no program with a `lower`."""
    belong = {kept(program, folder) for program in known}
    paths = sorted(set(folder.rglob("*.compiled.json")) - belong)
    names = [path.relative_to(folder).as_posix() for path in paths]
    return [f"examples/{name}: belongs to no program with a `lower`" for name in names]
