"""Targets that round: products are those of the hardware, and nothing else changes."""

import subprocess
import sys

import pytest

from book.hardware.targets import environment, load
from tests.conftest import REAL

PROGRAM = """
import sys
assert "jax" not in sys.modules  # a program may set its environment first
import jax, jax.numpy as jnp, numpy as np
from jax import lax

draw = np.random.default_rng(0).normal
x, y = draw(size=(2, 32, 32)).astype(np.float32)
cut = lambda a: np.asarray(lax.reduce_precision(a, 8, BITS))
same = lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=1e-4)

full, less = np.float64(x) @ np.float64(y), np.float64(cut(x)) @ np.float64(cut(y))
assert abs(full - less).max() > 1e-3
multiply = jax.jit(lambda a, b, **options: jnp.matmul(a, b, **options))
batched = jax.vmap(lambda row: row @ y)
slope = jax.grad(lambda a: (jnp.matmul(a, y) * full).sum())
for rounded in (
    jnp.matmul(x, y),
    batched(x),
    multiply.lower(x, y).compile()(x, y),
    jax.jit(jax.shard_map(lambda a: a @ y, mesh=jax.make_mesh((8,), ("d",)),
        in_specs=jax.P(), out_specs=jax.P()))(x),
    lax.dot(x, y, preferred_element_type=jnp.float32),
    jnp.matmul(x + 0j, y + 0j).real,
):
    same(rounded, less)
same(slope(x), cut(np.float32(full)) @ cut(y).T)

filters, image = draw(size=(1, 1, 4)), draw(size=(1, 1, 9))
convolve = lambda *two, **how: lax.conv(*map(np.float32, two), (1,), "VALID", **how)
exact = np.correlate(image[0, 0], filters[0, 0], "valid")
same(convolve(image, filters), convolve(cut(image), cut(filters), precision="highest"))
same(convolve(image, filters, precision="highest")[0, 0], exact)
assert abs(convolve(image, filters)[0, 0] - exact).max() > 1e-4

with jax.default_matmul_precision("highest"):
    same(multiply(x, y), full)
same(multiply(x, y), less)
same(jnp.matmul(x, y, precision="highest"), full)
same(jnp.matmul(x, y, precision="high"), less if BITS == 10 else full)
same(lax.dot(x, y, precision=lax.DotAlgorithmPreset.F32_F32_F32), full)
same(cut(x) + x, cut(x) + np.float32(x))
whole = np.arange(1000, 1064).reshape(8, 8)
assert np.array_equal(jnp.matmul(whole, whole), whole @ whole)
with jax.enable_x64(True):
    np.testing.assert_allclose(jnp.matmul(np.float64(x), np.float64(y)), full, 1e-10)

lowered = multiply.lower(x, y)
for stage in lowered, lowered.compile():
    assert "dot" in stage.as_text()
    assert "reduce_precision" not in stage.as_text().replace("-", "_")
assert lowered.compile().memory_analysis().temp_size_in_bytes == 0
assert lowered.compile().cost_analysis()["flops"] == 2 * 32**3
"""
TRACED = """
import jax, numpy as np

traced = []
double = jax.jit(lambda a: traced.append(a) or 2 * (a @ a))
for _ in range(2):
    double(np.ones((2, 2), np.float32))
assert len(traced) == 1, len(traced)
"""


@pytest.mark.parametrize(("target", "bits"), [("bfloat16", 7), ("tf32", 10)])
def test_products_round_as_by_default_and_only_those(target, bits, tmp_path):
    known = load(REAL / "docs" / "targets.toml")[target]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("BITS", str(bits)))
    command = [sys.executable, "-P", str(program)]
    subprocess.run(command, env=environment(known), cwd=tmp_path, check=True)


def test_the_first_product_is_traced_once_as_without_rounding(tmp_path):
    known = load(REAL / "docs" / "targets.toml")["tf32"]
    command = [sys.executable, "-P", "-c", TRACED]
    subprocess.run(command, env=environment(known), cwd=tmp_path, check=True)
