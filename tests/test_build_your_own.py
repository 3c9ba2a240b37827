"""The promise of the book's own vmap: what it returns is what `jax.vmap` returns."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import P, lax
from jax.ad_checkpoint import checkpoint_name
from jax.extend.random import threefry2x32_p

from examples.vmap.batching_rules import RULES, all_batched
from examples.vmap.build_your_own import evaluate, vmap
from tests.devices import cpus

# Primitives that the oldest JAX of this book does not have.
NEWER = {"log2", "one_minus_square"}
EXAMPLES = 3


def numbers(*shape, start=0):
    """Small whole numbers in float32, in NumPy's array: no device is touched."""
    whole = (np.arange(np.prod(shape)) * 7 + start) % 11
    return whole.reshape(shape).astype(np.float32)


def keys():
    """As many keys as there are examples."""
    return jax.random.split(jax.random.key(0), EXAMPLES)


def raw_keys():
    """The same in the old form, an array of numbers."""
    return jax.random.split(jax.random.PRNGKey(0), EXAMPLES)


def assert_same(found, expected):
    """Assert that two pytrees are equal: structure, shapes, dtypes and numbers.

    Whole numbers are equal to the last bit; others may be rounded in another order.
    """
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    pairs = zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    for one, other in pairs:
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        if np.array_equal(other, np.asarray(other).round()):
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-5)


def windowed(f, start):
    """The largest or smallest number of each window."""
    return lambda x: lax.reduce_window(x, start, f, (2, 1), (1, 2), "SAME")


def backward(f, args, cotangents):
    """The outputs of `f` and the gradients of its arguments, as `jax.jvp` gives."""
    out, pull = jax.vjp(f, *args)
    return out, pull(jnp.ones_like(out) * cotangents[0].sum())


# ---- each rule, with every choice of what is mapped ------------------------------

# Each case is a function and its arguments.  Keys live on a device, so what makes them
# stands in their place until a test runs.
vector, matrix = numbers(EXAMPLES, 4), numbers(EXAMPLES, 4, 2, start=3)
number = numbers(EXAMPLES, start=1)
index, flags = np.array([2, 0, 9], np.int32), np.array([True, False, True])
whole = (matrix * 5).astype(np.int32)
small = vector / 16
square = numbers(EXAMPLES, 4, 4, start=2)


def named(name):
    """The operation of `jax.lax` that is called `name`."""
    return lambda *args: getattr(lax, name)(*args)


def unary(names, x):
    return [named(name) for name in names.split()], (x,)


def binary(names, *args):
    return [named(name) for name in names.split()], args


def both(functions, args):
    return (lambda *each: [fn(*each) for fn in functions]), args


@jax.custom_jvp
def thrice(x, y):
    """The product, with a derivative that is not its own."""
    return x * y


@thrice.defjvp
def _(primals, tangents):
    return thrice(*primals), 3 * tangents[0] * primals[1] + tangents[1] * primals[0]


@jax.custom_vjp
def fivefold(x, y):
    """The product, with a gradient that is not its own."""
    return x * y


fivefold.defvjp(
    lambda x, y: (x * y, (x, y)), lambda kept, t: (5 * kept[1] * t, kept[0] * t)
)


def steps(x, most):
    """Add one to x, and count, until it is `most`."""
    return lax.while_loop(lambda c: c[0] < most, lambda c: (c[0] + 1, c[1] + 2), (x, 0))


def summed(x, times):
    """Add rows of x, times a number, and keep what there was before and the length."""
    return lax.scan(lambda c, r: (c + times * r.sum(), (c, r.sum(), 7)), 0.0, x)


def from_zero(x, count):
    """Loop as often as `count` says; the carry starts without a batch."""
    return lax.fori_loop(
        0, count, lambda i, c: (c[0] + x.sum(), c[0], i), (0.0, 1.0, 0)
    )


CASES = {
    "one number": both(
        *unary(
            "abs acosh asinh atan cbrt ceil conj cos cosh digamma erf erfc exp exp2 "
            "expm1 floor is_finite lgamma log log1p logistic neg round rsqrt sign sin "
            "sinh sqrt square stop_gradient tan tanh",
            vector + 1,
        )
    ),
    "less than one": both(*unary("acos asin atanh erf_inv", small)),
    "bits": both(*unary("clz population_count bitwise_not", whole)),
    "two numbers": both(
        *binary(
            "add atan2 complex div eq ge gt le lt max min mul", vector, matrix[..., 0]
        )
    ),
    "two more": both(
        *binary("ne nextafter pow rem sub", vector, matrix[..., 0] + 1),
    ),
    "two bits": both(
        *binary(
            "bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic "
            "shift_right_logical",
            whole,
            whole[::-1] % 5,
        )
    ),
    "a number and a row": (lambda a, b: (a * b, b - a, 2 * b), (number, vector)),
    "real, imag": (lambda x: (lax.real(x), lax.imag(x), jnp.conj(x)), (vector * 1j,)),
    "types": (
        lambda x: (
            x.astype(jnp.int8),
            lax.bitcast_convert_type(x, jnp.uint8),
            lax.reduce_precision(x, 5, 2),
            checkpoint_name(x, "kept"),
            jnp.copy(x) ** 3,
        ),
        (vector,),
    ),
    "log2": (jnp.log2, (vector + 1,)),
    "slope of tanh": (jax.grad(lambda x: (jnp.tanh(x) + x * x).sum()), (vector,)),
    "select": (lambda p, a, b: jnp.where(p, a, b), (flags, vector, vector[::-1])),
    "select, scalars": (lambda p, a: lax.select_n(p, a, 2 * a), (flags, vector)),
    "select of three": (
        lambda p, a: lax.select_n(p.astype(jnp.int32) % 3, a, 2 * a, -a),
        (vector, vector),
    ),
    "clamp": (lax.clamp, (number, vector, number + 4)),
    "reductions": (
        lambda x: [f(x, a) for f in (jnp.sum, jnp.max, jnp.min) for a in (0, 1, None)],
        (matrix,),
    ),
    "product": (
        lambda x: (jnp.prod(x % 3, 0), (x > 3).all(1), (x > 3).any(0)),
        (matrix,),
    ),
    "reduce_xor": (lambda x: lax.reduce_xor(x, (0,)), (whole,)),
    "arg": (lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.argmax(x)), (matrix,)),
    "cumulative": (
        lambda x: [
            f(x, axis=1, reverse=True)
            for f in (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin, lax.cumlogsumexp)
        ],
        (matrix % 3,),
    ),
    "sort": (lambda x, y: lax.sort((x, y), dimension=0, num_keys=1), (vector, vector)),
    "top_k": (lambda x: lax.top_k(x, 2), (vector,)),
    "approx_top_k": (
        lambda x: lax.approx_max_k(x, 2, reduction_dimension=0),
        (matrix,),
    ),
    "tile": (lambda x: lax.tile(x, (3, 2)), (matrix,)),
    "total order": (
        lambda x, y: [p.bind(x, y) for p in (lax.eq_to_p, lax.le_to_p, lax.lt_to_p)],
        (vector - 1, vector[::-1] - 1),
    ),
    "threefry": (
        lambda a, b: threefry2x32_p.bind(a, a + 1, b, b + 2),
        (vector.astype(np.uint32), vector[::-1].astype(np.uint32)),
    ),
    "a clone of a key": (
        lambda x: jax.random.bits(jax.random.clone(jax.random.key(x)), (2,)),
        (number.astype(np.uint32),),
    ),
    "products with Householder's matrices": (
        lambda a, c: lax.linalg.ormqr(a, a[0] * 0 + 0.5, c),
        (matrix, matrix),
    ),
    "split": (lambda x: jnp.split(x, 2), (matrix,)),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 1), (matrix, 2 * matrix)),
    "rev": (lambda x: (x[::-1], jnp.flip(x, 1)), (matrix,)),
    "squeeze": (lambda x: (x[:, :1].squeeze(1), x[None]), (matrix,)),
    "transpose": (jnp.transpose, (matrix,)),
    "broadcast": (lambda x: jnp.broadcast_to(x[None, :, None], (2, 4, 3)), (vector,)),
    "reshape": (lambda x: (x.ravel(), x.reshape(1, 2, 4, order="F")), (matrix,)),
    "reshape, turned": (lambda x: lax.reshape(x, (8,), dimensions=(1, 0)), (matrix,)),
    "slice": (lambda x: (x[1:3], x[::2, 1:], x[1]), (matrix,)),
    "pad": (lambda x, v: lax.pad(x, v, [(1, 0, 1), (-1, 2, 0)]), (matrix, number)),
    "dot": (jnp.dot, (vector, matrix)),
    "dot, turned": (lambda a, b: jnp.einsum("ij,k->kij", a, b), (matrix, vector)),
    "dot, batch": (
        lambda a, b: jnp.einsum("ij,ikl->ilk", a, b),
        (matrix, numbers(EXAMPLES, 4, 3, 2)),
    ),
    "dot, batch of two": (
        lambda a, b: jnp.einsum("kij,ik->ji", a, b),
        (numbers(EXAMPLES, 2, 4, 3), matrix),
    ),
    "gather": (lambda x, i: x[i], (vector, whole % 4)),
    "gather rows": (lambda x, i: x[i], (matrix, whole[:, 0] % 5)),
    "gather, filled": (lambda x, i: x.at[i].get(mode="fill"), (vector, whole)),
    "gather of both axes": (lambda x, i, j: x[i, j], (matrix, index, index % 2)),
    "gather, paired": (
        lambda x, i: jnp.take_along_axis(x, i, axis=0),
        (matrix, whole % 4),
    ),
    "scatter": (lambda x, i, y: x.at[i].set(y), (vector, index, number)),
    "scatter rows": (lambda x, i, y: x.at[i].set(y), (matrix, index, matrix[:, 0])),
    "scatter others": (
        lambda x, i, y: [
            getattr(x.at[i], name)(y)
            for name in ("add", "multiply", "min", "max", "subtract")
        ],
        (vector, whole[..., 0] % 3, vector),
    ),
    "dynamic_slice": (
        lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 1)),
        (matrix, index),
    ),
    "dynamic_slice of two": (
        lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 1)),
        (matrix, index, index % 2),
    ),
    "dynamic_slice of nothing": (lambda x: lax.dynamic_slice(x, (), ()), (number,)),
    "dynamic_update": (
        lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 0)),
        (matrix, matrix[:, :2], index),
    ),
    "random": (
        lambda k, x: (jax.random.bits(k, (2,)), jax.random.fold_in(k, 3), x + 1),
        (keys, vector),
    ),
    "fold_in": (lambda k, i: jax.random.fold_in(k, i), (keys, index)),
    "seeds": (lambda i: jax.random.split(jax.random.PRNGKey(i)), (index,)),
    "wrapped": (
        lambda k: jax.random.normal(k, (2,)),
        (raw_keys,),
    ),
    "cond": (
        lambda p, x, y: lax.cond(p > 2, lambda: (x, y + 1), lambda: (2 * x, y + x)),
        (index, vector, vector[::-1]),
    ),
    "switch": (
        lambda i, x: lax.switch(i, [lambda x: x, lambda x: 2 * x, lambda x: 0 * x], x),
        (index, vector),
    ),
    "while": (steps, (index, index[::-1])),
    "a count": (from_zero, (vector, index)),
    "scan": (summed, (matrix, number)),
    "scan backward": (
        lambda x: lax.scan(
            lambda c, r: (c * 2 + r, c), x[0], x, reverse=True, unroll=2
        ),
        (matrix,),
    ),
    "scan of nothing": (
        lambda x: lax.scan(lambda c, _: (c + x, None), 0.0, length=2),
        (number,),
    ),
    "jit": (jax.jit(lambda x, y: (x + 1, y * 2)), (vector, matrix)),
    "remat": (jax.checkpoint(lambda x, y: (jnp.sin(x), y * 2)), (vector, matrix)),
    "custom_jvp": (lambda x, y: (thrice(x, y), jax.nn.relu(x)), (vector, vector)),
    "custom_vjp": (lambda x, y: fivefold(x, y), (vector, vector)),
    "their gradients": (
        jax.grad(lambda x, y: (thrice(x, y) + fivefold(x, y)).sum(), (0, 1)),
        (vector, vector),
    ),
    "psum": (lambda x: (lax.psum(x, "rows"), lax.pmean(x, "rows")), (vector,)),
    "pmax": (lambda x: (lax.pmax(x, "rows"), lax.pmin(x, "rows")), (vector,)),
    "example numbers": (lambda x: x + lax.axis_index("rows"), (vector,)),
    "inside": (
        lambda x: (
            jax.jit(lambda: lax.axis_index("rows"))(),
            lax.scan(
                lambda c, r: (c + lax.psum(r, "rows"), lax.pmax(c, "rows")), 0.0, x
            ),
            lax.cond(x[0] > 3, lambda: lax.axis_index("rows"), lambda: 7),
        ),
        (vector,),
    ),
    "all_gather": (
        lambda x: [
            lax.all_gather(x, "rows", axis=axis, tiled=tiled)
            for axis in (0, 1)
            for tiled in (True, False)
        ],
        (matrix,),
    ),
    "all_to_all": (
        lambda x: [
            lax.all_to_all(x, "rows", split, concat, tiled=tiled)
            for split, concat in ((0, 0), (0, 1), (1, 0), (1, 1))
            for tiled in (True, False)
        ],
        (numbers(EXAMPLES, EXAMPLES, EXAMPLES, 2),),
    ),
    "reduce_scatter": (
        lambda x: [
            lax.psum_scatter(x, "rows", scatter_dimension=place, tiled=tiled)
            for place in (0, 1)
            for tiled in (True, False)
        ],
        (numbers(EXAMPLES, EXAMPLES, EXAMPLES, 2),),
    ),
    "moves inside a map": (
        lambda x: vmap(
            lambda v: (
                lax.all_to_all(v, "rows", 0, 1, tiled=True),
                lax.psum_scatter(v, "rows", tiled=True),
            ),
            in_axes=1,
        )(x),
        (numbers(EXAMPLES, EXAMPLES, 2, EXAMPLES),),
    ),
    "special functions": (
        lambda x: (
            lax.bessel_i0e(x),
            lax.bessel_i1e(x),
            lax.igamma(x + 1, 2 * x),
            lax.igamma_grad_a(x + 1, 2 * x),
            lax.igammac(x + 1, 2 * x),
            lax.polygamma(1 + 0 * x, x + 1),
            lax.zeta(x + 2, x + 1),
            lax.betainc(x + 1, x + 2, x / 16),
        ),
        (vector,),
    ),
    "mulhi": (lambda x: lax.mulhi(x, 5 * x), (whole.astype(np.uint32),)),
    "solving": (
        lambda a, b: (
            lax.linalg.cholesky(a @ a.T + 9 * jnp.eye(4)),
            lax.linalg.triangular_solve(
                jnp.tril(a) + 9 * jnp.eye(4), b, left_side=True, lower=True
            ),
            lax.linalg.lu(a)[0],
            lax.linalg.lu_pivots_to_permutation(
                jnp.array([1, 1, 3, 3]) + a[0, 0].astype(int) * 0, 4
            ),
            lax.linalg.symmetric_product(b, a),
        ),
        (square, matrix),
    ),
    "tridiagonal_solve": (
        lambda d, b: lax.linalg.tridiagonal_solve(d * 0 + 1, d + 9, d * 0 + 1, b),
        (vector, matrix),
    ),
    "factors": (
        lambda a: (
            lax.linalg.eigh(a + a.T)[1],
            lax.linalg.svd(a, compute_uv=False),
            abs(lax.linalg.qr(a)[1]),
        ),
        (square,),
    ),
    "factors that only CPUs compute": (
        lambda a: (
            lax.linalg.householder_product(*lax.linalg.hessenberg(a)),
            lax.linalg.schur(a + a.T)[0],
            lax.linalg.tridiagonal(a + a.T)[1],
        ),
        (square,),
    ),
    "eigenvalues": (
        lambda a: abs(lax.linalg.eig(a + a.T, compute_left_eigenvectors=False)[0]),
        (square,),
    ),
    "fft": (lambda x: jnp.fft.fft(x), (vector,)),
    "unstack": (
        lambda x: [jnp.stack(jnp.unstack(x, axis=axis)) for axis in (0, 1)],
        (matrix,),
    ),
    "barrier": (lambda x, y: lax.optimization_barrier((x, y)), (vector, matrix)),
    "windows": (
        lambda x: [
            lax.reduce_window(x, start, f, (2, 1), (1, 2), "SAME")
            for f, start in ((lax.max, -np.inf), (lax.min, np.inf), (lax.add, 0.0))
        ],
        (matrix,),
    ),
    "derivatives of windows": (
        lambda x: [
            derivative(windowed(f, start), (x,), (x + 1,))[1]
            for f, start in ((lax.max, -np.inf), (lax.min, np.inf))
            for derivative in (jax.jvp, backward)
        ],
        (matrix,),
    ),
    "convolution": (
        lambda x, k: (
            lax.conv_general_dilated(x, k, (1,), "SAME"),
            lax.conv_general_dilated(x, k[:, :1], (2,), "VALID", feature_group_count=2),
            lax.conv_general_dilated(
                x, k, (1,), "SAME", dimension_numbers=("NCH", "OIH", "HNC")
            ),
        ),
        (numbers(EXAMPLES, 3, 2, 5), numbers(EXAMPLES, 4, 2, 3)),
    ),
    "ppermute": (
        lambda x: lax.ppermute(x, "rows", [(0, 2), (1, 0), (2, 1)]),
        (vector,),
    ),
}


