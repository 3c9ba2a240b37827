"""Build `vmap`: read a function as a list of operations, and run each on a batch.

Why it is hard: the function is written for one item, and Python cannot look inside it;
loops and branches may go differently for each item.
What finishes it: a jaxpr, the list of operations that JAX records, an interpreter that
knows which values hold a batch, and for each operation a rule.

A value is an array and a `dim`: 0 where its axis 0 holds the batch, None where all
examples share it.

Run it: `python -m examples.vmap.build_your_own`
"""

from functools import wraps

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Literal

from examples.vmap.batching_rules import (
    RULES,
    MappedAxis,
    names_of,
    rule,
    with_batch,
)

# ---- the interpreter -------------------------------------------------------------


class Operation:
    """The operation of one equation, to run on other arguments than were recorded."""

    def __init__(self, eqn):
        self.eqn, self.name = eqn, eqn.primitive.name

    def __call__(self, *args, **changed):
        """Return its output, or the list of them, with some parameters changed."""
        params = self.eqn.primitive.get_bind_params(self.eqn.params | changed)
        return self.eqn.primitive.bind(*args, **params)


def evaluate(jaxpr, *args):
    """Run a jaxpr as it was recorded, one equation after the other."""
    env = dict(zip(jaxpr.constvars + jaxpr.invars, [*jaxpr.consts, *args], strict=True))

    def read(var):
        return var.val if isinstance(var, Literal) else env[var]

    for eqn in jaxpr.eqns:
        outs = Operation(eqn)(*map(read, eqn.invars))
        outs = outs if eqn.primitive.multiple_results else [outs]
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(var) for var in jaxpr.outvars]


