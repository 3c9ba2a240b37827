"""Say for each operation what it becomes when its arguments hold a batch.

Why it is hard: every operation counts axes in its own way, and an argument that is the
same for all items of the batch must not be copied for each of them.
What finishes it: a convention. The batch is always axis 0, so most rules add one to the
axes that an operation names; an argument without a batch says so, by None.

The interpreter that applies these rules is in `build_your_own.py`.
Run it: `python -m examples.vmap.batching_rules`
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

RULES = {}


class MappedAxis(NamedTuple):
    """The mapped axis: its name, or None; its size; and the rules for it."""

    name: str | None
    size: int
    rules: dict


def rule(*names):
    """Register the decorated function as the batching rule of the primitives `names`.

    A rule is called as `rule(mapped, op, args, dims, **params)`:
    mapped: the mapped axis; op: what `op(*args)` runs as it was recorded
    and `op(*args, name=value)` with a parameter replaced; args: its arrays; dims: for
    each of them 0, where axis 0 holds the batch, or None, where all examples share it.
    It returns the output, or the list of them, and a dim, or one for each output.
    """

    def register(function):
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def shift(axes, by=1):
    """Return an axis, or a tuple of them, moved `by` places, behind the batch."""
    if isinstance(axes, list | tuple):
        return tuple(each + by for each in axes)
    return axes + by


def with_batch(x, dim, mapped):
    """Return x with the batch in front: (...) becomes (n, ...), copied where needed."""
    return x if dim == 0 else lax.broadcast(x, (mapped.size,))


def all_batched(args, dims, mapped):
    """Return the list of `args`, every one with the batch in front."""
    return [with_batch(x, dim, mapped) for x, dim in zip(args, dims, strict=True)]


# ---- one number at a time --------------------------------------------------------

ELEMENTWISE = """
    abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e
    bitcast_convert_type cbrt ceil clz complex conj convert_element_type copy cos
    cosh digamma div eq eq_to erf erf_inv erfc exp exp2 expm1 floor ge gt igamma
    igamma_grad_a igammac imag integer_pow is_finite le le_to lgamma log log1p log2
    logistic lt lt_to max min mul mulhi name ne neg nextafter not one_minus_square
    or polygamma population_count pow real reduce_precision
    regularized_incomplete_beta rem round rsqrt shift_left shift_right_arithmetic
    shift_right_logical sign sin sinh sqrt square stop_gradient sub tan tanh xor
    zeta
    random_bits random_clone random_fold_in random_seed random_split random_unwrap
    random_wrap threefry2x32