def choices(args):
    """Yield arguments and in_axes: each mapped at the front, at the back, or shared."""
    args = [x() if callable(x) else x for x in args]
    for mapped in itertools.product((True, False), repeat=len(args)):
        if not any(mapped):
            continue
        pairs = list(zip(args, mapped, strict=True))
        yield (
            [x if m else x[0] for x, m in pairs],
            tuple(0 if m else None for m in mapped),
        )
    back = [jnp.moveaxis(x, 0, -1) for x in args]
    yield back, tuple(x.ndim - 1 for x in back)


def in_one_program(ours, theirs, options, args):
    """Return what our vmap and JAX's give; one program for both compiles faster."""

    def maps(*args):
        return vmap(ours, **options)(*args), jax.vmap(theirs, **options)(*args)

    return jax.jit(maps)(*args)


@pytest.mark.parametrize("name", CASES)
def test_an_operation_returns_what_jax_vmap_returns(name):
    fun, args = CASES[name]
    with jax.default_device(cpus(1)[0] if "only CPUs" in name else None):
        for chosen, in_axes in choices(args):
            options = {"in_axes": in_axes, "out_axes": -1, "axis_name": "rows"}
            assert_same(*in_one_program(fun, fun, options, chosen))


def test_every_rule_was_needed_for_one_of_these_operations(monkeypatch):
    used = set()

    def watched(name, apply):
        def watch(*args, **params):
            used.add(name)
            return apply(*args, **params)

        return watch

    for name, apply in list(RULES.items()):
        monkeypatch.setitem(RULES, name, watched(name, apply))
    for fun, args in CASES.values():
        for chosen, in_axes in choices(args):
            jax.eval_shape(vmap(fun, in_axes=in_axes, axis_name="rows"), *chosen)
    assert len(used) > 100
    assert set(RULES) - used <= NEWER


