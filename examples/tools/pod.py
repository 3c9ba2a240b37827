"""Read what the compiler said of `weak_scaling`, and turn bytes into seconds.

Bytes, memory and groups of chips are the compiler's. Seconds are a model: bytes over
the bandwidth of the torus axes on which a group of chips lies, one after another.

Run it: `python -m examples.tools.pod`
"""

import json
from pathlib import Path

RING = 200e9  # bytes a second out of a v5p chip, along one ring of the torus
WAYS = {
    "data": "lower",
    "FSDP": "lower_fsdp",
    "data and FSDP": "lower_data_and_fsdp",
    "tensor": "lower_tensor",
    "data and tensor": "lower_data_and_tensor",
}
TWO_RINGS = {(64, 16), (512, 32), (4096, 256), (8960, 560)}  # chips, and of a group


def said():
    """Return the compiler's facts, by name and number of chips."""
    path = Path(__file__).parents[1] / "scale/weak_scaling.compiled.json"
    found = json.loads(path.read_text(encoding="utf-8"))["tpu"]
    return {
        name: {facts["devices"]: facts for facts in found[way].values()}
        for name, way in WAYS.items()
    }


def needs(facts):
    """Return the bytes of memory of a chip; donated arguments count once."""
    parts = "arguments", "outputs", "temporaries", "code"
    return sum(facts[part] for part in parts) - facts["aliased"]


def times(one, layers=4):
    """Return how often a collective runs in a step; a loop runs once a layer."""
    return one["count"] * (one["times"] or layers)


def moved(facts):
    """Return the bytes that a chip sends in a step, where groups are rings."""
    return sum(one["moved"] * times(one) for one in facts["collectives"])


def links(chips, group):
    """Return the bytes a second out of a chip, for groups of some of the chips."""
    if chips == group:
        return 3 * RING if chips > 8 else 3 * RING / 2  # 2 x 2 x 2 has no rings
    return 2 * RING if (chips, group) in TWO_RINGS else RING


def seconds(facts):
    """Return the least seconds of all collectives of a step."""
    total = 0
    for one in facts["collectives"]:
        group = int(one["groups"].split()[-1])
        total += times(one) * one["moved"] / links(facts["devices"], group)
    return total


def main():
    """Print what data parallelism sends.

    >>> main()
    8 chips: 13.2 GB, 44 ms
    64 chips: 14.8 GB, 25 ms
    512 chips: 15.0 GB, 25 ms
    4096 chips: 15.0 GB, 25 ms
    8960 chips: 15.0 GB, 25 ms
    """
    for chips, facts in said()["data"].items():
        gigabytes, ms = moved(facts) / 1e9, 1e3 * seconds(facts)
        print(f"{chips} chips: {gigabytes:.1f} GB, {ms:.0f} ms")


if __name__ == "__main__":
    main()
