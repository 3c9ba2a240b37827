"""The least time that a collective takes: latency, and bytes over bandwidth.

`CHIPS` has what the makers publish for one chip.  Google counts ICI in both directions
and over all links of a chip, NVIDIA counts NVLink in both directions; here is the half
that leaves a chip, along one axis of the torus for a TPU.

Sources: the pages on v5e, v5p, v6e and TPU7x of Google Cloud's TPU documentation, and
NVIDIA's H100 data sheet (SXM).  No maker publishes a latency: a microsecond a hop is
what How To Scale Your Model uses for TPUs.

Run it: `python -m examples.scale.how_long`
"""

from dataclasses import dataclass

HOP = 1e-6


@dataclass(frozen=True)
class Chip:
    """One chip: bfloat16 FLOP a second, and bytes a second that leave it.

    link: bytes a second along one axis of the torus, both ways together; for a switch,
    all that the chip sends.  axes: of the torus; 0 for a switch.
    """

    flops: float
    link: float
    axes: int


CHIPS = {
    "TPU v5e": Chip(197e12, 100e9, 2),
    "TPU v5p": Chip(459e12, 200e9, 3),
    "TPU v6e": Chip(918e12, 200e9, 2),
    "TPU7x": Chip(2307e12, 200e9, 3),
    "H100": Chip(989e12, 450e9, 0),
}


def leaves(collective, nbytes, n, axes):
    """Return the bytes that leave each of `n` devices; a `psum` goes around a ring.

    A switch that adds by itself would need only `nbytes` for a `psum`.

    nbytes: of the array as one device holds it before a `psum`, `psum_scatter`,
    `all_to_all` or `ppermute`, and after an `all_gather`.
    """
    if collective == "all_to_all" and axes:  # neighbors forward what is not for them
        return nbytes * n / 4 if n % 2 == 0 else nbytes * (n * n - 1) / n / 4
    part = nbytes * (n - 1) / n
    once = {"all_gather": part, "psum_scatter": part, "all_to_all": part}
    return (once | {"psum": 2 * part, "ppermute": nbytes})[collective]


def seconds(collective, nbytes, n, chip, ring=True, hop=HOP):
    """Return the least time on a ring of `n` TPU chips, or on `n` GPUs of a switch.

    A `ppermute` to the next device uses one direction of the ring, half of the link.
    ring: False where the last of the TPU chips has no link to the first. Its shard then
    arrives by one direction of one link; a `ppermute` back to the first takes all hops.
    """
    link, hops = chip.link, 1
    if chip.axes:
        hops = {"psum": n, "ppermute": 1}.get(collective, n // 2)
        if not ring:
            hops = 2 * (n - 1) if collective == "psum" else n - 1
        if not ring or collective == "ppermute":
            link = link / 2
    return hops * hop + leaves(collective, nbytes, n, chip.axes) / link


def said(collective, shard=2**26, n=8):
    """Return the least times where each of `n` chips holds `shard` bytes, in a clause.

    >>> said("psum")
    '1.18 ms on v5e, 0.60 ms on v5p, v6e and TPU7x, and 0.26 ms on H100s'
    """
    nbytes = shard * n if collective == "all_gather" else shard
    chips = "TPU v5e", "TPU v5p", "H100"
    times = [1e3 * seconds(collective, nbytes, n, CHIPS[chip]) for chip in chips]
    v5e, torus, switch = (f"{time:.2f} ms" for time in times)
    return f"{v5e} on v5e, {torus} on v5p, v6e and TPU7x, and {switch} on H100s"


def main():
    """Print the least time of a `psum` of 64 MiB over eight chips of each kind.

    >>> main()
    TPU v5e: 1182 µs
    TPU v5p: 595 µs
    TPU v6e: 595 µs
    TPU7x: 595 µs
    H100: 262 µs
    """
    for name, chip in CHIPS.items():
        print(f"{name}: {1e6 * seconds('psum', 2**26, 8, chip):.0f} µs")


if __name__ == "__main__":
    main()