# ---- programs that nobody wrote --------------------------------------------------


def mod(x):
    """Keep numbers small and whole, so that every order of adding them is exact."""
    return x % 7


INSTRUCTIONS = {
    "add": lambda x, y, m: x.sum() + y,
    "outer": lambda x, y, m: jnp.outer(x, y)[:3, :3],
    "matmul": lambda x, y, m: jnp.einsum(
        "a,bc->abc", x.ravel()[:2], jnp.atleast_2d(y)[:2, :2]
    ),
    "inner": lambda x, y, m: jnp.vdot(x.ravel()[:1], y.ravel()[:1]),
    "max": lambda x, y, m: jnp.maximum(x, y.max()),
    "where": lambda x, y, m: jnp.where(x > y.min(), x, y.ravel()[0]),
    "total": lambda x, y, m: x.sum(axis=-1) if x.ndim else x,
    "most": lambda x, y, m: x.max(axis=0) if x.ndim else x,
    "turn": lambda x, y, m: x.T,
    "flat": lambda x, y, m: x.ravel()[::-1],
    "sort": lambda x, y, m: jnp.sort(jnp.atleast_1d(x), axis=0),
    "cumsum": lambda x, y, m: jnp.cumsum(jnp.atleast_1d(x), axis=-1),
    "pad": lambda x, y, m: jnp.pad(x.ravel()[:3], 1, constant_values=y.ravel()[0]),
    "join": lambda x, y, m: jnp.concatenate([x.ravel()[:3], y.ravel()[:2]]),
    "read": lambda x, y, m: jnp.atleast_1d(x)[y.ravel()[0].astype(int)],
    "write": lambda x, y, m: jnp.atleast_1d(x).at[y.ravel()[0].astype(int)].add(1),
    "cut": lambda x, y, m: lax.dynamic_slice(x.ravel(), (y.sum().astype(int),), (1,)),
    "branch": lambda x, y, m: lax.cond(
        y.sum() % 2 > 0, lambda v: v + y.max(), lambda v: 2 * v, x
    ),
    "loop": lambda x, y, m: lax.while_loop(
        lambda c: c[0] < y.max(), lambda c: (c[0] + 2, mod(c[1] + c[0])), (0.0, x)
    )[1],
    "scan": lambda x, y, m: lax.scan(
        lambda c, v: (mod(c + v.sum()), c * v), y.min(), jnp.atleast_1d(x)
    )[1],
    "mean of examples": lambda x, y, m: x * EXAMPLES - lax.psum(x, "rows"),
    "most of examples": lambda x, y, m: lax.pmax(x.sum(), "rows") + y,
    "example": lambda x, y, m: x + lax.axis_index("rows"),
    "all examples": lambda x, y, m: lax.all_gather(x.sum(), "rows", axis=0),
    "map": lambda x, y, m: m(lambda v: mod(v + y.sum()).sum())(jnp.atleast_1d(x)),
    "map of map": lambda x, y, m: m(
        lambda v: lax.psum(v, ("rows", "inner")) + m(lambda w: w * v)(y.ravel()).sum(),
        axis_name="inner",
    )(x.ravel()),
}
SHAPES = ((), (2,), (3, 2))


