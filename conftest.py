"""Eight devices for every test, before JAX starts."""

import os
import re
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
EXAMPLES = ROOT / "examples"
# What makes a mesh of eight devices in a program; and any mesh in an exercise, since on
# fewer devices a mistake may return what the solution returns.
EIGHT = re.compile(r"make_mesh\(\([2-9]|jax\.pmap\(|from_shard_map")
MESH = re.compile(r"make_mesh\(|Mesh\(|jax\.pmap\(|from_shard_map")
# Programs for eight devices that say so otherwise.
FOR_EIGHT = (
    "evidence/then_and_now.py",
    "mesh/cut_an_array.py",
    "scale/runners/train.py",
)
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from book.execute import xla_cache  # noqa: E402
from book.hardware import targets  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--target`, the hardware that the programs are tested on."""
    parser.addoption("--target", default="cpu", help="as of a build: cpu, gpu-8")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the platform; nothing has imported JAX yet."""
    known = targets.load(ROOT / "docs" / "targets.toml")
    try:
        target = targets.choose(known, config.getoption("--target"))
    except targets.TargetError as error:
        raise pytest.UsageError(str(error)) from None
    for steering in [n for n in os.environ if n.startswith(("JAX_", "XLA_"))]:
        del os.environ[steering]
    os.environ.update(target.env)
    os.environ.update(xla_cache.environment(ROOT / "docs" / "_build" / "xla"))
    config.target = target


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse a module that touches a device as it is imported.

    With fewer devices its mesh would fail before any test can be skipped.  And a TPU,
    which one process holds at a time, would be gone before a test starts a process
    that wants it.
    """
    before = _devices_are_in_use()
    report = yield
    if not before and _devices_are_in_use():
        report.outcome = "failed"
        report.longrepr = (
            f"{collector.nodeid} touches a device as it is imported: make its arrays "
            "and meshes in a function or a fixture, or with NumPy."
        )
    return report


def _devices_are_in_use() -> bool:
    """Whether this process has started JAX's devices; it starts none to find out."""
    if "jax" not in sys.modules:
        return False
    import jax

    count = jax.config.jax_num_cpu_devices
    try:
        jax.config.update("jax_num_cpu_devices", count + 1)
    except RuntimeError:  # too late to choose a number, says JAX: they are started
        return True
    jax.config.update("jax_num_cpu_devices", count)
    return False


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that asks for more devices than there are, by a marker or a program.

    A program makes its mesh of eight devices plainly, and a target may have fewer.
    """
    needed = [marker.args[0] for marker in item.iter_markers("needs_devices")]
    if _needs_eight(item):
        needed.append(8)
    if not needed:
        return
    import jax

    if jax.device_count() < max(needed):
        pytest.skip(f"needs {max(needed)} devices, has {jax.device_count()}")


def _needs_eight(item: pytest.Item) -> bool:
    """Whether a test runs a program for eight devices, here in this process.

    It is the doctest of a program, or a test of an exercise.
    """
    if item.path.is_relative_to(EXAMPLES):
        name = item.path.relative_to(EXAMPLES).as_posix()
        return name in FOR_EIGHT or bool(EIGHT.search(item.path.read_text("utf-8")))
    of_exercises = item.path == ROOT / "tests" / "test_exercises.py"
    if of_exercises and "name" in item.fixturenames:
        exercise = EXAMPLES / "exercises" / f"{item.callspec.params['name']}.py"
        return bool(MESH.search(exercise.read_text("utf-8")))
    return False


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT
