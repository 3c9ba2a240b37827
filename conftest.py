"""Eight devices for every test, before JAX starts."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from book import targets  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--target`, the hardware that the programs are tested on."""
    parser.addoption("--target", default="cpu", help="a table of docs/targets.toml")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the platform; nothing has imported JAX yet."""
    known = targets.load(ROOT / "docs" / "targets.toml")
    name = config.getoption("--target")
    if name not in known:
        raise pytest.UsageError(f"no target {name!r}; there are {', '.join(known)}")
    for steering in [n for n in os.environ if n.startswith(("JAX_", "XLA_"))]:
        del os.environ[steering]
    os.environ.update(known[name].env)
    config.target = known[name]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that asks for more devices than there are."""
    for marker in item.iter_markers("needs_devices"):
        import jax

        if jax.device_count() < marker.args[0]:
            pytest.skip(f"needs {marker.args[0]} devices, has {jax.device_count()}")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT
