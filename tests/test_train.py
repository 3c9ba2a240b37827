"""Programs that train run on one device, say how far they are, and draw a curve."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from book.execute import xla_cache
from book.hardware.targets import environment, load
from examples.train import progress

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "examples" / "train").glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_on_one_device_what_it_prints_on_eight(name):
    cpu = load(ROOT / "docs" / "targets.toml")["cpu"]
    env = environment(cpu) | {"JAX_NUM_CPU_DEVICES": "1"}
    env |= xla_cache.environment(ROOT / "docs" / "_build" / "xla")
    run = f"import doctest, examples.train.{name} as program; "
    run += "print(doctest.testmod(program)); import jax; print(jax.device_count())"
    command = [sys.executable, "-c", run]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert "failed=0" in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("\n1\n")


def test_a_loss_is_printed_before_the_next_step_begins(capsys):
    printed = []

    def steps():
        for number in range(5):
            printed.append(capsys.readouterr().out)
            yield 1 / (number + 1), number

    losses = progress.show(steps(), every=2, more=lambda other: f", {other}")
    assert losses == [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]
    assert printed[1:4] == ["step  0: loss 1.00, 0\n", "", "step  2: loss 0.33, 2\n"]


def test_a_curve_falls_as_the_losses_do(tmp_path, capsys):
    path = tmp_path / "curve.svg"
    progress.plot([4.0, 1.0, 2.0], path, name="error")
    picture = ElementTree.parse(path).getroot()
    [line] = [one for one in picture.iter() if one.tag.endswith("polyline")]
    x, y = zip(*re.findall(r"([\d.]+),([\d.]+)", line.get("points")), strict=True)
    assert list(map(float, x)) == [60, 310, 560]
    assert list(map(float, y)) == [20, 245, 170]  # down the page; zero is at 320
    texts = [one.text for one in picture.iter() if one.tag.endswith("text")]
    assert {"error", "4", "2"} <= set(texts) and str(path) in capsys.readouterr().out
