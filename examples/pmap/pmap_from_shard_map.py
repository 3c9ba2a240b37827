"""Write pmap on jit and shard_map: the same arguments, the same answers.

Why it is hard: `pmap` takes an axis away from every argument and puts one back into
every result, wherever `in_axes` and `out_axes` say; `shard_map` shards axes, and keeps
them.
What finishes it: turn each axis into a spec, squeeze it out before the function is
called, and put it back afterwards. One `jit` around all of it compiles, and takes care
of static and donated arguments.

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

    Raises TypeError for an axis that is no int, and ValueError for an empty list of
    devices; and, at the call, ValueError if `in_axes` does not fit the arguments, if
    the mapped axes differ in size, if there is none, or if it is longer than the number
    of devices.
    """
    require_ints(in_axes=in_axes, out_axes=out_axes)
    if devices is not None and not len(devices):
        raise ValueError("'devices' argument to pmap must be non-empty, or None.")
    name = "pmapped" if axis_name is None else axis_name
    static = as_tuple(static_broadcasted_argnums)

    def over_devices(*args, **kwargs):
        constants = {number: args[number] for number in static}
        numbered = {n: x for n, x in enumerate(args) if n not in constants}
        arrays = tuple(numbered.values())
        axes = without(constants, in_axes)
        positions = axes_of_arguments((axes, 0), (arrays, kwargs))
        leaves, tree = jax.tree.flatten((arrays, kwargs))
        size = mapped_size((numbered, kwargs), positions, axis_size)
        mesh = Mesh(take_devices(size, devices, backend), (name,))

        def body(*shards):
            values = map(squeeze, shards, positions)
            positional, named = jax.tree.unflatten(tree, values)
            result = fun(*filled_in(positional, constants), **named)
            results, shape = jax.tree.flatten(result)
            places = for_each_leaf(out_axes, result)
            return jax.tree.unflatten(shape, map(expand, results, places))

        as_spec = functools.partial(spec, name)
        on_shards = jax.shard_map(
            body,
            mesh=mesh,
            in_specs=tuple(map(as_spec, positions)),
            out_specs=jax.tree.map(as_spec, out_axes, is_leaf=is_none),
            check_vma=False,
        )
        return on_shards(*leaves)

    mapped = functools.wraps(fun)(over_devices)
    jitted = jax.jit(mapped, static_argnums=static, donate_argnums=donate_argnums)
    jitted.__wrapped__ = fun
    return jitted


def spec(name, axis):
    """Return the spec of an array whose `axis` is sharded over the mesh axis `name`."""
    return P() if axis is None else P(*[None] * axis, name)


def squeeze(shard, axis):
    """Take the mapped axis away from a shard, where it has length one."""
    return shard if axis is None else lax.squeeze(shard, [axis])


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


def axes_of_arguments(axes, arguments):
    """Return the axis of each leaf of the arguments: positional ones, then keywords.

    Raises ValueError where `in_axes` does not fit them, with the place in JAX's words.
    """
    try:
        return for_each_leaf(axes, arguments)
    except ValueError as error:
        words = str(error).replace("broadcast_prefix prefix_tree", "pmap in_axes")
        raise ValueError(
            f"{words}\nThe first index is 0 for positional arguments, to which in_axes "
            "belongs, and 1 for the others: each argument passed by keyword is mapped "
            "over its axis 0."
        ) from None


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


def mapped_size(args, positions, axis_size):
    """Return the one size of all mapped axes; raise ValueError when there is none."""
    found = {}
    for (path, leaf), axis in zip(
        jax.tree.leaves_with_path(args), positions, strict=True
    ):
        if axis is None:
            continue
        where, shape = jax.tree_util.keystr(path[1:]), np.shape(leaf)
        name = ("args", "kwargs")[path[0].idx] + where
        if axis >= len(shape):
            raise ValueError(f"{name} of shape {shape} has no axis {axis} to map")
        found[f"axis {axis} of {name} has size {shape[axis]}"] = shape[axis]
    if not found:
        raise ValueError("no argument is mapped: give at least one an axis in in_axes")
    if axis_size:
        found[f"axis_size is {axis_size}"] = axis_size
    if len(set(found.values())) > 1:
        raise ValueError(f"the mapped axes differ in size: {', '.join(found)}")
    return next(iter(found.values()))


def take_devices(size, devices, backend):
    """Return `size` devices to map over; raise ValueError when there are too few."""
    found = list(jax.local_devices(backend=backend) if devices is None else devices)
    count = len(found)
    if size > count:
        each, left = divmod(size, count)
        advice = (
            f"pass fewer rows, or pad them to a multiple of {count}"
            if left
            else f"reshape({count}, {each}, ...) the arguments and map jax.vmap(f)"
        )
        raise ValueError(
            f"the mapped axis has size {size}, and there are {count} devices, "
            f"which take one row each: {advice}"
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
    """Map one function by both, and compare the answers and where they are.

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
