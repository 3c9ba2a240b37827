"""Tests run with any number of devices: collecting starts none, a test skips itself."""

import subprocess
import sys
from pathlib import Path

import jax
import pytest

from tests.devices import cpus, eight

ROOT = Path(__file__).parents[1]


def test_a_module_that_touches_a_device_as_it_is_imported_is_refused(tmp_path):
    touches = "import jax\nKEY = jax.random.key(0)\n\n\ndef test_key():\n    pass\n"
    waits = "import jax\n\n\ndef test_key():\n    jax.random.key(0)\n"
    (tmp_path / "test_touches.py").write_text(touches)
    (tmp_path / "test_waits.py").write_text(waits)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
    ]
    found = {}
    for name in ("test_touches.py", "test_waits.py"):
        found[name] = subprocess.run(
            [*command, str(tmp_path / name)],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
    assert found["test_waits.py"].returncode == 0, found["test_waits.py"].stdout
    assert found["test_touches.py"].returncode == pytest.ExitCode.INTERRUPTED
    said = "test_touches.py touches a device as it is imported"
    assert said in found["test_touches.py"].stdout


def test_a_test_that_asks_for_more_devices_than_there_are_is_skipped():
    count = len(jax.devices("cpu"))
    assert len(cpus(count)) == count
    with pytest.raises(pytest.skip.Exception, match=f"has {count}"):
        cpus(count + 1)


def test_eight_devices_are_those_of_the_target_if_there_are_as_many():
    assert eight() == (jax.devices() if jax.device_count() >= 8 else cpus(8))[:8]
