"""Get the gradient right where devices compute a loss together.

Why it is hard: `grad` in the body of a map wants one number, and there are as many as
devices; whether they are one number or eight decides the gradient, and a wrong guess is
wrong by the number of devices, without an error.
What finishes it: one rule. `grad` differentiates the sum of what the devices return,
where a value whose type does not vary counts once; and the gradient of a collective is
its transpose, which is a collective again.

Run it: `python -m examples.shard_map.gradients`
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import NamedSharding

from examples.shard_map.varying import over, varies
from examples.shard_map.what_it_sends import sends

SHARED = (P(), P("rows"))  # weights for all devices, data for each
RING = [(n, (n + 1) % 8) for n in range(8)]  # who sends to whom
BACK = [(to, source) for source, to in RING]


def local(w, d):
    """Return the loss of one device: () and (k,) give a different () on each."""
    return (w * d).sum()


def total(w, d):
    """Return the sum of the losses of all devices: ()."""
    return lax.psum(local(w, d), "rows")


def mean(w, d):
    """Return the mean of the losses of all devices: ()."""
    return lax.pmean(local(w, d), "rows")


def gathered(w, d):
    """Return the sum of all losses, gathered: (), the same, but typed as varying."""
    return lax.all_gather(local(w, d), "rows").sum()


LOSSES = {loss.__name__: loss for loss in (local, total, mean, gathered)}


def held(copies, d):
    """Return what the devices hold after each loss, one of `copies` of w on each."""
    own = copies * d
    every = jnp.ones(len(d))
    return {
        "local": own,
        "total": every * own.sum(),
        "mean": every * own.mean(),
        "gathered": every * own.sum(),
    }


def reference(name, d, once, shared):
    """Return the gradient that the rule says, on one device, without a mesh.

    `once`: all devices hold one number, which counts once. `shared`: all copies of w
    are one number, whose gradient is the sum of theirs: () instead of (devices,).
    """

    def counted(copies):
        found = held(copies, d)[name]
        return found[0] if once else found.sum()

    each = jax.grad(counted)(jnp.full(len(d), 2.0))
    return each.sum() if shared else each


def of_shared(loss):
    """Return a body: the gradient to a `w` that is one number for all devices, ()."""
    return jax.grad(loss)


def of_own(loss):
    """Return a body: the gradient to this device's own copy of `w`, (1,)."""
    return lambda w, d: jax.grad(loss)(lax.pcast(w, "rows", to="varying"), d)[None]


def unchecked(loss):
    """Return a body for `check_vma=False`: what `grad` gives on this device, (1,)."""
    return lambda w, d: jax.grad(loss)(w, d)[None]


def recipes(mesh):
    """Return `{what: (with the check, without it)}`: functions of w and d."""
    each, split = jax.grad(local), P("rows")

    def off(body, out):
        return over(mesh, body, SHARED, out, check_vma=False)

    def after(collective):
        return off(lambda w, d: collective(each(w, d), "rows"), P())

    return {
        "sum": (over(mesh, jax.grad(total), SHARED, P()), after(lax.psum)),
        "mean": (over(mesh, jax.grad(mean), SHARED, P()), after(lax.pmean)),
        "each": (
            over(mesh, of_own(local), SHARED, split),
            off(unchecked(local), split),
        ),
    }


def found(mesh, name, d):
    """Return the gradients of a loss: to a shared w, to own copies, and unchecked."""
    loss, split = LOSSES[name], P("rows")
    shared = over(mesh, of_shared(loss), SHARED, P())
    own = over(mesh, of_own(loss), SHARED, split)
    off = over(mesh, unchecked(loss), SHARED, split, check_vma=False)
    return tuple(
        np.asarray(gradient(np.float32(2), d)) for gradient in (shared, own, off)
    )


def error(params, x, y):
    """Return half the mean squared error of a piece: {"w": (k,), "b": ()}, (m, k)."""
    return ((x @ params["w"] + params["b"] - y) ** 2).mean() / 2


def mean_error(params, x, y):
    """Return the mean of the errors of all devices, for pieces of equal length: ()."""
    return lax.pmean(error(params, x, y), "rows")


def log_sum(x):
    """Return log(sum(exp(x))) over all pieces, (k,) gives (), and never overflow."""
    top = lax.pmax(lax.stop_gradient(x).max(), "rows")
    return top + jnp.log(lax.psum(jnp.exp(x - top).sum(), "rows"))


