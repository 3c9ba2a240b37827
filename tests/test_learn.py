"""The program of a lesson runs alone, and prints the same on any number of devices."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "learn"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
EIGHT = 'jax.config.update("jax_num_cpu_devices", 8)'


def printed(*command, folder, path="", **settings):
    """Return the lines that Python prints, started with `command` and no settings."""
    steering = ("JAX_", "XLA_", "PYTHON")
    env = {k: v for k, v in os.environ.items() if not k.startswith(steering)}
    shared = "XLA_PYTHON_CLIENT_PREALLOCATE"  # no program takes the GPU from the others
    env |= {shared: os.environ[shared]} if shared in os.environ else {}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=env | {"PYTHONPATH": path} | settings,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_alone_and_prints_what_its_page_shows_on_any_devices(name, tmp_path):
    lines = printed(str(FOLDER / f"{name}.py"), folder=tmp_path)
    assert len(lines) >= 2 and not list(tmp_path.iterdir())

    calls = f"from examples.learn import {name}; {name}.main()"  # as the page does
    eight = {"JAX_NUM_CPU_DEVICES": "8"}
    assert lines == printed("-c", calls, folder=tmp_path, path=str(ROOT), **eight)

    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    if EIGHT in text:  # others ask for no devices
        assert text.count(EIGHT) == 1
        for_one = tmp_path / "for_one.py"
        for_one.write_text(text.replace(EIGHT, EIGHT.replace("8", "1")), "utf-8")
        assert printed(str(for_one), folder=tmp_path) == lines


@pytest.mark.parametrize("name", NAMES)
def test_its_page_calls_it_below_the_listing(name):
    text = (ROOT / "docs" / "learn" / f"{name}.md").read_text(encoding="utf-8")
    below = text.partition(f"examples/learn/{name}.py\n```\n")[2].partition("\n## ")[0]
    first = re.search(r"^```\{code-cell\}\n(.*?)^```", below, re.DOTALL | re.MULTILINE)
    assert first, "no cell stands between its listing and the next heading"
    assert first[1].startswith(":tags: [remove-input]\n")
    assert first[1].endswith(f"import {name}\n\n{name}.main()\n")


def test_eight_devices_reach_the_loss_of_one():
    import jax
    from jax import P

    from examples.learn import one_gradient_or_many, train_on_eight

    images, labels = one_gradient_or_many.make_images(1024, seed=0)
    centered, params = images - images.mean(axis=0), one_gradient_or_many.make_params(0)
    for _ in range(100):
        params, of_one = one_gradient_or_many.step(params, centered, labels)
    with jax.set_mesh(jax.make_mesh((jax.device_count(),), ("data",))):
        batch = jax.device_put((images, labels), P("data"))
        for spec in P(), P("data"):
            start = jax.device_put(train_on_eight.make_params(seed=0), spec)
            _, of_all = train_on_eight.train(train_on_eight.step_fsdp, start, *batch)
            assert abs(of_all - float(of_one)) < 1e-3