@st.composite
def programs(draw):
    """A program, as a list of instructions; its arguments; in_axes and out_axes."""
    args, in_axes = [], []
    for shape in draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3)):
        axis = draw(st.sampled_from([None, *range(-1, len(shape) + 1)]))
        full = shape if axis is None else list(shape)
        if axis is not None:
            full.insert(axis % (len(shape) + 1), EXAMPLES)
        args.append(numbers(*full, start=draw(st.integers(0, 10))))
        in_axes.append(axis)
    step = st.tuples(
        st.sampled_from(sorted(INSTRUCTIONS)), st.integers(0, 99), st.integers(0, 99)
    )
    program = draw(st.lists(step, min_size=1, max_size=5))
    return program, args, tuple(in_axes), draw(st.sampled_from([0, -1]))


def run(program, mapper):
    """Return the function that a program describes; inner maps are by `mapper`."""

    def body(*args):
        values = list(args)
        for name, first, second in program:
            x, y = values[-1 - first % len(values)], values[second % len(values)]
            values.append(mod(INSTRUCTIONS[name](x, y, mapper)))
        return {"last": values[-1], "first": values[len(args)]}

    return body


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(programs())
def test_any_program_returns_what_jax_vmap_returns(drawn):
    program, args, in_axes, out_axes = drawn
    options = {"in_axes": in_axes, "out_axes": out_axes, "axis_name": "rows"}
    options["axis_size"] = EXAMPLES
    ours, theirs = run(program, vmap), run(program, jax.vmap)
    assert_same(*in_one_program(ours, theirs, options, args))


