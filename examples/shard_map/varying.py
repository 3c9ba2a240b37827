"""Say which values are the same on every device, and prove it to the type checker.

Why it is hard: every device runs the same text, so nothing in it says which numbers are
equal everywhere; whoever forgets a sum returns one device's part as if it were the
whole, and gets gradients to match.
What finishes it: the type of a value lists the mesh axes over which it may vary. A
collective takes an axis off that list, `pcast` puts one on it, and both sides of a loop
or a branch have to agree.

Run it: `python -m examples.shard_map.varying`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

ROWS = P("rows")


def reference(x):
    """Return the running sums of each row by NumPy: (m, k) gives (m, k)."""
    return np.cumsum(x, axis=1)


def over(mesh, body, in_specs=ROWS, out_specs=ROWS, **options):
    """Return `body` over the mesh, compiled; `options` are those of `shard_map`."""
    specs = {"in_specs": in_specs, "out_specs": out_specs}
    return jax.jit(jax.shard_map(body, mesh=mesh, **specs, **options))


def varies(value):
    """Return the mesh axes over which `value` may differ, sorted, inside of a map."""
    return sorted(jax.typeof(value).manual_axis_type.varying)


def types(mesh, make, *args):
    """Trace `make` over the mesh and return `{name: (type, axes it varies over)}`.

    The first argument is split over "rows", the others are the same on all devices;
    `make` returns a dict of values. Nothing runs.
    """
    seen = {}

    def body(*args):
        for name, value in make(*args).items():
            seen[name] = str(jax.typeof(value)), varies(value)

    specs = {"in_specs": (ROWS, *[P()] * (len(args) - 1)), "out_specs": P()}
    jax.eval_shape(jax.shard_map(body, mesh=mesh, **specs), *args)
    return seen


def values(x, w):
    """Return values made of a piece, (k,), and of a number that all devices share."""
    return {
        "x": x,
        "w": w,
        "w * x": w * x,
        "axis_index": lax.axis_index("rows"),
        "psum(x)": lax.psum(x, "rows"),
        "all_gather(x)": lax.all_gather(x, "rows"),
        "pcast(w)": lax.pcast(w, "rows", to="varying"),
    }


def running(x, start):
    """Return the running sums of a piece, (k,) gives (k,), from `start` on."""

    def add(total, number):
        return total + number, total + number

    return lax.scan(add, start, x)[1]


def running_by_cast(x):
    """Return the running sums of a piece; the zero is said to vary, as the sums do."""
    return running(x, lax.pcast(0.0, "rows", to="varying"))


def total(w, x, to="invarying"):
    """Return the sum of all products on every device, by gathering them: ()."""
    return lax.all_gather((w * x).sum(), "rows", to=to).sum()


def value_and_slope(w, x, to="invarying"):
    """Return `total` and its gradient to `w`: () and ()."""
    return jax.value_and_grad(total)(w, x, to)


def ledger():
    """Return whole numbers between -6 and 8, float32 (8, 6): a row for each device."""
    return np.arange(48, dtype=np.float32).reshape(8, 6) * 7 % 15 - 6


def lower(mesh):
    """Lower `value_and_slope` for a mesh of any size, with 4 MiB on each device."""
    x = jax.ShapeDtypeStruct(
        (8192 * mesh.size, 128), jnp.float32, sharding=NamedSharding(mesh, ROWS)
    )
    w = jax.ShapeDtypeStruct((), jnp.float32, sharding=NamedSharding(mesh, P()))
    return over(mesh, value_and_slope, (P(), ROWS), P()).lower(w, x)


def main(devices=None):
    """Run a loop whose carry varies, and take a gradient with the check and without.

    >>> main()
    psum(x) is the same on all devices, all_gather(x) is not said to be: True
    the running sums of each device are right: True
    the value is right with the check and without it: True
    the gradient is right with the check: True
    the gradient is right without it: False
    """
    if devices is None:
        devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    whole = ledger()
    x = jax.device_put(whole.reshape(-1), NamedSharding(mesh, ROWS))
    seen = {name: axes for name, (_, axes) in types(mesh, values, x, 2.0).items()}
    told = (seen["psum(x)"], seen["all_gather(x)"]) == ([], ["rows"])
    print(
        f"psum(x) is the same on all devices, all_gather(x) is not said to be: {told}"
    )
    sums = over(mesh, running_by_cast)(x).reshape(whole.shape)
    right = np.array_equal(sums, reference(whole))
    print(f"the running sums of each device are right: {right}")

    def unproved(w, x):
        return value_and_slope(w, x, to="varying")

    shared = (P(), ROWS)
    checked = over(mesh, value_and_slope, shared, P())(2.0, x)
    unchecked = over(mesh, unproved, shared, P(), check_vma=False)(2.0, x)
    same = checked[0] == unchecked[0] == 2 * whole.sum()
    print(f"the value is right with the check and without it: {same}")
    print(f"the gradient is right with the check: {checked[1] == whole.sum()}")
    print(f"the gradient is right without it: {unchecked[1] == whole.sum()}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
