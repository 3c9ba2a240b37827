"""Products on this CPU round their inputs, as those of TPUs and GPUs do by default.

A Python that finds this folder on its path imports it when it starts.  BOOK_MANTISSA
says how many bits of the mantissa are kept: 7 as in bfloat16 (the default of a TPU), 10
as in TF32 (that of a GPU).  Sums stay in float32.

Left exact is what is exact there: integers, float64, and a product that asks for more
(`precision=`, `jax.default_matmul_precision`).  What a lowered or compiled program says
of itself, its text, its bytes and its memory, it says as if it did not round: that is
about the compiler, and the rounding is no part of what it was given.
Nothing else of the hardware is imitated.

JAX is not imported here, for a program may set its environment first.
"""

import os
import sys
from functools import cache, partial
from importlib import import_module
from importlib.machinery import PathFinder

BITS = int(os.environ["BOOK_MANTISSA"])
FLOATS = ("float32", "complex64")
TELLING = ("as_text", "compiler_ir", "cost_analysis", "memory_analysis")


def replace():
    """Let the CPU lower products by `rounding`, and programs tell of what is exact."""
    # Imported within the first lowering, as `cut` would do, it empties jit's caches.
    import_module("jax.extend.mlir.dialects.stablehlo")
    from jax import lax, stages
    from jax.interpreters import mlir

    for product in lax.dot_general_p, lax.conv_general_dilated_p:
        on_cpu = mlir._platform_specific_lowerings["cpu"]
        exact = (on_cpu.get(product) or mlir._lowerings[product]).rule
        mlir.register_lowering(product, partial(rounding, exact), platform="cpu")

    leave = {"_private_parameters": mlir.LoweringParameters(override_lowering_rules=())}
    lower, compile = stages.Traced.lower, stages.Lowered.compile

    def lower_twice(traced, **options):
        made = lower(traced, **options)
        made.exact = cache(lambda: lower(traced, **{**options, **leave}))
        return made

    def compile_twice(lowered, *options, **named):
        made = compile(lowered, *options, **named)
        made.exact = cache(lambda: compile(exact_of(lowered), *options, **named))
        return made

    stages.Traced.lower, stages.Lowered.compile = lower_twice, compile_twice
    for stage in stages.Lowered, stages.Compiled:
        for name in {*TELLING} & {*dir(stage)}:
            setattr(stage, name, telling(getattr(stage, name)))


def telling(tell):
    """Let `tell`, a method of a program, tell of the one that does not round."""
    return lambda stage, *options, **named: tell(exact_of(stage), *options, **named)


def exact_of(stage):
    """The same lowered or compiled program without rounding; itself if it has none."""
    return getattr(stage, "exact", lambda: stage)()


def rounding(exact, context, *factors, precision, **options):
    """Lower a product of two arrays, whose mantissas are cut to `BITS` first."""
    asked = precision if isinstance(precision, tuple) else (precision,)
    rounds = context.module_context.lowering_parameters.override_lowering_rules is None
    [product] = context.avals_out
    if rounds and product.dtype.name in FLOATS and not any(map(more, asked)):
        types = [aval.dtype.name for aval in context.avals_in]
        factors = [cut(*one) for one in zip(factors, types, strict=True)]
    return exact(context, *factors, precision=precision, **options)


def more(precision):
    """Whether this hardware keeps more digits for `precision` than by default."""
    from jax.lax import Precision

    less = (None, Precision.DEFAULT, *[Precision.HIGH] * (BITS == 10))
    return precision not in less


def cut(x, kind):
    """Cut the mantissas of `x`, an array of the type `kind`, to `BITS`."""
    from jax.extend.mlir.dialects import stablehlo

    if kind == "complex64":
        parts = stablehlo.real(x), stablehlo.imag(x)
        return stablehlo.complex(*[cut(part, "float32") for part in parts])
    bits = {"exponent_bits": 8, "mantissa_bits": BITS}
    return stablehlo.reduce_precision(x, **bits) if kind == "float32" else x


class AfterJax(PathFinder):
    """Finds `jax`, and has `replace` called when it has been imported."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Find nothing but `jax`."""
        if name != "jax":
            return None
        sys.meta_path.remove(cls)
        found = PathFinder.find_spec(name, path, target)
        load = found.loader.exec_module
        found.loader.exec_module = lambda module: (load(module), replace())
        return found


sys.meta_path.insert(0, AfterJax)