# ---- in, around and beside other transformations ---------------------------------


def centered(x, y):
    """A row minus the mean of all rows, times what all rows share."""
    return jax.nn.relu(x - lax.pmean(x, "rows")) * y


@pytest.mark.parametrize("outer", [jax.vmap, vmap])
@pytest.mark.parametrize("inner", [jax.vmap, vmap])
def test_maps_go_into_each_other(outer, inner):
    x, y = numbers(2, EXAMPLES, 4), numbers(4)
    rows = inner(centered, in_axes=(0, None), out_axes=1, axis_name="rows")
    found = outer(lambda x: rows(x, y) + lax.psum(x, "inner").sum(), axis_name="inner")(
        x
    )
    rows = jax.vmap(centered, in_axes=(0, None), out_axes=1, axis_name="rows")
    expected = jax.vmap(
        lambda x: rows(x, y) + lax.psum(x, "inner").sum(), axis_name="inner"
    )(x)
    assert_same(found, expected)


@pytest.mark.parametrize("about", [jax.grad, jax.jacfwd, jax.jacrev, jax.hessian])
def test_derivatives_go_around_and_inside(about):
    def around(mapper):
        rows = mapper(centered, in_axes=(0, None), axis_name="rows")
        return jax.jit(about(lambda x, y: (rows(x, y) ** 2).sum(), argnums=1))(
            vector, y
        )

    def inside(mapper):
        return mapper(about(lambda x: (centered(x, y) ** 2).sum()), axis_name="rows")(
            vector
        )

    y = numbers(4)
    assert_same(around(vmap), around(jax.vmap))
    assert_same(inside(vmap), inside(jax.vmap))


