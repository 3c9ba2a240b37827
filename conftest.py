"""Eight devices for every test, before JAX starts."""

import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that asks for more devices than there are, by a marker or a program.

    A program makes its mesh of eight devices plainly, and a target may have fewer.
    """
    marked = [marker.args[0] for marker in item.iter_markers("needs_devices")]
    needed = max(
        [*marked, *(8 for path in _programs(item) if _is_for_eight(path))] or [0]
    )
    if needed:
        import jax

        if jax.device_count() < needed:
            pytest.skip(f"needs {needed} devices, has {jax.device_count()}")


def _programs(item: pytest.Item) -> list[Path]:
    """The program whose doctest this is, or the exercise that a test is about."""
    if item.path.is_relative_to(ROOT / "examples"):
        return [item.path]
    name = getattr(item, "callspec", None) and item.callspec.params.get("name")
    exercise = ROOT / "examples" / "exercises" / f"{name}.py"
    return [exercise] if exercise.is_file() else []


def _is_for_eight(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return bool(re.search(r"make_mesh\(\([2-9]|jax\.pmap\(|from_shard_map", text))


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT
