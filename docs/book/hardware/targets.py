"""The hardware that a build can be configured for, as `docs/targets.toml` names it.

Whether it is there is found out by `probe`, which makes a `Hardware` of a `Target`.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

MESH = 8  # devices of the mesh that most pages make
# How the names of variables begin that would change what is run, or what it puts out.
_STEERING = (
    *("JAX_", "XLA_", "PYTHON", "TF_CPP_", "TF_XLA_", "GLOG_", "ABSL_", "NPY_"),
    *("TPU_STDERR_", "TPU_MIN_LOG_", "NCCL_DEBUG", "GRPC_VERBOSITY", "GRPC_TRACE"),
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLORTERM", "TQDM_"),
)
_FIELDS: dict[str, type] = {
    "says": str,
    "platform": str,
    "devices": int,
    "present": list,
    "env": dict,
    "jobs": int,
    "slower": int,
    "quiet": list,
}


class TargetError(Exception):
    """The hardware asked for is not there, or its description cannot be read."""


@dataclass(frozen=True)
class Target:
    """One table of `targets.toml`; the file's head says what each field means."""

    name: str
    says: str
    platform: str
    devices: int
    present: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    jobs: int | None = None
    slower: int = 1
    quiet: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hardware:
    """What the probe found: the devices that a kernel of this kind will see."""

    target: Target
    jax: str
    jaxlib: str
    kind: str
    count: int
    python: str = f"{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def simulated(self) -> bool:
        """Whether the devices are slices of a CPU."""
        return self.target.platform == "cpu"

    @property
    def fingerprint(self) -> str:
        """A folder name that changes when the JAX, the machine or its target does."""
        folders = self.target.env.get("PYTHONPATH", "").split(os.pathsep)
        files = (path for one in folders if one for path in Path(one).rglob("*.py"))
        imported = [path.read_bytes() for path in sorted(files)]
        steered = sorted(self.target.env.items()), self.target.quiet, *imported
        parts = (
            f"jax{self.jax}",
            f"jaxlib{self.jaxlib}",
            f"py{self.python}",
            self.target.platform,
            f"{self.count}x{self.kind}",
            hashlib.sha256(repr(steered).encode()).hexdigest()[:8],
        )
        return "-".join(
            "".join(c if c.isalnum() or c in "._" else "_" for c in part)
            for part in parts
        )


def load(path: Path) -> dict[str, Target]:
    """Read `targets.toml`; raises `TargetError` with one sentence."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TargetError(f"{path.name} is missing from {path.parent.name}/.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"{path.name} is not TOML: {error}.") from None
    targets = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise TargetError(f"{path.name}: {name!r} stands outside any target.")
        for key, value in table.items():
            if reason := _fault(key, value):
                raise TargetError(f"{path.name}: target {name!r} {reason}.")
        missing = [k for k in ("says", "platform", "devices") if k not in table]
        if missing:
            raise TargetError(
                f"{path.name}: target {name!r} lacks {' and '.join(missing)}."
            )
        lists = {k: tuple(table[k]) for k in ("present", "quiet") if k in table}
        if folders := table.get("env", {}).get("PYTHONPATH"):
            here = [path.parent.resolve() / one for one in folders.split(os.pathsep)]
            table["env"]["PYTHONPATH"] = os.pathsep.join(map(str, here))
        targets[name] = Target(name=name, **{**table, **lists})
    if "cpu" not in targets:
        raise TargetError(
            f"{path.name} has no target 'cpu', the one every machine has."
        )
    return targets


def _fault(key: str, value: object) -> str | None:
    """What is wrong with a line of a target, if anything is."""
    if key not in _FIELDS:
        return f"has an unknown key {key!r}; known are {', '.join(_FIELDS)}"
    kind = _FIELDS[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        return f"says {key} = {value!r}, not of type {kind.__name__}"
    if isinstance(value, int) and value < 1:
        return f"says {key} = {value}, which is less than 1"
    parts: list[object] = []
    if isinstance(value, dict):
        parts = list(value.values())
        for name, text in value.items():
            if not name or "=" in name or "\0" in f"{name}{text}":
                return f"has {name!r} = {text!r} in {key}, no variable of a process"
    elif isinstance(value, list):
        parts = value
    for part in parts:
        if not isinstance(part, str):
            return f"has {part!r} in {key}, which is no text; put it in quotes"
        if key == "quiet":
            try:
                all_of_it = re.search(part, "")
            except re.error as error:
                return f"has {part!r} in quiet, no regular expression: {error}"
            if all_of_it:
                return f"has {part!r} in quiet, which would silence every line"
    return None


def choose(targets: Mapping[str, Target], name: str) -> Target:
    """The target `name`; `gpu-8` is `gpu`, where there are at least eight devices.

    Raises `TargetError` with one sentence.
    """
    if name in targets:
        return targets[name]
    kind, _, least = name.rpartition("-")
    if kind in targets and re.fullmatch("[1-9][0-9]*", least):
        return replace(targets[kind], name=name, devices=int(least))
    raise TargetError(
        f"There is no target {name!r}; targets.toml has {', '.join(targets)}, and "
        "a number after one of these, as in 'gpu-8', asks for that many devices."
    )


def environment(target: Target, *paths: Path) -> dict[str, str]:
    """The environment of a process on `target`, with `paths` to import from.

    Nothing that steers JAX or Python (such as PYTHONOPTIMIZE, without assertions), what
    they log, or how they show times and colours, leaks in from whoever builds the book.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_STEERING)
    }
    kept |= {"TZ": "UTC", **target.env}
    search = [*map(str, paths), *filter(None, [target.env.get("PYTHONPATH")])]
    if search:
        kept["PYTHONPATH"] = os.pathsep.join(search)
    return kept