def interpret(jaxpr, mapped, args, dims):
    """Run a jaxpr for all examples at once; return its outputs and their dims."""
    consts = [(const, None) for const in getattr(jaxpr, "consts", ())]
    values = [*consts, *zip(args, dims, strict=True)]
    env = dict(zip(jaxpr.constvars + jaxpr.invars, values, strict=True))

    def read(var):
        return (var.val, None) if isinstance(var, Literal) else env[var]

    for eqn in jaxpr.eqns:
        outs = run_batched(eqn, mapped, [read(var) for var in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    outs = [read(var) for var in jaxpr.outvars]
    return [x for x, _ in outs], tuple(dim for _, dim in outs)


def run_batched(eqn, mapped, values):
    """Run one equation on pairs of array and dim, and return such pairs."""
    args, dims = [x for x, _ in values], tuple(dim for _, dim in values)
    op, out_dims = Operation(eqn), None
    if 0 not in dims and not names_axis(eqn, mapped):
        outs = op(*args)  # all examples share the operands: run it once
    elif op.name in mapped.rules:
        outs, out_dims = mapped.rules[op.name](mapped, op, args, dims, **eqn.params)
    else:
        raise NotImplementedError(missing(op.name))
    outs = outs if eqn.primitive.multiple_results else [outs]
    same = out_dims in (0, None)
    return list(zip(outs, [out_dims] * len(outs) if same else out_dims, strict=True))


def names_axis(eqn, mapped):
    """Return whether an equation, or a jaxpr inside of it, names the mapped axis."""
    if mapped.name is None:
        return False
    params = eqn.params
    names = names_of(params.get("axis_name")) + names_of(params.get("axes"))
    values = [each for value in params.values() for each in as_tuple(value)]
    inside = [jaxpr for jaxpr in values if hasattr(jaxpr, "eqns")]
    if mapped.name in names:
        return True
    return any(names_axis(inner, mapped) for jaxpr in inside for inner in jaxpr.eqns)


def as_tuple(value):
    """Return a tuple or a list as a tuple, and anything else in one."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def missing(name):
    """Return what to do about a primitive that has no rule."""
    return f"no batching rule for {name!r}: write one, and put @rule({name!r}) above it"


# ---- vmap ------------------------------------------------------------------------


def vmap(fun, in_axes=0, out_axes=0, axis_name=None, axis_size=None, *, rules=RULES):
    """Return `fun` mapped over an axis of its arguments, as `jax.vmap` does.

    in_axes, out_axes: an axis, or None for what all examples share, or a pytree of them
    that is a prefix of the arguments, or of the output. Keyword arguments are mapped
    over axis 0. rules: a rule for each primitive's name. Raises ValueError where sizes
    differ, and NotImplementedError where an operation has no rule.
    """

    @wraps(fun)
    def over_batch(*args, **kwargs):
        axes = spread("in_axes", in_axes, args) + spread("in_axes", 0, kwargs)
        size = batch_size((args, kwargs), axes, axis_size)
        mapped = MappedAxis(axis_name, size, rules)
        return map_once(fun, (args, kwargs), axes, out_axes, mapped)

    return over_batch


def map_once(fun, arguments, in_axes, out_axes, mapped):
    """Call `fun` for all examples: in_axes is a list here, an axis for each leaf."""
    leaves, tree = jax.tree.flatten(arguments)
    leaves = [to_front(x, axis) for x, axis in zip(leaves, in_axes, strict=True)]
    dims = tuple(None if axis is None else 0 for axis in in_axes)
    one = jax.tree.unflatten(tree, map(one_example, leaves, dims))
    jaxpr, out = record(fun, one, mapped)
    outs, dims = interpret(jaxpr, mapped, leaves, dims)
    out_axes = spread("out_axes", out_axes, out)
    placed = zip(name_leaves(out), outs, dims, out_axes, strict=True)
    outs = [from_front(*each, mapped) for each in placed]
    return jax.tree.unflatten(jax.tree.structure(out), outs)


def one_example(x, dim):
    """Return what one example has of x, as a shape and a dtype."""
    weak = getattr(jax.typeof(x), "weak_type", False)
    shape = x.shape if dim is None else x.shape[1:]
    return jax.ShapeDtypeStruct(shape, x.dtype, weak_type=weak)


def record(fun, arguments, mapped):
    """Return the jaxpr of `fun` for one example, and the shapes of its output."""
    args, kwargs = arguments
    named = None if mapped.name is None else [(mapped.name, mapped.size)]

    def checked(*args, **kwargs):
        out = fun(*args, **kwargs)
        for leaf in jax.tree.leaves(out):
            refuse_no_array(leaf)
        return out

    return jax.make_jaxpr(checked, axis_env=named, return_shape=True)(*args, **kwargs)


def refuse_no_array(leaf):
    """Raise TypeError for an output that is no array and no number."""
    try:
        jax.typeof(leaf)
    except TypeError as error:
        raise TypeError(
            f"Output from batched function {leaf!r} with type {type(leaf)} is not a "
            "valid JAX type"
        ) from error


def spread(name, axes, tree):
    """Return a list with an axis for each leaf of `tree`, of which `axes` is a prefix.

    Raises ValueError where it is none, and TypeError where an axis is no int.
    """
    found = []
    axes = tuple(axes) if isinstance(axes, list) and name == "in_axes" else axes

    def visit(axis, part):
        if axis is not None and not hasattr(axis, "__index__"):
            raise TypeError(f"{name} has to hold ints or None, and {axis!r} is neither")
        found.extend([axis] * len(jax.tree.leaves(part)))

    try:
        jax.tree.map(visit, axes, tree, is_leaf=lambda axis: axis is None)
    except ValueError as error:
        raise ValueError(f"{name}={axes} does not fit: {error}") from error
    return found


def name_leaves(tree, name="output"):
    """Return what to call each leaf of `tree` in a message."""
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
    return [name + jax.tree_util.keystr(path) for path in paths]


def batch_size(arguments, axes, axis_size=None):
    """Return how many examples there are; raises ValueError where arguments differ."""
    names = name_leaves(arguments[0], "args") + name_leaves(arguments[1], "kwargs")
    sizes = {}
    for name, x, axis in zip(names, jax.tree.leaves(arguments), axes, strict=True):
        rank = jnp.ndim(x)
        if axis is None:
            continue
        if not -rank <= axis < rank:
            needed = axis + 1 if axis >= 0 else -axis
            raise ValueError(
                f"vmap was requested to map its argument along axis {axis}, which "
                f"implies that its rank should be at least {needed}, but is only "
                f"{rank} (its shape is {jnp.shape(x)}): it is {name}"
            )
        where = f"axis {axis} of {name} of type {jax.typeof(x)}"
        sizes[where] = jnp.shape(x)[axis]
    if axis_size is not None:
        sizes["axis_size"] = axis_size
    if not sizes:
        raise ValueError("nothing is mapped: give in_axes an axis, or say axis_size")
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name} has size {size}" for name, size in sizes.items())
        raise ValueError(f"the sizes of the mapped axes differ: {found}")
    return next(iter(sizes.values()))


def to_front(x, axis):
    """Return x as an array with its batch in front."""
    x = jnp.asarray(x)
    return x if axis is None else jnp.moveaxis(x, axis, 0)


def from_front(name, x, dim, out_axis, mapped):
    """Return an output with its batch where `out_axes` wants them."""
    if out_axis is not None:
        return jnp.moveaxis(with_batch(x, dim, mapped), 0, out_axis)
    if dim is None:
        return jnp.asarray(x)
    raise ValueError(f"{name} depends on the example, so its out_axes is not None")


# ---- rules for what has a jaxpr inside -------------------------------------------


def give_batch(args, dims, wanted, mapped):
    """Return args, with the batch in front of those whose `wanted` dim is 0."""
    triples = zip(args, dims, wanted, strict=True)
    return [with_batch(x, dim, mapped) if want == 0 else x for x, dim, want in triples]


def batched(jaxpr, mapped, dims, wanted):
    """Return a function that runs `jaxpr` and gives its outputs the `wanted` dims."""

    def run(*args):
        return give_batch(*interpret(jaxpr, mapped, args, dims), wanted, mapped)

    return run


def predict(jaxpr, mapped, dims):
    """Return the dims of the outputs for given dims of the inputs; compute nothing."""
    shapes = []
    for var, dim in zip(jaxpr.invars, dims, strict=True):
        shape = var.aval.shape if dim is None else (mapped.size, *var.aval.shape)
        shapes.append(jax.ShapeDtypeStruct(shape, var.aval.dtype))
    found = []

    def run(*args):
        outs, out_dims = interpret(jaxpr, mapped, args, dims)
        found.extend(out_dims)
        return outs

    jax.eval_shape(run, *shapes)
    return tuple(found)


def either(*alternatives):
    """Return 0 where any of some tuples of dims has 0, and None elsewhere."""
    return tuple(0 if 0 in dims else None for dims in zip(*alternatives, strict=True))


def choose(index, *cases):
    """Return for each example one of the cases: index (n,), cases (n, ...) each."""
    return lax.select_n(lax.broadcast_in_dim(index, cases[0].shape, (0,)), *cases)


@rule("jit")
def inline(mapped, op, args, dims, jaxpr, **params):
    """What is inside of a `jit` is run like the rest: put one outside of `vmap`."""
    return interpret(jaxpr, mapped, args, dims)


@rule("remat2")
def remat(mapped, op, args, dims, jaxpr, policy, prevent_cse, **params):
    """A checkpoint stays one."""
    out_dims = predict(jaxpr, mapped, dims)
    run = batched(jaxpr, mapped, dims, out_dims)
    return jax.checkpoint(run, policy=policy, prevent_cse=prevent_cse)(*args), out_dims


@rule("cond")
def cond(mapped, op, args, dims, branches, **params):
    """One branch, if all examples agree on it; else all, and each example chooses."""
    (index, *args), (index_dim, *dims) = args, dims
    if index_dim == 0:
        return every_branch(mapped, index, args, dims, branches), 0
    wanted = either(*(predict(branch, mapped, dims) for branch in branches))
    run = [batched(branch, mapped, dims, wanted) for branch in branches]
    return lax.switch(index, run, *args), wanted


def every_branch(mapped, index, args, dims, branches):
    """Run all branches; return for each example what its own branch returns."""
    outs = []
    args = give_batch(args, dims, [0] * len(args), mapped)
    for number, branch in enumerate(branches):
        # Gradients must not reach other branches' examples: 0 times inf is no number.
        own = [choose(index == number, lax.stop_gradient(x), x) for x in args]
        run = batched(branch, mapped, [0] * len(args), [0] * len(branch.outvars))
        outs.append(run(*own))
    return [choose(index, *cases) for cases in zip(*outs, strict=True)]


def carried(jaxpr, mapped, before, carry, after=()):
    """Return the dims of a loop's carry: a step may give a batch to what had none."""
    while True:
        after_a_step = predict(jaxpr, mapped, (*before, *carry, *after))[: len(carry)]
        wider = either(carry, after_a_step)
        if wider == carry:
            return carry
        carry = wider


@rule("while")
def while_loop(
    mapped, op, args, dims, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts
):
    """Step until the last example is done; one that is done keeps what it has."""
    a, b = cond_nconsts, cond_nconsts + body_nconsts
    carry = carried(body_jaxpr, mapped, dims[a:b], dims[b:])
    [apart] = predict(cond_jaxpr, mapped, dims[:a] + carry)
    if apart == 0:
        carry = (0,) * len(carry)
    test = batched(cond_jaxpr, mapped, dims[:a] + carry, [apart])
    step = batched(body_jaxpr, mapped, dims[a:b] + carry, carry)

    def goes_on(values):
        return jnp.any(test(*args[:a], *values)[0])

    def body(values):
        news = step(*args[a:b], *values)
        if apart is None:
            return news
        [going] = test(*args[:a], *values)
        return [choose(going, old, new) for old, new in zip(values, news, strict=True)]

    start = give_batch(args[b:], dims[b:], carry, mapped)
    return lax.while_loop(goes_on, body, start), carry


@rule("scan")
def scan(mapped, op, args, dims, jaxpr, length, reverse, unroll, **params):
    """A scan of batched steps: its own axis goes in front, for the loop to cut."""

    def scanned(outside, inside):  # what is scanned has one axis less inside
        pairs = zip(outside, inside, strict=True)
        return sum(out.aval.ndim > one.aval.ndim for out, one in pairs)

    count = len(jaxpr.outvars) - scanned(op.eqn.outvars, jaxpr.outvars)
    b = len(args) - scanned(op.eqn.invars, jaxpr.invars)
    a = b - count
    carry = carried(jaxpr, mapped, dims[:a], dims[a:b], dims[b:])
    dims_in = dims[:a] + carry + dims[b:]
    dims_out = carry + predict(jaxpr, mapped, dims_in)[count:]
    step = batched(jaxpr, mapped, dims_in, dims_out)

    def body(values, items):
        outs = step(*args[:a], *values, *items)
        return outs[:count], outs[count:]

    start = give_batch(args[a:b], dims[a:b], carry, mapped)
    items = swap_front(args[b:], dims[b:])
    end, outs = lax.scan(body, start, items, length, reverse, unroll)
    return [*end, *swap_front(outs, dims_out[count:])], dims_out


def swap_front(args, dims):
    """Let the batch and the axis of a scan change places: (n, k, ...), (k, n, ...)."""
    pairs = zip(args, dims, strict=True)
    return [x if dim is None else x.swapaxes(0, 1) for x, dim in pairs]


def vmap_like(fun, in_axes, mapped):
    """Return `fun` mapped over a batch that is already there."""
    return vmap(fun, in_axes, 0, mapped.name, mapped.size, rules=mapped.rules)


@rule("custom_jvp_call")
def custom_jvp_call(mapped, op, args, dims, call_jaxpr, **params):
    """The derivative of all examples is the derivative of one, mapped."""
    run = jax.custom_jvp(
        batched(call_jaxpr, mapped, dims, [0] * len(call_jaxpr.outvars))
    )

    @run.defjvp
    def derivative(primals, tangents):
        def one(primals, tangents):
            return jax.jvp(op, primals, tangents)

        every = vmap_like(one, (dims, dims), mapped)
        return every(tuple(primals), tuple(tangents))

    return run(*args), 0


@rule("custom_vjp_call")
def custom_vjp_call(mapped, op, args, dims, call_jaxpr, **params):
    """As above, backward; what examples share is given the sum of their gradients."""
    run = jax.custom_vjp(
        batched(call_jaxpr, mapped, dims, [0] * len(call_jaxpr.outvars))
    )

    def forward(*args):
        return run(*args), args

    def backward(args, cotangents):
        def one(args, cotangents):
            return jax.vjp(op, *args)[1](cotangents)

        gradients = vmap_like(one, (dims, 0), mapped)(args, cotangents)
        pairs = zip(gradients, dims, strict=True)
        return tuple(g if dim == 0 else g.sum(axis=0) for g, dim in pairs)

    run.defvjp(forward, backward)
    return run(*args), 0


# ---- is it right? ----------------------------------------------------------------


def residual(row, weights):
    """Return a row minus the mean of all, scaled: a loop, a branch, and a named axis.

    row: (k,), weights: (k, k), the answer: (k,).
    """
    centered = row - lax.pmean(row, "rows")
    step = lax.cond(row[0] > 4, lambda v: v @ weights, lambda v: v + 1, centered)
    return lax.while_loop(lambda v: v.sum() < 100, lambda v: v + 9, step)


def main():
    """Compare with `jax.vmap`: alone, in each other, under `jit` and under `grad`.

    >>> main()
    residual of (4, 3): (4, 3), as by jax.vmap: True
    vmap of vmap, as by jax.vmap: True
    jax.vmap of vmap, as by jax.vmap: True
    vmap of jax.vmap, as by jax.vmap: True
    jit of vmap, as by jax.vmap: True
    grad of vmap, as by jax.vmap: True
    """
    rows, weights = jnp.arange(12.0).reshape(4, 3), jnp.arange(9.0).reshape(3, 3) % 4

    def table(mapper):
        return mapper(residual, in_axes=(0, None), axis_name="rows")(rows, weights)

    def products(outer, inner):
        dot = inner(jnp.dot, in_axes=(None, 1))
        return outer(dot, in_axes=(0, None))(rows, weights)

    def slope(mapper):
        return jax.grad(lambda x: mapper(jax.nn.relu)(x).sum())(rows - 5)

    expected = products(jax.vmap, jax.vmap)
    claims = {
        f"residual of {rows.shape}: {table(vmap).shape}": (
            table(vmap),
            table(jax.vmap),
        ),
        "vmap of vmap": (products(vmap, vmap), expected),
        "jax.vmap of vmap": (products(jax.vmap, vmap), expected),
        "vmap of jax.vmap": (products(vmap, jax.vmap), expected),
        "jit of vmap": (jax.jit(lambda: table(vmap))(), table(jax.vmap)),
        "grad of vmap": (slope(vmap), slope(jax.vmap)),
    }
    for claim, (found, wanted) in claims.items():
        same = bool((found == wanted).all())
        assert same, claim
        print(f"{claim}, as by jax.vmap: {same}")


if __name__ == "__main__":
    main()
