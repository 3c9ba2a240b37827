"""The build runs on the hardware it was configured for, or stops before a page.

`docs/targets.toml` names the hardware; `-D book_target=NAME` picks one.  It is looked
for in a process of its own, so that Sphinx itself never starts JAX.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from sphinx.application import Sphinx

MESH = 8
PATIENCE = 120.0  # seconds for hardware that is there to wake up
_ANYWHERE = "This builds on any machine: python -m nox -s docs -- -D book_target=cpu"
_EVERY = "Every machine has these: look at `env` in targets.toml, and at JAX itself."
_PROBE = """
import json, jax, jaxlib
d = jax.devices(PLATFORM)
found = [jax.__version__, jaxlib.__version__, d[0].device_kind, len(d)]
print("\\n" + json.dumps(found))
"""
_FIELDS: dict[str, type] = {
    "says": str,
    "platform": str,
    "devices": int,
    "present": list,
    "env": dict,
    "jobs": int,
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
        steered = sorted(self.target.env.items()), self.target.quiet
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
    if kind is int and value < 1:
        return f"says {key} = {value}, which is less than 1"
    for part in [*value.values()] if kind is dict else value if kind is list else []:
        if not isinstance(part, str):
            return f"has {part!r} in {key}, which is no text; put it in quotes"
    for pattern in value if key == "quiet" else ():
        try:
            re.compile(pattern)
        except re.error as error:
            return f"has {pattern!r} in quiet, no regular expression: {error}"
    return None


def environment(target: Target, *paths: Path) -> dict[str, str]:
    """The environment of a process on `target`, with `paths` to import from.

    Nothing that steers JAX or Python (such as PYTHONOPTIMIZE, without assertions)
    leaks in from whoever builds the book.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAX_", "XLA_", "PYTHON"))
    }
    kept |= target.env
    search = [*map(str, paths), *filter(None, [target.env.get("PYTHONPATH")])]
    if search:
        kept["PYTHONPATH"] = os.pathsep.join(search)
    return kept


class Probe:
    """Asks for a target's devices in the background; `result()` waits for them."""

    def __init__(self, target: Target):
        self.target = target
        self._process = None
        if target.present and not any(Path(p).exists() for p in target.present):
            return
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROBE.replace("PLATFORM", repr(target.platform))],
            env=environment(target),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def result(self) -> Hardware:
        """The hardware; raises `TargetError` when it is not what was asked for."""
        if self._process is None:
            raise self._missing(f"no {' or '.join(self.target.present)}")
        try:
            out, err = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise self._missing(f"no answer within {PATIENCE:.0f} s") from None
        if self._process.returncode:
            last = (err.strip().splitlines() or ["nothing was said"])[-1]
            raise self._missing(last.rstrip("."))
        found = Hardware(self.target, *json.loads(out.strip().splitlines()[-1]))
        if found.count < self.target.devices:
            raise self._missing(f"{found.count} of kind {found.kind}")
        return found

    def _missing(self, found: str) -> TargetError:
        name, few = self.target.name, self.target.devices
        return TargetError(
            f"Target {name!r} needs {few} device{'s' * (few > 1)} of platform "
            f"{self.target.platform!r}; found: {found}. "
            f"{_EVERY if name == 'cpu' else _ANYWHERE}"
        )


def _configure(app: Sphinx, config) -> None:
    try:
        app.book_targets = load(Path(app.confdir) / "targets.toml")
        if config.book_target not in app.book_targets:
            raise TargetError(
                f"There is no target {config.book_target!r}; targets.toml has "
                f"{', '.join(app.book_targets)}. {_ANYWHERE}"
            )
    except TargetError as error:
        raise SystemExit(f"\n{error}") from None
    app.book_probe = Probe(app.book_targets[config.book_target])


def kernels(app: Sphinx) -> dict[str, Hardware]:
    """The hardware behind each kernel name that a page can ask for.

    Ends the build with one sentence when the target's hardware is not there.
    """
    try:
        target = app.book_probe.result()
        enough = target.count >= MESH
        mesh = target if enough else Probe(app.book_targets["cpu"]).result()
    except TargetError as error:
        raise SystemExit(f"\n{error}") from None
    return {"target": target, "mesh-of-eight": mesh}


def setup(app: Sphinx) -> dict:
    """Register `book_target`, the name of a table in `targets.toml`, and look for it.

    The earlier this comes among the extensions, the less anyone waits for the answer.
    """
    app.add_config_value("book_target", "cpu", "", types=(str,))
    _configure(app, app.config)
    return {"version": version("sphinx"), "parallel_read_safe": True}