def transposes():
    """Return `{name: (collective, its transpose)}`, of rows of eight."""
    return {
        "psum": (
            lambda x: lax.psum(x, "rows"),
            lambda ct: lax.pcast(ct, "rows", to="varying"),
        ),
        "pcast": (
            lambda s: lax.pcast(s, "rows", to="varying"),
            lambda ct: lax.psum(ct, "rows"),
        ),
        "all_gather": (
            lambda x: lax.all_gather(x, "rows"),
            lambda ct: lax.psum_scatter(ct, "rows"),
        ),
        "all_gather, one": (
            lambda x: lax.all_gather(x, "rows", to="invarying"),
            lambda ct: ct[lax.axis_index("rows")],
        ),
        "psum_scatter": (
            lambda x: lax.psum_scatter(x, "rows"),
            lambda ct: lax.all_gather(ct, "rows"),
        ),
        "ppermute": (
            lambda x: lax.ppermute(x, "rows", RING),
            lambda ct: lax.ppermute(ct, "rows", BACK),
        ),
        "all_to_all": (
            lambda x: lax.all_to_all(x, "rows", 0, 0),
            lambda ct: lax.all_to_all(ct, "rows", 0, 0),
        ),
    }


def both_ways(mesh, name):
    """Return three functions of x, (8 devices,) split, and s, (8,) shared.

    The collective, its gradient by JAX, and its gradient by the transpose above; each
    device puts in its piece of x, or s where the collective is `pcast`.
    """
    collective, transpose = transposes()[name]

    def pulled(x, s):
        out, pull = jax.vjp(collective, s if name == "pcast" else x)
        ct = jnp.resize(x if varies(out) else s, out.shape)
        return pull(ct)[0].ravel(), transpose(ct).ravel()

    bodies = (
        lambda x, s: collective(s if name == "pcast" else x).ravel(),
        lambda x, s: pulled(x, s)[0],
        lambda x, s: pulled(x, s)[1],
    )
    return [over(mesh, body, (P("rows"), P()), P("rows")) for body in bodies]


def what_is_sent(stage):
    """Return the kinds of collectives in a lowered program, or "nothing"."""
    return ", ".join(sent.kind for sent in sends(stage)) or "nothing"


def numbers(mesh):
    """Return the odd numbers 3 to 17, float32 (8,): one on each device."""
    d = np.arange(3, 19, 2, dtype=np.float32)
    return jax.device_put(d, NamedSharding(mesh, P("rows")))


def batch(mesh):
    """Return weights {"w": (3,), "b": ()}, and rows (16, 3) and (16,) on the mesh."""
    x = np.arange(48, dtype=np.float32).reshape(16, 3) % 5
    y = np.arange(16, dtype=np.float32) % 7
    params = {"w": np.array([1, 2, 3], np.float32), "b": np.float32(1)}
    return params, *jax.device_put((x, y), NamedSharding(mesh, P("rows")))


def lower(mesh):
    """Lower the gradient of `mean_error` for a mesh of any size: 4 MiB of weights."""
    k, rows = 2**20, NamedSharding(mesh, P("rows"))

    def shape(*dims, sharding=rows):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=sharding)

    everywhere = NamedSharding(mesh, P())
    params = {"w": shape(k, sharding=everywhere), "b": shape(sharding=everywhere)}
    step = over(mesh, jax.grad(mean_error), (P(), P("rows"), P("rows")), P())
    return step.lower(params, shape(8 * mesh.size, k), shape(8 * mesh.size))


def main(devices=None):
    """Take gradients of four losses, of a mean error, and of every collective.

    >>> main()
    local      80  unchecked, on device 0: 3
    total      80  unchecked, on device 0: 24
    mean       10  unchecked, on device 0: 3
    gathered  640  unchecked, on device 0: 24
    each is what the rule says: True
    the gradient of the mean error equals one device's: True
    the gradient of each collective is its transpose: True
    """
    if devices is None:
        devices = jax.devices() if jax.device_count() >= 8 else jax.devices("cpu")
    mesh = jax.make_mesh((8,), ("rows",), devices=devices[:8])
    d, ruled = numbers(mesh), []
    for name in LOSSES:
        shared, own, off = found(mesh, name, d)
        once, host = name in ("total", "mean"), np.asarray(d)
        ruled += [
            shared == reference(name, host, once, shared=True),
            np.array_equal(own, reference(name, host, once, shared=False)),
            np.array_equal(off, reference(name, host, once=False, shared=False)),
        ]
        print(f"{name:<8}{shared:5.0f}  unchecked, on device 0: {off[0]:.0f}")
    print(f"each is what the rule says: {all(ruled)}")

    params, x, y = batch(mesh)
    specs = (P(), P("rows"), P("rows"))
    gradient = over(mesh, jax.grad(mean_error), specs, P())(params, x, y)
    alone = jax.grad(error)(params, np.asarray(x), np.asarray(y))
    equal = jax.tree.all(jax.tree.map(np.array_equal, gradient, alone))
    print(f"the gradient of the mean error equals one device's: {equal}")

    x = jax.device_put(np.arange(64.0) % 7, NamedSharding(mesh, P("rows")))
    s = np.arange(8.0, dtype=np.float32)
    pairs = [both_ways(mesh, name)[1:] for name in transposes()]
    right = all(np.array_equal(*(way(x, s) for way in pair)) for pair in pairs)
    print(f"the gradient of each collective is its transpose: {right}")


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)
    main()
