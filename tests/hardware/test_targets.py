"""A file names the hardware, and nothing else steers what runs on it."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from book.hardware.targets import (
    Hardware,
    Target,
    TargetError,
    choose,
    environment,
    load,
)

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
        (SMALL + "quiet = ['']\n", "'absent' has '' in quiet, which would silence"),
        (SMALL + "quiet = ['.*']\n", "'.*' in quiet, which would silence every line"),
        (SMALL.replace('{ JAX_PLATFORMS = "tpu" }', '{ "A=B" = "1" }'), "has 'A=B' ="),
        (SMALL.replace('{ JAX_PLATFORMS = "tpu" }', '{ "" = "1" }'), "has '' = '1' in"),
        (SMALL.replace('"tpu" }', '"a\\u0000" }'), "no variable of a process"),
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


def test_a_number_after_a_target_asks_for_that_many_devices(tmp_path):
    path = tmp_path / "targets.toml"
    path.write_text(SMALL + '[absent-4]\nsays="x"\nplatform="tpu"\ndevices=3\n')
    known = load(path)
    assert choose(known, "small") is known["small"]
    for least in 1, 4, 8, 256:
        asked = choose(known, f"small-{least}")
        assert (asked.name, asked.devices) == (f"small-{least}", least)
        assert replace(asked, name="small", devices=2) == known["small"]
    assert choose(known, "absent-4").devices == 3  # a table of that name comes first
    for name in "small-", "small-0", "small-04", "small-four", "small-4-4", "-4", "":
        with pytest.raises(TargetError, match="no target '") as caught:
            choose(known, name)
        assert f"{name!r}; targets.toml has cpu, small, absent" in str(caught.value)


def test_what_a_target_imports_from_is_relative_to_the_file(tmp_path):
    path, two = tmp_path / "targets.toml", os.pathsep.join(("../here", "there"))
    tpu = 'JAX_PLATFORMS = "tpu"'
    path.write_text(SMALL.replace(tpu, f'{tpu}, PYTHONPATH = "{two}"'))
    kept = environment(load(path)["absent"], tmp_path)["PYTHONPATH"].split(os.pathsep)
    assert [Path(one).resolve() for one in kept] == [
        tmp_path,
        tmp_path.parent / "here",
        tmp_path / "there",
    ]


def test_outputs_are_kept_apart_where_a_target_imports_other_code(tmp_path):
    env = {"PYTHONPATH": str(tmp_path)}
    hardware = Hardware(Target("t", "", "cpu", 8, env=env), "1", "1", "cpu", 8)
    before = hardware.fingerprint
    (tmp_path / "sitecustomize.py").write_text("import sys")
    assert hardware.fingerprint != before


def test_outputs_are_kept_apart_where_a_package_of_a_target_changes(tmp_path):
    target = replace(Target("cpu", "", "cpu", 8), env={"PYTHONPATH": str(tmp_path)})
    (tmp_path / "package").mkdir()
    prints = set()
    for text in ("x = 1", "x = 2"):
        (tmp_path / "package" / "__init__.py").write_text(text)
        prints.add(Hardware(target, "1", "1", "cpu", 8).fingerprint)
    assert len(prints) == 2


def test_nothing_that_logs_or_shows_otherwise_is_handed_on(monkeypatch):
    for name in ("TF_CPP_MIN_LOG_LEVEL", "GLOG_v", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.setenv(name, "3")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    env = environment(Target("cpu", "", "cpu", 8, env={"GLOG_logtostderr": "1"}))
    assert env["TZ"] == "UTC"
    assert not env.keys() & {"TF_CPP_MIN_LOG_LEVEL", "GLOG_v", "FORCE_COLOR", "COLUMNS"}
    assert env["GLOG_logtostderr"] == "1"


def test_nothing_that_steers_jax_or_python_is_handed_on(monkeypatch, tmp_path):
    steering = ("JAX_ENABLE_X64", "XLA_FLAGS", "PYTHONOPTIMIZE", "PYTHONWARNINGS")
    for name in (*steering, "PYTHONPATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "1")
    env = environment(Target("t", "", "", 0, env={"OURS": "2"}), tmp_path)
    assert env["OURS"] == "2"
    assert env["PYTHONPATH"] == str(tmp_path)
    assert not {*steering, "PYTHONSTARTUP"} & set(env)


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
