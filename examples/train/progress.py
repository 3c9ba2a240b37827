"""Print the loss while a network trains, and draw its curve in the end.

The programs beside this one use it; it needs nothing but Python.

Run it: `python -m examples.train.progress`
"""

from pathlib import Path

FRAME = "M60 20v300h500"


def show(steps, every=5, more=lambda _: ""):
    """Print the loss every few steps, as soon as it is there; return all losses.

    steps: computes a step for each pair, the loss and something else, that is taken
    from it; more: what to print of something else.
    """
    losses = []
    for number, (loss, other) in enumerate(steps):
        losses.append(loss)  # it may not be computed yet: nobody waits for it here
        if number % every == 0:
            print(f"step {number:2}: loss {loss:.2f}{more(other)}", flush=True)
    return [float(loss) for loss in losses]


def plot(losses, path="curve.svg", name="loss"):
    """Write the curve of two losses or more as a picture that every browser shows."""
    top, last = max(losses), len(losses) - 1
    spots = [(60 + 500 * k / last, 320 - 300 * y / top) for k, y in enumerate(losses)]
    curve = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    words = {(60, 12): name, (20, 25): f"{top:.3g}", (40, 325): "0"}
    words |= {(60, 340): "0", (290, 340): "step", (545, 340): str(last)}
    texts = [f'<text x="{x}" y="{y}">{words[x, y]}</text>' for x, y in words]
    Path(path).write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 580 350" '
        'font-family="sans-serif" font-size="12">'
        '<rect width="580" height="350" fill="white"/>'
        f'<path d="{FRAME}" fill="none" stroke="gray"/>'
        f'<polyline points="{curve}" fill="none" stroke="navy" stroke-width="2"/>'
        f"{''.join(texts)}</svg>\n",
        encoding="utf-8",
    )
    print(f"the curve: {path}")


def main():
    """Show a training that halves its loss in each step.

    >>> losses = main()
    step  0: loss 4.00
    step  2: loss 1.00
    step  4: loss 0.25
    """
    return show(((4 / 2**step, None) for step in range(5)), every=2)


if __name__ == "__main__":
    plot(main())
