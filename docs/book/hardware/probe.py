"""The probe: a process that asks JAX which devices there are, before any page runs.

The build runs on the hardware it was configured for, or stops in a sentence.
`-D book_target=NAME` picks a table of `docs/targets.toml`, and `NAME-8` asks for eight
of its devices at least.  They are looked for in a process of its own, so that Sphinx
itself never starts JAX.  Simulated devices are there whenever the same Python and JAX
are, so of them the answer is kept.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from sphinx.application import Sphinx

from book import error_text
from book.files import write_atomically
from book.hardware.targets import (
    MESH,
    Hardware,
    Target,
    TargetError,
    choose,
    environment,
    load,
)
from book.translation.edition import builds_folder

PATIENCE = 300.0  # seconds for hardware that is there to wake up
_ANYWHERE = "This builds on any machine: python -m nox -s docs -- -D book_target=cpu"
_EVERY = "Every machine has these: look at `env` in targets.toml, and at JAX itself."
_PROBE = """
import json, jax, jaxlib
d = jax.devices(PLATFORM)
found = [jax.__version__, jaxlib.__version__, d[0].device_kind, len(d)]
print("\\n" + json.dumps(found))
"""


class Probe:
    """Asks for a target's devices in the background; `result()` waits for them.

    Answers about simulated devices are kept in the folder `kept`.  Devices that do not
    answer within `patience` seconds are given up.
    """

    def __init__(self, target: Target, kept: Path, patience: float = PATIENCE):
        self.target = target
        self._patience = patience
        self._process = None
        self._kept = kept / f"{_digest(target)}.json"
        self._kept_answer = None
        if target.platform == "cpu":
            self._kept_answer = _read_answer(self._kept)
        if self._kept_answer:
            return
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
        answer = self._kept_answer or self._answer()
        found = Hardware(self.target, *answer)
        if found.count < self.target.devices:
            raise self._missing(f"{found.count} of kind {found.kind}")
        if found.simulated and not self._kept_answer:
            write_atomically(self._kept, json.dumps(answer))
        return found

    def _answer(self) -> list:
        """The versions of JAX and jaxlib, the kind of the devices, and their number."""
        if self._process is None:
            raise self._missing(f"no {' or '.join(self.target.present)}")
        try:
            out, err = self._process.communicate(timeout=self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()  # until it is gone
            raise self._missing(f"no answer within {self._patience:.0f} s") from None
        if self._process.returncode:
            last = error_text.last_words(err) or "nothing was said"
            raise self._missing(last.rstrip(".") + _memory_limit())
        return json.loads(out.strip().splitlines()[-1])

    def _missing(self, found: str) -> TargetError:
        name, few = self.target.name, self.target.devices
        return TargetError(
            f"Target {name!r} needs {few} device{'s' * (few > 1)} of platform "
            f"{self.target.platform!r}; found: {found}. "
            f"{_EVERY if name == 'cpu' else _ANYWHERE}"
        )


def _memory_limit() -> str:
    """How memory is limited, as the end of a sentence; nothing where it is not."""
    try:
        import resource
    except ImportError:  # not on Windows
        return ""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return ""
    return f" (a process may have {soft // 1024:,} kB of memory here, `ulimit -v`)"


def _digest(target: Target) -> str:
    """What decides which simulated devices there are."""
    versions = sys.executable, sys.version, version("jax"), version("jaxlib")
    return hashlib.sha256(repr((target, versions)).encode()).hexdigest()[:20]


def _read_answer(path: Path) -> list | None:
    """The answer in the file at `path`, if there is a whole one."""
    try:
        jax, jaxlib, kind, count = json.loads(path.read_text(encoding="utf-8"))
        return [jax, jaxlib, kind, int(count)]
    except (OSError, ValueError, TypeError):
        return None


def _ask(app: Sphinx, target: Target) -> Probe:
    return Probe(target, builds_folder(app) / "hardware")


def kernels(app: Sphinx) -> dict[str, Hardware]:
    """The hardware behind each kernel name that a page can ask for.

    Ends the build with one sentence when the target's hardware is not there.
    """
    try:
        target = app.book_probe.result()
        enough = target.count >= MESH
        mesh = target if enough else _ask(app, app.book_targets["cpu"]).result()
    except TargetError as error:
        raise SystemExit(f"\n{error}") from None
    return {"target": target, "mesh-of-eight": mesh}


def look_for_hardware(app: Sphinx) -> None:
    """Register `book_target`, of which `choose` makes a target, and look for it.

    The earlier this is called, the less anyone waits for the answer.
    """
    app.add_config_value("book_target", "cpu", "", types=(str,))
    try:
        app.book_targets = load(Path(app.confdir) / "targets.toml")
        target = choose(app.book_targets, app.config.book_target)
    except TargetError as error:
        raise SystemExit(f"\n{error}") from None
    app.book_probe = _ask(app, target)
