"""Write pmap on jit and shard_map: the same arguments, the same answers.

Why it is hard: `pmap` takes an axis away from every argument and puts one back into
every result, wherever `in_axes` and `out_axes` say; `shard_map` cuts axes, and keeps
them.
What finishes it: turn each axis into a spec, squeeze it out before the function is
called, put it back after, and let one `jit` around all of it remember the rest.

Run it: `python -m examples.pmap.pmap_from_shard_map`
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import Mesh


def pmap(
    fun,
    axis_name=None,
    *,
    in_axes=0,
    out_axes=0,
    static_broadcasted_argnums=(),
    devices=None,
    backend=None,
    axis_size=None,
    donate_argnums=(),
):
    """Return `fun` mapped over devices: `jax.pmap`, for one process.

    Each argument means what it means there. The result is a function of `jax.jit`: it
    has `lower` and `trace`, and is dispatched as such a function is.

    Raises TypeError for an axis that is no int; and, at the call, ValueError for mapped
    axes that differ in size, are none at all, or are longer than the devices are many.
    """
    require_ints(in_axes=in_axes, out_axes=out_axes)
    name = "pmapped" if axis_name is None else axis_name
    static = as_tuple(static_broadcasted_argnums)

    def over_devices(*args, **kwargs):
        constants = {number: args[number] for number in static}
        arrays = tuple(x for n, x in enumerate(args) if n not in constants)
        axes = without(constants, in_axes)
        cuts = for_each_leaf((axes, 0), (arrays, kwargs))
        leaves, tree = jax.tree.flatten((arrays, kwargs))
        size = mapped_size(leaves, cuts, axis_size)
        mesh = Mesh(take_devices(size, devices, backend), (name,))

        def body(*pieces):
            values = map(squeeze, pieces, cuts)
            positional, named = jax.tree.unflatten(tree, values)
            result = fun(*filled_in(positional, constants), **named)
            results, shape = jax.tree.flatten(result)
            places = for_each_leaf(out_axes, result)
            return jax.tree.unflatten(shape, map(expand, results, places))

        as_spec = functools.partial(spec, name)
        back = jax.tree.map(as_spec, out_axes, is_leaf=is_none)
        specs = {"in_specs": tuple(map(as_spec, cuts)), "out_specs": back}
        return jax.shard_map(body, mesh=mesh, check_vma=False, **specs)(*leaves)

    mapped = functools.wraps(fun)(over_devices)
    return jax.jit(mapped, static_argnums=static, donate_argnums=donate_argnums)


def spec(name, axis):
    """Return the spec of an array whose `axis` is cut by the mesh axis `name`."""
    return P() if axis is None else P(*[None] * axis, name)


def squeeze(piece, axis):
    """Take the mapped axis away from a piece, where it has length one."""
    return piece if axis is None else lax.squeeze(piece, [axis])


def expand(result, axis):
    """Put the mapped axis back into a result, with length one."""
    return result if axis is None else jnp.expand_dims(result, axis)


def is_none(axis):
    """Tell whether `axis` is None, which is a leaf among axes."""
    return axis is None


def for_each_leaf(axes, tree):
    """Return the axis of each leaf of `tree`, from a prefix of it.

    Raises ValueError where the two differ, with the place.
    """
    return jax.tree.leaves(
        jax.tree.broadcast(axes, tree, is_leaf=is_none), is_leaf=is_none
    )


def without(constants, in_axes):
    """Leave out of a tuple of axes those of the arguments that are constants."""
    if not isinstance(in_axes, tuple):
        return in_axes
    return tuple(axis for n, axis in enumerate(in_axes) if n not in constants)


def filled_in(positional, constants):
    """Put the constants back at their places among the positional arguments."""
    args = list(positional)
    for number in sorted(constants):
        args = [*args[:number], constants[number], *args[number:]]
    return args


def mapped_size(leaves, cuts, axis_size):
    """Return the one size of all mapped axes; raise ValueError when there is none."""
    cut = [(np.shape(x), axis) for x, axis in zip(leaves, cuts, strict=True)]
    sizes = sorted({x[axis] for x, axis in cut if axis is not None and axis < len(x)})
    missing = [x for x, axis in cut if axis is not None and axis >= len(x)]
    if missing:
        raise ValueError(f"an argument of shape {missing[0]} has no such axis to map")
    if not sizes:
        raise ValueError("no argument is mapped: give at least one an axis in in_axes")
    if len({*sizes, axis_size or sizes[0]}) > 1:
        asked = f"; axis_size is {axis_size}" if axis_size else ""
        raise ValueError(f"the mapped axes have sizes {sizes}{asked}: make them one")
    return sizes[0]


def take_devices(size, devices, backend):
    """Return `size` devices to map over; raise ValueError when there are too few."""
    found = list(jax.local_devices(backend=backend) if devices is None else devices)
    if size > len(found):
        raise ValueError(
            f"the mapped axis has size {size}, and there are {len(found)} devices: "
            "give each a block of rows, mapped with vmap"
        )
    return np.array(found[:size])


def require_ints(**axes):
    """Raise TypeError where an axis is neither None nor an int from zero on."""
    for what, tree in axes.items():
        for axis in jax.tree.leaves(tree):
            if type(axis) is not int:
                raise TypeError(f"{what} takes ints and None, not {axis!r}")
            if axis < 0 and what == "in_axes":
                raise TypeError(f"in_axes counts from the front: {axis} does not")


def as_tuple(numbers):
    """Return one number, or several, as a tuple."""
    return (numbers,) if isinstance(numbers, int) else tuple(numbers)


def main():
    """Map one function by both, and compare the answers and what holds them.

    >>> main()
    equal answers: True
    equal shapes on each device: True
    """

    def share(x, scale):
        return scale * x / lax.psum(x, "rows")

    x, axes = jnp.ones((8, 3)), {"axis_name": "rows", "in_axes": (0, None)}
    ours, theirs = (way(share, **axes) for way in (pmap, jax.pmap))
    a, b = ours(x, 2.0), theirs(x, 2.0)
    print(f"equal answers: {bool((a == b).all())}")
    held = [each.addressable_shards[0].data.shape for each in (a, b)]
    print(f"equal shapes on each device: {held[0] == held[1]}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