""".split()  # the last two lines: what is done to a key is done to an array of keys


@rule(*ELEMENTWISE)
def elementwise(mapped, op, args, dims, **params):
    """The same operation, on more numbers: (n, ...) and (n, ...) give (n, ...)."""
    ranks = [jnp.ndim(x) - (dim == 0) for x, dim in zip(args, dims, strict=True)]
    aligned = []
    for x, dim, rank in zip(args, dims, ranks, strict=True):
        if dim == 0 and rank < max(ranks):  # a number for each example, beside an array
            x = lax.expand_dims(x, range(1, 1 + max(ranks) - rank))
        elif dim is None and rank > 0:  # an array that all examples share
            x = lax.expand_dims(x, (0,))
        aligned.append(x)
    return op(*aligned), 0


@rule("select_n", "clamp")
def same_shape(mapped, op, args, dims, **params):
    """As `elementwise`, for operations that want all their shapes to be equal."""
    args = all_batched(args, dims, mapped)
    shape = max((x.shape for x in args), key=len)
    return op(*(lax.broadcast_in_dim(x, shape, range(x.ndim)) for x in args)), 0


# ---- axes are counted from one ---------------------------------------------------

NAMES_AXES = {
    "axes": "argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod "
    "reduce_sum reduce_xor",
    "axis": "cumlogsumexp cummax cummin cumprod cumsum split stack top_k unstack",
    "dimension": "concatenate sort",
    "dimensions": "rev squeeze",
    "reduction_dimension": "approx_top_k",
}


@rule(*" ".join(NAMES_AXES.values()).split())
def along_axes(mapped, op, args, dims, **params):
    """Run the operation along the same axes, whose numbers the batch raises by one."""
    [key] = NAMES_AXES.keys() & params.keys()
    return op(*all_batched(args, dims, mapped), **{key: shift(params[key])}), 0


@rule("transpose")
def transpose(mapped, op, args, dims, permutation):
    """The batch stays in front."""
    return op(*args, permutation=(0, *shift(permutation))), 0


@rule("broadcast_in_dim")
def broadcast_in_dim(mapped, op, args, dims, shape, broadcast_dimensions, **params):
    """The batch goes to the front of the new shape."""
    to = (0, *shift(broadcast_dimensions))
    return op(*args, shape=(mapped.size, *shape), broadcast_dimensions=to), 0


@rule("reshape")
def reshape(mapped, op, args, dims, new_sizes, dimensions, **params):
    """Each example is reshaped; no number leaves its example."""
    order = dimensions and (0, *shift(dimensions))
    return op(*args, new_sizes=(mapped.size, *new_sizes), dimensions=order), 0


@rule("tile")
def tile(mapped, op, args, dims, reps):
    """Each example is repeated; the batch is not."""
    return op(*args, reps=(1, *reps)), 0


@rule("slice")
def slice_(mapped, op, args, dims, start_indices, limit_indices, strides):
    """The same slice of each example."""
    ends = {"limit_indices": (mapped.size, *limit_indices)}
    steps = strides and (1, *strides)
    return op(*args, start_indices=(0, *start_indices), strides=steps, **ends), 0


@rule("pad")
def pad(mapped, op, args, dims, padding_config):
    """Nothing is added between examples; one filling for each is put in afterwards."""
    (x, filling), around = args, ((0, 0, 0), *padding_config)
    x = with_batch(x, dims[0], mapped)
    if dims[1] is None:
        return op(x, filling, padding_config=around), 0
    padded = op(x, jnp.zeros((), x.dtype), padding_config=around)
    inside = op(jnp.ones(x.shape, bool), jnp.array(False), padding_config=around)
    filling = lax.broadcast_in_dim(filling, padded.shape, (0,))
    return lax.select(inside, padded, filling), 0


@rule("dot_general")
def dot_general(mapped, op, args, dims, dimension_numbers, **params):
    """Two batches give one more batch axis; one batch is one more free axis."""
    (x_sums, y_sums), (x_batch, y_batch) = dimension_numbers
    of_x, of_y = (dim == 0 for dim in dims)
    both = (0,) if of_x and of_y else ()
    sums = shift(x_sums, of_x), shift(y_sums, of_y)
    batch = both + shift(x_batch, of_x), both + shift(y_batch, of_y)
    out = op(*args, dimension_numbers=(sums, batch))
    if both:
        return out, 0
    free = len(x_batch) if of_x else args[0].ndim - len(x_sums)
    return jnp.moveaxis(out, free, 0), 0


@rule(*"cholesky eig eigh fft lu qr svd schur hessenberg".split())
@rule("householder_product", "triangular_solve", "lu_pivots_to_permutation")
@rule("symmetric_product", "tridiagonal", "tridiagonal_solve")
@rule("ormqr")
def last_axes(mapped, op, args, dims, **params):
    """Axes in front of the last are a batch to these operations already."""
    return op(*all_batched(args, dims, mapped)), 0


@rule("optimization_barrier")
def optimization_barrier(mapped, op, args, dims):
    """Nothing is computed: each output is as its input."""
    return op(*args), dims


@rule(
    "reduce_window_max",
    "reduce_window_min",
    "reduce_window_sum",
    "select_and_gather_add",
    "select_and_scatter_add",
)
def reduce_window(mapped, op, args, dims, **params):
    """A window of one example, and nothing added or chosen between examples.

    The last two are the derivatives of the maximum and the minimum in a window.
    """
    ones = "window_dimensions window_strides base_dilation window_dilation".split()
    changed = {name: (1, *params[name]) for name in ones if name in params}
    args = all_batched(args, dims, mapped)
    return op(*args, padding=((0, 0), *params["padding"]), **changed), 0


@rule("conv_general_dilated")
def convolution(
    mapped, op, args, dims, dimension_numbers, feature_group_count, **params
):
    """A batch of images is more images; of both, more groups of features."""
    x_spec, y_spec, out_spec = dimension_numbers
    (x, y), (x_dim, y_dim) = args, dims
    if y_dim is None:  # (examples, images, ...) to (examples * images, ...)
        out = op(merge(x, x_spec[0]), y)
        return divide(out, out_spec[0], mapped.size), 0
    if params["batch_group_count"] > 1:
        raise NotImplementedError("kernels that differ, and batch_group_count")
    # Each example's features are groups of their own, example by example.
    x = with_batch(x, x_dim, mapped)
    groups = mapped.size * feature_group_count
    out = op(merge(x, x_spec[1]), merge(y, y_spec[0]), feature_group_count=groups)
    return divide(out, out_spec[1], mapped.size), 0


def merge(x, axis):
    """Return x with its batch merged into an axis: (n, a, b), 1 to (a, n * b)."""
    x = jnp.moveaxis(x, 0, axis)
    return x.reshape(*x.shape[:axis], -1, *x.shape[axis + 2 :])


def divide(x, axis, size):
    """Return x with the batch that `merge` put into an axis in front again."""
    x = x.reshape(*x.shape[:axis], size, -1, *x.shape[axis + 1 :])
    return jnp.moveaxis(x, axis, 0)


# ---- axes that are looked up -----------------------------------------------------


def lookup(numbers, of_data, of_indices):
    """Return dimension numbers for a batch of the data, of the indices, or of both.

    Fields that count axes of the data move back if the data has a batch, and likewise
    for the indices. If both have them, examples are one more batch axis.
    """
    both = (0,) if of_data and of_indices else ()
    moved = {}
    for field, axes in numbers._asdict().items():
        if field in ("offset_dims", "update_window_dims"):  # they count output axes
            moved[field] = (() if of_indices else (0,)) + shift(axes)
        elif field in ("start_indices_batching_dims", "scatter_indices_batching_dims"):
            moved[field] = both + shift(axes, of_indices)
        elif field == "operand_batching_dims":
            moved[field] = both + shift(axes, of_data)
        else:
            moved[field] = shift(axes, of_data)
    return type(numbers)(**moved)


@rule("gather")
def gather(mapped, op, args, dims, dimension_numbers, slice_sizes, **params):
    """Read from each example, at its own places; or either of them is shared."""
    of_data, of_indices = (dim == 0 for dim in dims)
    if of_data:
        slice_sizes = (1 if of_indices else mapped.size, *slice_sizes)
    numbers = lookup(dimension_numbers, of_data, of_indices)
    return op(*args, dimension_numbers=numbers, slice_sizes=slice_sizes), 0


@rule(*"scatter scatter-add scatter-max scatter-min scatter-mul scatter-sub".split())
def scatter(mapped, op, args, dims, dimension_numbers, **params):
    """Write into each example: data and updates get a batch, shared places none."""
    (data, places, updates), of_places = args, dims[1] == 0
    data, updates = all_batched((data, updates), dims[::2], mapped)
    numbers = lookup(dimension_numbers, True, of_places)
    return op(data, places, updates, dimension_numbers=numbers), 0


def starting_points(starts, dims, mapped):
    """Return starts of all examples, a row for each: k of () or (n,) give (n, k)."""
    return jnp.stack(all_batched(starts, dims, mapped), axis=1)


@rule("dynamic_slice")
def dynamic_slice(mapped, op, args, dims, slice_sizes):
    """Examples that start at one place are sliced at once; else it is a gather."""
    (data, *starts), (of_data, *dims) = args, dims
    if not any(dim == 0 for dim in dims):
        zero = jnp.zeros_like(starts[0]) if starts else 0
        return op(data, zero, *starts, slice_sizes=(mapped.size, *slice_sizes)), 0
    each = tuple(range(len(starts)))
    numbers = lax.GatherDimensionNumbers(each, (), each)
    numbers = lookup(numbers, of_data == 0, True)
    sizes = (1, *slice_sizes) if of_data == 0 else slice_sizes
    where = starting_points(starts, dims, mapped)
    return lax.gather(data, where, numbers, sizes, mode="clip"), 0


@rule("dynamic_update_slice")
def dynamic_update_slice(mapped, op, args, dims):
    """As `dynamic_slice`: one update of all examples, or a scatter."""
    (data, update, *starts), (*of_both, of_starts) = args, (*dims[:2], dims[2:])
    data, update = all_batched((data, update), of_both, mapped)
    if not any(dim == 0 for dim in of_starts):
        zero = jnp.zeros_like(starts[0]) if starts else 0
        return op(data, update, zero, *starts), 0
    each = tuple(range(len(starts)))
    numbers = lookup(lax.ScatterDimensionNumbers(each, (), each), True, True)
    where = starting_points(starts, of_starts, mapped)
    return lax.scatter(data, where, update, numbers, mode="clip"), 0


# ---- examples that hear from each other ---------------------------------------------

COMBINED = {"psum": lax.reduce_sum, "pmax": lax.reduce_max, "pmin": lax.reduce_min}


def names_of(axis_name):
    """Return a tuple of axis names, of which a primitive may hold only one, bare."""
    return axis_name if isinstance(axis_name, tuple) else (axis_name,)


@rule(*COMBINED)
def combine(mapped, op, args, dims, axes, **params):
    """Reduce axis 0 if `axes` names this batch: all examples share the result.

    A number among `axes` is an axis that another `vmap` has mapped before.
    """
    [x], [dim] = args, dims
    if mapped.name in axes:
        x, dim = COMBINED[op.name](with_batch(x, dim, mapped), axes=(0,)), None
    rest = [name for name in axes if name != mapped.name]
    others = tuple(shift(a, dim == 0) if isinstance(a, int) else a for a in rest)
    return (op(x, axes=others) if others else x), dim


@rule("all_gather")
def all_gather(
    mapped, op, args, dims, all_gather_dimension, axis_name, tiled, **params
):
    """Over this axis: the batch is the answer, which all examples share."""
    place = all_gather_dimension
    if mapped.name not in names_of(axis_name):
        return op(*args, all_gather_dimension=place + 1), 0
    [x] = all_batched(args, dims, mapped)
    out = jnp.moveaxis(x, 0, place)
    if tiled:
        out = out.reshape(*x.shape[1 : place + 1], -1, *x.shape[place + 2 :])
    return out, None


@rule("all_to_all")
def all_to_all(mapped, op, args, dims, axis_name, split_axis, concat_axis, **params):
    """Over this axis: each example gets its part of every example, in their order.

    Over several axes, of which this is one, the parts are numbered by all of them, the
    first name outermost; over each axis, receivers and senders change places.
    """
    [x] = all_batched(args, dims, mapped)
    names, split, concat = names_of(axis_name), split_axis + 1, concat_axis + 1
    if mapped.name not in names:
        return op(x, split_axis=split, concat_axis=concat), 0
    refuse_groups(op, params)
    place = names.index(mapped.name)
    outer, inner = names[:place], names[place + 1 :]
    count = [lax.axis_size(outer) if outer else 1, mapped.size]
    shape = x.shape
    x = x.reshape(*shape[:split], *count, -1, *shape[split + 1 :])  # outer, own, inner
    if outer:
        x = op(x, axis_name=outer, split_axis=split, concat_axis=split)
    x = x.swapaxes(0, split + 1)
    if inner:
        x = x.reshape(
            *x.shape[: split + 2], lax.axis_size(inner), -1, *shape[split + 1 :]
        )
        x = op(x, axis_name=inner, split_axis=split + 2, concat_axis=split + 2)
    else:
        x = jnp.expand_dims(x, split + 2)
    x = jnp.moveaxis(x, (split, split + 1, split + 2), (concat, concat + 1, concat + 2))
    return x.reshape(*x.shape[:concat], -1, *x.shape[concat + 4 :]), 0


def refuse_groups(op, params):
    """Raise NotImplementedError for groups of examples."""
    if params["axis_index_groups"] is not None:
        raise NotImplementedError(f"{op.name} over groups of examples")


@rule("reduce_scatter")
def reduce_scatter(
    mapped, op, args, dims, axis_name, scatter_dimension, tiled, **params
):
    """Over this axis: each example gets its own part of the sum of all examples."""
    [x] = all_batched(args, dims, mapped)
    place = scatter_dimension
    if mapped.name not in names_of(axis_name):
        return op(x, scatter_dimension=place + 1), 0
    refuse_groups(op, params)
    if len(names_of(axis_name)) > 1:
        raise NotImplementedError(f"{op.name} over two axes, one mapped here")
    total = x.sum(axis=0)
    if tiled:
        return divide(total, place, mapped.size), 0
    return jnp.moveaxis(total, place, 0), 0


@rule("ppermute")
def ppermute(mapped, op, args, dims, axis_name, perm, **params):
    """Over this axis: examples change places; who is sent nothing gets zeros."""
    [x] = all_batched(args, dims, mapped)
    if mapped.name not in names_of(axis_name):
        return op(x), 0
    sources, targets = jnp.array(perm).T
    return jnp.zeros_like(x).at[targets].set(x[sources]), 0


@rule("axis_index")
def axis_index(mapped, op, args, dims, **params):
    """The number of each example, int32 (n,)."""
    return lax.iota(jnp.int32, mapped.size), 0


# ---- what is left out ------------------------------------------------------------

LEFT_OUT = {
    "effects on the host or on mutable arrays": """
        addupdate check debug_callback debug_print freeze get inspect_sharding
        io_callback new_ref pure_callback swap
    """,
    "placement and sharding: no value changes, and a spec needs one more entry": """
        device_put layout_constraint reshard sharding_constraint
        with_memory_space_constraint
    """,
    "a function with a rule of its own": """
        call_hi_primitive call_hi_primitive_linearized custom_lin
        custom_linear_solve custom_vmap_call eval_jaxpr ffi_call remat_opt
    """,
    "collectives whose values depend on a mesh": """
        all_gather_invariant all_gather_reduced pbroadcast pbroadcast_dynamic precv
        preduced psend psum_invariant pvary ragged_all_to_all reduced_vary_cast
        reduced_vary_cast_p unreduced_pmax unreduced_pmin unreduced_psum
        unreduced_reduce_scatter vary_unreduced_cast vary_unreduced_cast_p
    """,
    "kernels for accelerators, with layouts of their own": """
        dot_product_attention_bwd_wrapper dot_product_attention_fp8_bwd_wrapper
        dot_product_attention_fp8_fwd_wrapper dot_product_attention_fwd_wrapper
        scaled_dot scaled_matmul scaled_matmul_wrapper
    """,
    "a generator with a state: JAX loops over the batch": """
        random_gamma rng_bit_generator
    """,
    "parts of other operations, which no public function calls alone": """
        geqp3 geqrf philox2x32 philox4x32 threefry4x32
    """,
    "a function inside, whose own arguments would be mapped too": """
        reduce reduce_window
    """,
    "tokens and types inside JAX": """
        dce_sink empty from_edtype stage tie to_edtype
    """,
    "group sizes or coefficients that differ between examples": """
        polynomial ragged_dot_general
    """,
}


def coverage(registered):
    """Return for primitives that JAX has rules for: those with one here, and the rest.

    registered: their names. The rest is a dict: for a kind, which are left out.
    Names with neither a rule nor a kind are under "not yet looked at".
    """
    reasons = {why: names.split() for why, names in LEFT_OUT.items()}
    known = {name for names in reasons.values() for name in names}
    reasons["not yet looked at"] = sorted(registered - RULES.keys() - known)
    left_out = {
        why: [n for n in names if n in registered and n not in RULES]
        for why, names in reasons.items()
    }
    return registered & RULES.keys(), {why: n for why, n in left_out.items() if n}


def main():
    """Apply one rule by hand: rows have a batch, weights are shared by all of them.

    >>> main()
    rows (4, 3), shared weights (3, 5): (4, 5), with examples on axis 0
    one product of two matrices: True
    """
    rows, weights = jnp.arange(12.0).reshape(4, 3), jnp.arange(15.0).reshape(3, 5)
    [eqn] = jax.make_jaxpr(jnp.dot)(rows[0], weights).eqns

    def op(*args, **changed):
        return eqn.primitive.bind(*args, **eqn.params | changed)

    mapped, dims = MappedAxis(None, len(rows), RULES), (0, None)
    out, dim = dot_general(mapped, op, (rows, weights), dims, **eqn.params)
    same = bool((out == rows @ weights).all())
    assert same
    shapes = f"rows {rows.shape}, shared weights {weights.shape}: {out.shape}"
    print(f"{shapes}, with examples on axis {dim}")
    print(f"one product of two matrices: {same}")


if __name__ == "__main__":
    main()
