"""What compilers are said to send is what formulas, written down here, say.

The records beside the programs are of compilers that need not be here; the formulas
know nothing of the code that wrote them.
"""

import json
from collections import Counter

import jax
import jax.numpy as jnp
import pytest
from jax import P, lax

from book.compilers.store import EXAMPLES
from examples.tools.traffic import sends
from tests.devices import cpus

MIB = 2**20
# Bytes that each of n devices puts in and sends on, on a ring.
RING = {
    "all-gather": lambda operand, n: operand * (n - 1),
    "all-reduce": lambda operand, n: 2 * operand * (n - 1) / n,
    "reduce-scatter": lambda operand, n: operand * (n - 1) / n,
    "all-to-all": lambda operand, n: operand * (n - 1) / n,
    "collective-permute": lambda operand, n: operand,
}
OLD = {"v3:2x2", "v4:2x2x2", "v5p:2x2x2"}  # psum_scatter over all is an all-reduce


def one(kind, operand, groups="1 x 8", count=1):
    """One collective, or equal ones, of so many bytes from each device."""
    return [{"kind": kind, "operand": operand, "groups": groups, "count": count}]


def scattered(chip):
    """A sum of 4 MiB, of which each of eight devices keeps an eighth."""
    return one("all-reduce" if chip in OLD else "reduce-scatter", 4 * MIB)


def gradient_of_gathered(chip):
    """The sum of a gradient of 8 MiB, of which each device keeps its shard."""
    return one("reduce-scatter" if chip == "h100:1x1x8" else "all-reduce", 8 * MIB)


def turned(chip):
    """Queries, keys and values, then the result: 1 MiB each, or half in bfloat16."""
    if chip == "h100:1x1x8":
        return one("all-to-all", MIB, count=4)
    return one("all-to-all", MIB // 2, count=3) + one("all-to-all", MIB)


EXPECTED = {
    ("all_gather", "lower"): one("all-gather", 4 * MIB),
    ("all_gather", "lower_along_inner"): one("all-gather", 4 * MIB, "4 x 2"),
    ("all_gather", "lower_gradient"): gradient_of_gathered,
    ("all_gather", "lower_gradient_of_one_array"): one("all-reduce", 8 * MIB),
    ("psum", "lower"): one("all-reduce", 4 * MIB),
    ("psum", "lower_along_inner"): one("all-reduce", 4 * MIB, "4 x 2"),
    ("psum_scatter", "lower"): scattered,
    ("psum_scatter", "lower_along_inner"): one("reduce-scatter", 4 * MIB, "4 x 2"),
    ("psum_scatter", "lower_two_steps"): lambda chip: (
        scattered(chip) + one("all-gather", MIB // 2)
    ),
    ("all_to_all", "lower"): one("all-to-all", 4 * MIB),
    ("all_to_all", "lower_in_pairs"): one("all-to-all", 128 * 128 * 4, "4 x 2"),
    ("all_to_all", "lower_by_heads"): turned,
    ("ppermute", "lower"): one("collective-permute", 4 * MIB, "8 pairs"),
    ("ppermute", "lower_in_pairs"): one("collective-permute", 128 * 128 * 4, "8 pairs"),
    ("ppermute", "lower_ring_all_gather"): one(
        "collective-permute", 4 * MIB, "8 pairs", 7
    ),
    ("ppermute", "lower_ring_psum_scatter"): one(
        "collective-permute", MIB // 2, "8 pairs", 7
    ),
}


def of_float(chip):
    """Bytes of a number that goes into a product: TPUs send it in bfloat16."""
    return 4 if chip == "h100:1x1x8" else 2


# Bytes that a device puts in, in all, however the compiler joins or splits collectives.
ALL, PAIRS, FOURS = "1 x 8", "4 x 2", "2 x 4"
TOTALS = {
    ("patterns/ring_matmul", "lower"): {
        ("collective-permute", "8 pairs"): 7 * 512 * 4096 * 2
    },
    ("patterns/ring_matmul", "lower_gathered"): {("all-gather", ALL): 512 * 4096 * 2},
    ("shard_map/from_one_device", "lower"): {("all-reduce", PAIRS): 1024 * 1024 * 4},
    ("shard_map/from_one_device", "lower_rows"): {},
    ("shard_map/hybrid", "lower"): {  # the hidden layer, and two gradients
        ("all-reduce", PAIRS): 64 * 1024 * 4,
        ("all-reduce", FOURS): 2 * 1024 * 4096 * 4,
    },
    ("shard_map/hybrid", "lower_in_bytes"): {
        ("all-reduce", PAIRS): 64 * 1024 * 4,
        ("all-reduce", FOURS): 2 * 1024 * 4096,
    },
    ("shard_map/matmul_four_cases", "lower"): lambda chip: {
        ("all-gather", ALL): 512 * 4096 * of_float(chip)
    },
    ("shard_map/matmul_four_cases", "lower_case_1"): {},
    ("shard_map/matmul_four_cases", "lower_case_3"): {
        ("all-reduce", ALL): 4096 * 4096 * 4
    },
    ("shard_map/split_inner", "lower"): {("all-reduce", ALL): 4096 * 1024 * 4},
    ("mesh/compiler_partitions", "lower"): lambda chip: {
        ("all-gather", ALL): 2 * 1024 * 128 * of_float(chip)
    },
    ("train/experts", "lower"): {  # there and back; what is dropped and balanced
        ("all-to-all", ALL): 2 * 16 * 256 * 1024 * 2,
        ("all-reduce", ALL): 4 + 16 * 2 + 16 * 4,
    },
    ("train/halo_exchange", "lower"): {("collective-permute", "7 pairs"): 2 * 4096 * 4},
    ("train/monte_carlo", "lower"): {("all-reduce", ALL): 2 * 4},
    ("train/ring_attention", "lower"): {  # keys and values
        ("collective-permute", "8 pairs"): 2 * 2048 * 8 * 128 * 2
    },
    ("train/tensor_parallel", "lower"): {("all-reduce", ALL): 8 * 8 * 16 * 64 * 4},
}


def records(name):
    """Each way to lower a program, each chip, and what its compiler said."""
    kept = json.loads((EXAMPLES / f"{name}.compiled.json").read_text())
    for compilers in kept.values():
        for way, chips in compilers.items():
            if way != "made with":
                for chip, said in chips.items():
                    yield way, chip, said


def devices_of(sent):
    """How many devices exchange: the size of a group, as "4 x 2" has it."""
    return int(sent["groups"].split(" x ")[1]) if " x " in sent["groups"] else 8


PROGRAMS = sorted(
    str(path.relative_to(EXAMPLES)).removesuffix(".compiled.json")
    for path in EXAMPLES.rglob("*.compiled.json")
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bytes_of_every_record_are_those_of_a_ring(name):
    for way, chip, said in records(name):
        for sent in said.get("collectives", ()):
            expected = RING[sent["kind"]](sent["operand"], devices_of(sent))
            assert sent["moved"] == pytest.approx(expected, abs=0.5), (way, chip, sent)


@pytest.mark.parametrize("name", sorted({name for name, _ in EXPECTED}))
def test_every_chip_sends_what_the_collective_asks_for(name):
    seen = set()
    for way, chip, said in records(f"collectives/{name}"):
        expected = EXPECTED[name, way]
        expected = expected(chip) if callable(expected) else expected
        keys = ("kind", "operand", "groups", "count")
        found = [{key: sent[key] for key in keys} for sent in said["collectives"]]
        assert sorted(found, key=str) == sorted(expected, key=str), (way, chip)
        seen.add((name, way))
    assert seen == {pair for pair in EXPECTED if pair[0] == name}


@pytest.mark.parametrize(("name", "way"), TOTALS)
def test_every_chip_sends_what_the_shapes_of_a_program_say(name, way):
    found = {}
    for one_way, chip, said in records(name):
        if one_way == way and said["devices"] == 8:
            total = found[chip] = Counter()
            for sent in said["collectives"]:
                total[sent["kind"], sent["groups"]] += sent["operand"] * sent["count"]
    assert len(found) == 7  # kinds of chips
    for chip, total in found.items():
        expected = TOTALS[name, way]
        assert total == (expected(chip) if callable(expected) else expected), chip


def around(x, name):
    """Send `x` to the next device."""
    n = lax.axis_size(name)
    return lax.ppermute(x, name, [(d, (d + 1) % n) for d in range(n)])


RUNS = {
    "all-gather": lambda x, name: lax.all_gather(x, name, tiled=True),
    "all-reduce": lambda x, name: lax.pcast(lax.psum(x, name), name, to="varying"),
    "reduce-scatter": lambda x, name: lax.psum_scatter(x, name, tiled=True),
    "all-to-all": lambda x, name: lax.all_to_all(x, name, 0, 0, tiled=True),
    "collective-permute": around,
}


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("n", [2, 4, 8])
def test_the_instrument_counts_what_the_formula_says(kind, n):
    devices = cpus(8)  # whose compiler keeps each collective as written
    grid = jax.make_mesh((8 // n, n), ("rows", "inner"), devices=devices)
    both = P(("rows", "inner"))
    body = jax.shard_map(
        lambda x: RUNS[kind](x, "inner"), mesh=grid, in_specs=both, out_specs=both
    )
    for rows, dtype in (8, jnp.float32), (24, jnp.int32), (8000, jnp.float32):
        placed = jax.NamedSharding(grid, both)
        x = jax.ShapeDtypeStruct((8 * rows, 3), dtype, sharding=placed)
        [sent] = sends(jax.jit(body).lower(x))
        assert (sent.kind, sent.times, sent.operand) == (kind, 1, rows * 3 * 4)
        assert sent.moved == pytest.approx(RING[kind](rows * 3 * 4, n), abs=0.5)
        size, count = (2, 8) if kind == "collective-permute" else (n, 8 // n)
        assert [len(group) for group in sent.groups] == [size] * count
