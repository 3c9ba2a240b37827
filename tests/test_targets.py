"""The build runs on the hardware it was configured for, or stops before a page."""

import re

import pytest

from book.targets import Probe, Target, TargetError, environment, load

SMALL = """
[cpu]
says = "eight simulated devices"
platform = "cpu"
devices = 8
env = { JAX_PLATFORMS = "cpu", JAX_NUM_CPU_DEVICES = "8" }
[small]
says = "two simulated devices"
platform = "cpu"
devices = 2
env = { JAX_PLATFORMS = "cpu", JAX_NUM_CPU_DEVICES = "2" }
[absent]
says = "a device of which there is only a file"
platform = "tpu"
devices = 1
env = { JAX_PLATFORMS = "tpu" }
"""
COUNT = "import jax\nassert True\nprint('devices:', jax.device_count())"


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
    assert built.seconds < 10


def test_a_platform_that_does_not_start_is_named_with_what_was_found(book):
    book.targets(SMALL)
    book.page("counted", COUNT)
    built = book.build("-D", "book_target=absent")
    assert "'absent' needs 1 device of platform 'tpu'; found: " in sentence(built)
    assert built.seconds < 10


def test_too_few_devices_are_counted(book):
    book.targets(SMALL.replace("devices = 2", "devices = 3"))
    book.page("counted", COUNT)
    assert "found: 2 of kind cpu" in sentence(book.build("-D", "book_target=small"))


def test_an_unknown_target_is_told_the_known_ones(book):
    book.page("counted", COUNT)
    said = sentence(book.build("-D", "book_target=abacus"))
    assert "no target 'abacus'" in said
    assert "cpu, gpu, tpu" in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[cpu\n", "targets.toml is not TOML"),
        ("[gpu]\nsays='x'\nplatform='gpu'\ndevices=1\n", "no target 'cpu'"),
        (SMALL + "colour = 'red'\n", "target 'absent' has an unknown key 'colour'"),
        (SMALL.replace("devices = 2", "devices = 'two'"), "'two', not of type int"),
        (SMALL + "jobs = -3\n", "'absent' says jobs = -3, which is less than 1"),
        (SMALL.replace('"8"', "8"), "'cpu' has 8 in env, which is no text"),
        (SMALL + "present = [3]\n", "'absent' has 3 in present, which is no text"),
        (SMALL + "quiet = ['(']\n", "'absent' has '(' in quiet, no regular expression"),
        (SMALL.replace('platform = "tpu"\n', ""), "target 'absent' lacks platform"),
        ("cpu = 3\n", "'cpu' stands outside any target"),
    ],
)
def test_a_bad_targets_file_is_one_sentence(tmp_path, text, reason):
    path = tmp_path / "targets.toml"
    path.write_text(text)
    with pytest.raises(TargetError, match=re.escape(reason)) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_who_lacks_a_cpu_is_not_told_to_take_a_cpu():
    lacking = Target("cpu", "", "cpu", 8, present=("/nowhere",))
    with pytest.raises(TargetError, match=r"found: no /nowhere\. Every machine has"):
        Probe(lacking).result()


def test_a_build_ends_with_such_a_sentence(book):
    book.targets("cpu = 3\n")
    book.page("counted", COUNT)
    assert "'cpu' stands outside any target" in sentence(book.build())


def test_nothing_that_steers_jax_or_python_is_handed_on(monkeypatch, tmp_path):
    steering = ("JAX_ENABLE_X64", "XLA_FLAGS", "PYTHONOPTIMIZE", "PYTHONWARNINGS")
    for name in (*steering, "PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "1")
    env = environment(Target("t", "", "", 0, env={"OURS": "2"}), tmp_path)
    assert env["OURS"] == "2"
    assert env["PYTHONPATH"] == str(tmp_path)
    assert not {*steering, "PYTHONSTARTUP"} & set(env)


def test_pages_choose_the_target_or_a_mesh_of_eight(book):
    book.targets(SMALL)
    book.page("own", COUNT)
    book.page("mesh", COUNT, kernel="mesh-of-eight")
    assert book.build("-D", "book_target=small").code == 0
    assert "devices: 2" in book.text("own")
    assert "JAX" in book.text("own")
    assert "2 simulated CPU devices" in book.text("own")
    assert "devices: 8" in book.text("mesh")
    assert "8 simulated CPU devices" in book.text("mesh")
    assert book.record()["device_count"] == 2


def test_what_steers_outside_does_not_reach_a_page(book):
    book.page("counted", COUNT)
    book.page("false", "assert 3 == 4")
    book.page("warns", "assert True\nimport warnings\nwarnings.warn('old ways')")
    steering = {
        "JAX_NUM_CPU_DEVICES": "3",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=5",
        "JAX_ENABLE_X64": "1",
        "PYTHONOPTIMIZE": "1",
        "PYTHONWARNINGS": "ignore",
    }
    built = book.build(env=steering)
    assert "devices: 8" in book.text("counted")
    assert "false, cell 1: raised AssertionError" in built.said
    assert "warns, cell 1: wrote to stderr" in built.said