@pytest.mark.parametrize("fun", [thrice, fivefold])
@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0)])
def test_a_function_keeps_the_derivative_that_was_given_to_it(fun, in_axes):
    args = [vector if axis == 0 else vector[0] for axis in in_axes]
    slopes = [
        jax.grad(lambda *a, m=m: m(fun, in_axes)(*a).sum(), (0, 1))(*args)
        for m in (vmap, jax.vmap)
    ]
    assert_same(*slopes)


def test_a_branch_not_taken_has_no_gradient():
    def root(x):
        return lax.cond(x > 0, jnp.sqrt, lambda x: 0.0, x)

    slopes = [
        jax.grad(lambda x, m=m: m(root)(x).sum())(jnp.array([0.0, 4.0, -1.0]))
        for m in (vmap, jax.vmap)
    ]
    assert_same(*slopes)
    assert np.isfinite(slopes[0]).all()


def test_one_program_comes_out():
    weights = numbers(4, 2)
    for shared in (0, 1):
        in_axes = (0, None)[:: 1 - 2 * shared]
        args = (
            (vector, weights)
            if shared == 0
            else (weights.T[0], numbers(EXAMPLES, 4, 2))
        )
        jaxprs = [
            str(
                jax.make_jaxpr(m(lambda x, w: jnp.sin(x @ w) + 1, in_axes=in_axes))(
                    *args
                )
            )
            for m in (vmap, jax.vmap)
        ]
        assert jaxprs[0] == jaxprs[1]


def test_what_examples_share_is_computed_once():
    def fun(x, w):
        return x @ (w @ w)

    jaxpr = jax.make_jaxpr(vmap(fun, in_axes=(0, None)))(vector, numbers(4, 4))
    assert [eqn.outvars[0].aval.shape for eqn in jaxpr.eqns] == [(4, 4), (EXAMPLES, 4)]


def test_it_maps_inside_of_shard_map():
    mesh = jax.make_mesh((8,), ("rows",), devices=cpus(8))
    x = jax.device_put(numbers(16, 3), jax.sharding.NamedSharding(mesh, P("rows")))

    def on_device(mapper):
        fun = mapper(lambda row: jnp.sin(row).sum() + row)
        return jax.jit(
            jax.shard_map(fun, mesh=mesh, in_specs=P("rows"), out_specs=P("rows"))
        )(x)

    assert_same(on_device(vmap), on_device(jax.vmap))


# ---- arguments -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_axes", "out_axes"),
    [
        (0, 0),
        ([0, None], 0),
        ((0, None), {"a": 0, "b": (1, 0)}),
        ((0, {"w": None, "b": None}), {"a": -1, "b": 0}),
        ((None, {"w": 0, "b": None}), {"a": 0, "b": (0, None)}),
        ((None, {"w": -1, "b": None}), 0),
    ],
)
def test_axes_are_prefixes_of_trees(in_axes, out_axes):
    def fun(x, tree):
        total = x + tree["b"] if x.ndim > 1 else x[:3]
        return {"a": tree["w"].sum() + total, "b": (tree["w"], tree["b"] * 2)}

    x, tree = (
        numbers(EXAMPLES, EXAMPLES),
        {"w": numbers(EXAMPLES, EXAMPLES), "b": numbers(EXAMPLES, 1)},
    )
    options = {"in_axes": in_axes, "out_axes": out_axes}
    assert_same(vmap(fun, **options)(x, tree), jax.vmap(fun, **options)(x, tree))


def test_keywords_scalars_none_and_constants():
    def fun(x, nothing, scale, *, shift):
        assert nothing is None
        return (x * scale + shift, None, np.arange(2), 3, scale)

    args = vector, None, 2
    options = {"in_axes": (0, None, None)}
    found = vmap(fun, **options)(*args, shift=number)
    assert_same(found, jax.vmap(fun, **options)(*args, shift=number))
    assert_same(vmap(lambda: 7, axis_size=2)(), jax.vmap(lambda: 7, axis_size=2)())
    assert_same(vmap(jnp.sin)(np.arange(3)), jax.vmap(jnp.sin)(np.arange(3)))


def test_evaluate_runs_a_jaxpr_unchanged():
    def fun(x):
        return jax.nn.softmax(x) + jnp.arange(4), centered(x, 2.0) if False else x @ x

    assert_same(
        evaluate(jax.make_jaxpr(fun)(vector[0]), vector[0]), list(fun(vector[0]))
    )


