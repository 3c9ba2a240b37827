"""A program that trains says how far it is, and draws a curve."""

import re
from xml.etree import ElementTree

from examples.train import progress


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
