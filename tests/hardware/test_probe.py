"""The build runs on the hardware it was configured for, or stops before a page."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from book.hardware.probe import Probe
from book.hardware.targets import Target, TargetError
from tests.hardware.test_targets import COUNT, SMALL

SMALL_MEMORY = 300_000 << 10  # bytes, with which JAX does not start


def sentence(built) -> str:
    """The one line that a refused build ends with."""
    assert built.code != 0
    assert "Traceback" not in built.said
    assert "running" not in built.said
    return built.said.strip().splitlines()[-1]


def test_hardware_that_is_not_there_is_named_with_what_would_work(book):
    book.page("counted", COUNT)
    built = book.build("-D", "book_target=tpu")
    said = sentence(built)
    assert "'tpu'" in said
    assert "/dev/accel0" in said
    assert "python -m nox -s docs -- -D book_target=cpu" in said


def test_a_platform_that_does_not_start_is_named_with_what_was_found(book):
    book.targets(SMALL)
    book.page("counted", COUNT)
    built = book.build("-D", "book_target=absent")
    assert "'absent' needs 1 device of platform 'tpu'; found: " in sentence(built)


def test_devices_that_never_answer_are_given_up(tmp_path):
    site, started = tmp_path / "site", tmp_path / "started"
    site.mkdir()
    hangs = f"import os, signal\nopen({str(started)!r}, 'w').write(str(os.getpid()))\n"
    (site / "sitecustomize.py").write_text(hangs + "signal.pause()\n")
    env = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(site)}
    probe = Probe(Target("hung", "", "cpu", 1, env=env), tmp_path, patience=10)
    with pytest.raises(TargetError, match=r"found: no answer within 10 s\. This"):
        probe.result()
    with pytest.raises(ProcessLookupError):  # it is gone, and waited for
        os.kill(int(started.read_text()), 0)
    assert not list(tmp_path.glob("*.json"))


def test_where_memory_is_limited_the_reason_and_the_limit_are_told():
    script = f"""
import resource, sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from book.hardware.probe import Probe
from book.hardware.targets import Target
resource.setrlimit(resource.RLIMIT_AS, ({SMALL_MEMORY}, {SMALL_MEMORY}))
Probe(Target("cpu", "", "cpu", 8, env={{"JAX_PLATFORMS": "cpu"}}), Path("x")).result()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    said = done.stderr.strip().splitlines()[-1]
    assert "(a process may have 300,000 kB of memory here, `ulimit -v`)" in said
    assert "PyObject" not in said
    assert " @ " not in said


def test_too_few_devices_are_counted(book):
    book.targets(SMALL)
    book.page("counted", COUNT)
    said = sentence(book.build("-D", "book_target=small-3"))
    assert "'small-3' needs 3 devices of platform 'cpu'; found: 2 of kind cpu" in said


def test_an_unknown_target_is_told_the_known_ones(book):
    book.page("counted", COUNT)
    said = sentence(book.build("-D", "book_target=abacus"))
    assert "no target 'abacus'" in said
    assert "cpu, gpu, tpu" in said


def test_who_lacks_a_cpu_is_not_told_to_take_a_cpu(tmp_path):
    lacking = Target("cpu", "", "cpu", 8, present=("/nowhere",))
    with pytest.raises(TargetError, match=r"found: no /nowhere\. Every machine has"):
        Probe(lacking, tmp_path).result()


def test_simulated_devices_are_looked_for_once(tmp_path):
    env = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"}
    two = Target("two", "", "cpu", 2, env=env)
    found = Probe(two, tmp_path).result()
    assert (found.count, found.kind) == (2, "cpu")
    (kept,) = tmp_path.glob("*.json")
    kept.write_text(kept.read_text().replace("2]", "4]"))
    assert Probe(two, tmp_path).result().count == 4
    kept.write_text(kept.read_text()[:5])
    assert Probe(two, tmp_path).result() == found
    with pytest.raises(TargetError, match="found: 2 of kind cpu"):
        Probe(replace(two, devices=3), tmp_path).result()


def test_a_build_ends_with_such_a_sentence(book):
    book.targets("cpu = 3\n")
    book.page("counted", COUNT)
    assert "'cpu' stands outside any target" in sentence(book.build())


def test_pages_choose_the_target_or_a_mesh_of_eight(book):
    book.targets(SMALL)
    book.page("own", COUNT)
    book.page("mesh", COUNT, kernel="mesh-of-eight")
    assert book.build("-D", "book_target=small-1").code == 0
    assert "devices: 2" in book.text("own")
    assert "JAX" in book.text("own")
    assert "2 simulated CPU devices" in book.text("own")
    assert "devices: 8" in book.text("mesh")
    assert "8 simulated CPU devices" in book.text("mesh")
    assert (book.record()["target"], book.record()["device_count"]) == ("small-1", 2)