# ---- what it says when it cannot -------------------------------------------------


def test_an_operation_without_a_rule_is_named():
    with pytest.raises(NotImplementedError, match=r"'fft'.*@rule\('fft'\)"):
        vmap(jnp.fft.fft, rules={n: RULES[n] for n in RULES if n != "fft"})(vector)


def test_a_rule_can_be_brought_along():
    def fft(mapped, op, args, dims, **params):
        return op(*all_batched(args, dims, mapped)), 0

    def fun(x):  # the rule is needed inside of a function with its own derivative
        return jax.nn.relu(jnp.fft.fft(x).real)

    found = vmap(jax.jit(fun), rules=RULES | {"fft": fft})(vector)
    assert_same(found, jax.vmap(fun)(vector))
    assert RULES["fft"] is not fft


def test_arguments_of_different_sizes_are_named():
    wide = numbers(2, 4)
    sizes = (
        r"axis 0 of args\[0\] of type \S*\[3,4\] has size 3, "
        r"axis 1 of args\[1\]\['w'\] of type \S*\[2,4\] has size 4"
    )
    with pytest.raises(ValueError, match=sizes):
        vmap(lambda x, y: x, in_axes=(0, 1))(vector, {"w": wide})
    with pytest.raises(ValueError, match=r"kwargs\['y'\] of type \S* has size 2"):
        vmap(lambda x, y: x)(vector, y=wide)
    with pytest.raises(ValueError, match="axis_size has size 5"):
        vmap(lambda x: x, axis_size=5)(vector)


def test_an_output_that_differs_wants_an_axis():
    with pytest.raises(ValueError, match=r"output\['b'\] depends on the example"):
        vmap(lambda x: {"a": x, "b": x}, out_axes={"a": 0, "b": None})(vector)


def test_axes_that_do_not_fit_are_named():
    with pytest.raises(
        ValueError,
        match=r"along axis 2, which implies that its rank should be at "
        r"least 3, but is only 2 \(its shape is \(3, 4\)\): it is args\[0\]",
    ):
        vmap(lambda x: x, in_axes=2)(vector)
    with pytest.raises(ValueError, match=r"along axis -3, which .* at least 3"):
        vmap(lambda x: x, in_axes=-3)(vector)
    with pytest.raises(ValueError, match=r"in_axes=\(0, 0\) does not fit"):
        vmap(lambda x: x, in_axes=(0, 0))(vector)
    with pytest.raises(ValueError, match=r"out_axes=\(0, 0\) does not fit"):
        vmap(lambda x: x, out_axes=(0, 0))(vector)
    with pytest.raises(ValueError, match="nothing is mapped"):
        vmap(lambda x: x, in_axes=None)(vector)
    with pytest.raises(TypeError, match=r"in_axes has to hold ints or None, and 1\.5"):
        vmap(lambda x: x, in_axes=1.5)(vector)
    with pytest.raises(TypeError, match="out_axes has to hold ints or None, and 'a'"):
        vmap(lambda x: x, out_axes="a")(vector)


def test_an_output_that_is_no_array_is_named():
    with pytest.raises(TypeError, match="Output from batched function 'a' with type"):
        vmap(lambda x: "a")(vector)


@pytest.mark.parametrize("names", [("outer", "inner"), ("inner", "outer")])
@pytest.mark.parametrize(("split", "concat"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("tiled", [False, True])
def test_all_to_all_over_two_maps_is_as_that_of_jax(names, split, concat, tiled):
    def moved(x):
        return lax.all_to_all(x, names, split, concat, tiled=tiled)

    x, results = numbers(2, 3, 6, 6), []
    for mapped in vmap, jax.vmap:
        inner = mapped(moved, axis_name="inner")
        results.append(mapped(inner, axis_name="outer")(x))
    assert_same(*results)


def test_a_permutation_of_what_all_examples_share_is_run():
    """The gradient of a ppermute sends ones around, which are the same everywhere."""
    ring = [(0, 1), (1, 2), (2, 0)]
    grad = jax.grad(lambda x: lax.ppermute(x, "rows", ring))
    assert_same(
        vmap(grad, axis_name="rows")(numbers(3)),
        jax.vmap(grad, axis_name="rows")(numbers(3)),
    )
