"""Say what changed in JAX's maps, and when, and look in this JAX whether it is so.

Why it is hard: a name that is gone says nothing of when it went and what to write
instead, and a list of changes is out of date with the next release.
What finishes it: a function for each change, which asserts that what is gone is gone,
and runs what has taken its place.

Run it: `python -m examples.evidence.timeline`
"""

import importlib
import inspect
import warnings
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax
from jax.sharding import AxisType, NamedSharding

from examples.evidence.then_and_now import (
    Verdict,
    changed,
    claim,
    count_devices,
    dot,
    first_line,
    normals,
    outline,
    raised,
    run,
    table,
    verdicts,
)

# The year of each release that an entry names.
YEARS = {
    **dict.fromkeys(("0.1.59", "0.1.62", "0.1.66", "0.2.7"), 2020),
    **dict.fromkeys(("0.3.8", "0.3.16", "0.3.18", "0.4.1"), 2022),
    **dict.fromkeys(("0.4.4", "0.4.8", "0.4.11", "0.4.14"), 2023),
    **dict.fromkeys(("0.4.25", "0.4.27", "0.4.29", "0.4.31", "0.4.34"), 2024),
    **dict.fromkeys(("0.5.0", "0.6.0", "0.6.1", "0.7.0", "0.7.1", "0.8.0"), 2025),
    **dict.fromkeys(("0.9.0", "0.9.1", "0.10.0", "0.10.1", "0.11.1"), 2026),
}


def gone(version, at_latest=False):
    """Return the verdict on a name that a `version` of JAX no longer has."""
    return dated("gone", version, at_latest)


def other(version, at_latest=False):
    """Return the verdict on what is done otherwise since a `version` of JAX."""
    return dated("changed", version, at_latest)


def here(version, at_latest=False):
    """Return the verdict on what came with a `version` of JAX, and is still here."""
    return dated("here", version, at_latest)


def dated(kind, version, at_latest):
    """Return a verdict with a release and its year; at_latest: "by", not "in"."""
    words = changed(version, at_latest).detail
    return Verdict(kind, f"{words}, {YEARS[version]}")


def lookup(path):
    """Return what the dotted `path` names, a module or something in one.

    Raises AttributeError or ImportError, as the access would.
    """
    found, parts = importlib.import_module("jax"), path.split(".")
    for end in range(2, len(parts) + 1):
        if not hasattr(found, parts[end - 1]) and inspect.ismodule(found):
            importlib.import_module(".".join(parts[:end]))
        found = getattr(found, parts[end - 1])
    return found


def missing(*paths):
    """Return whether none of the dotted `paths` leads to anything in this JAX."""
    for path in paths:
        try:
            with warnings.catch_warnings(action="ignore"):  # of what is deprecated
                lookup(path)
        except (AttributeError, ImportError):
            continue
        return False
    return True


def deprecated(path):
    """Return whether the module of the dotted `path` lists it as deprecated.

    JAX warns of such a name once in a process, so that a warning cannot be asked for.
    """
    module, _, name = path.rpartition(".")
    return name in getattr(lookup(module), "_deprecations", {})


def warned(call, *args):
    """Return what `call(*args)` says in its first warning; "" if it says nothing."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        call(*args)
    return str(caught[0].message) if caught else ""


def mesh_of():
    """Return a mesh of eight devices along "rows"."""
    return jax.make_mesh((8,), ("rows",))


@cache
def split():
    """Return the table, a row on each device."""
    return jax.device_put(table(), NamedSharding(mesh_of(), P("rows")))


# ---- 2020 to 2022: a map for each purpose ------------------------------------------


@claim(here("0.1.59", at_latest=True), then="jax.pmap")
def pmap():
    """`pmap` maps the first axis over devices, a row on each."""
    answer = jax.pmap(jnp.sum)(table())
    assert np.array_equal(answer, table().sum(axis=1)) and count_devices(answer) == 8
    return (
        "in maintenance; new code shards the rows and says `jit(vmap)` or `shard_map`"
    )


@claim(here("0.1.62"), then="lax.all_gather")
def all_gather():
    """`lax.all_gather` collects the shards of all devices."""
    gather = jax.pmap(lambda x: lax.all_gather(x, "rows"), "rows")
    assert gather(jnp.arange(8.0)).shape == (8, 8)
    return "every device of eight has all eight"


@claim(here("0.1.66"), then="jax.pmap(in_axes=None)")
def in_axes_none():
    """`pmap` takes an argument that all devices share."""
    scaled = jax.pmap(jnp.multiply, in_axes=(0, None))
    assert np.array_equal(scaled(table(), 2.0), 2 * table())
    return "`in_axes=(0, None)`"


@claim(here("0.2.7"), then="jax.pmap(out_axes=1)")
def out_axes():
    """`pmap` maps other axes than the first, in arguments and results."""
    mapped = jax.pmap(jnp.negative, in_axes=1, out_axes=1)
    assert np.array_equal(mapped(table().T), -table().T)
    return "`in_axes=1, out_axes=1`"


@claim(gone("0.3.8"), then="jax.experimental.maps.mesh")
def maps_mesh():
    """The context manager `mesh` is a class now, `Mesh`."""
    assert missing("jax.experimental.maps.mesh", "jax.experimental.maps")
    assert jax.sharding.Mesh(np.array(jax.devices()), ("rows",)).size == 8
    return "`jax.sharding.Mesh`, or `jax.make_mesh`"


@claim(gone("0.3.16"), then="jax.experimental.sharded_jit")
def sharded_jit():
    """`sharded_jit`, the first to run one program on many devices, is gone."""
    assert missing("jax.experimental.sharded_jit")
    compiled = jax.jit(jnp.sum).lower(split()).compile().as_text()
    assert "num_partitions=8" in compiled
    return "`jax.jit` of sharded arrays"


@claim(gone("0.3.18"), then="jax.soft_pmap")
def soft_pmap():
    """A `pmap` for more rows than devices is deleted."""
    assert missing("jax.soft_pmap")
    rows = NamedSharding(mesh_of(), P("rows"))
    answer = jax.jit(jax.vmap(jnp.sin))(jax.device_put(jnp.arange(32.0), rows))
    assert answer.sharding.shard_shape(answer.shape) == (4,)
    return "`jit(vmap(f))` of rows that are sharded over the devices"


@claim(here("0.3.18"), then="jax.Array")
def array_type():
    """`jax.Array` is the name for annotations and `isinstance`."""
    seen = [isinstance(split(), jax.Array)]
    jax.eval_shape(lambda x: seen.append(isinstance(x, jax.Array)) or x, table())
    assert seen == [True, True]
    return "`isinstance(x, jax.Array)`, traced or not"


# ---- 2022 to 2024: one type of array, and one `jit` --------------------------------


@claim(other("0.4.1"), then="DeviceArray, ShardedDeviceArray, GlobalDeviceArray")
def one_array():
    """One type of array takes the place of three, however many devices hold it."""
    assert type(split()) is type(jnp.ones(3))
    assert missing("jax.experimental.global_device_array")
    return f"one type; `x.sharding` says where: {type(split().sharding).__name__}"


@claim(other("0.4.1"), then="jax.experimental.maps.Mesh")
def mesh_moves():
    """`Mesh` and `PartitionSpec` move out of `jax.experimental`."""
    assert missing("jax.experimental.maps.Mesh", "jax.experimental.PartitionSpec")
    assert missing("jax.experimental.pjit.PartitionSpec")
    assert jax.sharding.PartitionSpec is P
    return "`jax.sharding.Mesh`, `jax.sharding.PartitionSpec`; `jax.P` for short"


@claim(other("0.4.1"), then="jax.experimental.pjit.with_sharding_constraint")
def constraint_moves():
    """`with_sharding_constraint` moves to `jax.lax`."""
    assert missing("jax.experimental.pjit.with_sharding_constraint")
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rows",))
    rows = NamedSharding(mesh, P("rows"))
    pinned = jax.jit(lambda x: lax.with_sharding_constraint(x, rows))
    assert pinned(table()).sharding.is_equivalent_to(rows, 2)
    return "`jax.lax.with_sharding_constraint`"


@claim(other("0.4.4"), then="jax.experimental.pjit.pjit")
def pjit():
    """`jit` and `pjit` become one."""
    old = "jax.experimental.pjit.pjit"
    rows = NamedSharding(mesh_of(), P("rows"))
    assert count_devices(jax.jit(jnp.sin, out_shardings=rows)(table())) == 8
    assert missing(old) or deprecated(old)
    return "`jax.jit`, with `in_shardings` and `out_shardings` where you want them"


@claim(gone("0.4.8"), then="jax.pmap(global_arg_shapes=…)")
def global_arg_shapes():
    """An option of `pmap` goes that only `sharded_jit` had used."""
    assert "global_arg_shapes" not in inspect.signature(jax.pmap).parameters
    return "nothing takes its place: a `jax.Array` knows its shape on all devices"


@claim(gone("0.4.11"), then="jax.interpreters.xla.xla_call_p")
def xla_call():
    """The jaxpr of a `jit` has no `xla_call` any more."""
    assert missing("jax.interpreters.xla.xla_call_p")
    found = outline(jax.make_jaxpr(jax.jit(jnp.sin))(1.0))
    assert found == "jit(sin)"
    return f"`{found}`; its equation is called `jit` since 0.7.0"


@claim(gone("0.4.14"), then="pjit(in_axis_resources=…)")
def axis_resources():
    """`in_axis_resources` and `out_axis_resources` get other names."""
    rows = NamedSharding(mesh_of(), P("rows"))
    error = raised(lambda: jax.jit(jnp.sin, in_axis_resources=rows))
    assert isinstance(error, TypeError)
    assert count_devices(jax.jit(jnp.sin, in_shardings=rows)(split())) == 8
    return "`in_shardings`, `out_shardings`"


@claim(gone("0.4.14"), then="jax.interpreters.pxla.ShardedDeviceArray")
def sharded_device_array():
    """The names of the older array types are deleted."""
    assert missing("jax.interpreters.pxla.ShardedDeviceArray", "jax.numpy.DeviceArray")
    return "`jax.Array`"


@claim(here("0.4.25"), then="jax.tree")
def tree():
    """`jax.tree` has the functions for trees under short names."""
    assert jax.tree.map(lambda x: 2 * x, {"a": 1}) == {"a": 2}
    return "`jax.tree.map`, `jax.tree.leaves`"


@claim(gone("0.4.27"), then="x.device_buffers, x.device()")
def device_buffers():
    """An array no longer lists its buffers."""
    x = split()
    assert isinstance(raised(getattr, x, "device_buffers"), AttributeError)
    assert isinstance(raised(lambda: jnp.ones(3).device()), TypeError)
    shards = [shard.data for shard in x.addressable_shards]
    assert len(shards) == len(x.devices()) == 8
    return "`[s.data for s in x.addressable_shards]`, `x.devices()`"


@claim(gone("0.4.29"), then="from jax.config import config")
def config_module():
    """`jax.config` is an object, and no longer a module as well."""
    error = raised(importlib.import_module, "jax.config")
    assert isinstance(error, ModuleNotFoundError) and callable(jax.config.update)
    return "`jax.config.update`"


@claim(gone("0.4.31"), then="jax.experimental.maps.xmap")
def xmap():
    """`xmap`, a map over named axes, is deleted."""
    assert missing("jax.experimental.maps.xmap", "jax.experimental.maps")
    mapped = jax.shard_map(
        lambda x: x / lax.psum(x.sum(), "rows"),
        mesh=mesh_of(),
        in_specs=P("rows"),
        out_specs=P("rows"),
    )
    assert np.allclose(jax.jit(mapped)(split()).sum(), 1)
    return "`jax.shard_map`, or `vmap(axis_name=…)` where one device will do"


@claim(other("0.4.34"), then="shards of shape (3,)")
def shards_keep_rank():
    """The shards of what `pmap` returns keep the mapped axis."""
    answer = jax.pmap(jnp.negative)(table())
    shapes = {shard.data.shape for shard in answer.addressable_shards}
    assert shapes == {(1, 3)}
    return f"shards of shape {shapes.pop()}"


@claim(gone("0.4.34"), then="jax.xla_computation")
def xla_computation():
    """The function that showed a compiled program is deleted."""
    assert missing("jax.xla_computation")
    assert "HloModule" in jax.jit(jnp.sin).lower(1.0).compile().as_text()
    return "`jax.jit(f).lower(x)`, then `.as_text()` or `.compile()`"


# ---- 2025 and 2026: everything on shard_map ----------------------------------------


@claim(other("0.5.0"), then="jax_threefry_partitionable=False")
def random_bits():
    """Random numbers are drawn so that devices can draw their own: other numbers."""
    now, before = normals(), normals(partitionable=False)
    assert not np.isclose(now, before).any()
    return "`with jax.threefry_partitionable(False):` draws the old ones"


@claim(gone("0.6.0"), then="jax.tree_map")
def tree_map():
    """The functions for trees leave the top of `jax`."""
    assert missing("jax.tree_map", "jax.tree_flatten", "jax.tree_leaves")
    assert jax.tree.leaves({"a": 1}) == [1]
    return "`jax.tree.map`, `jax.tree.flatten`, `jax.tree.leaves`"


@claim(here("0.6.1"), then="lax.axis_size")
def axis_size():
    """The length of a mapped axis has a function of its own."""
    both = jax.vmap(
        lambda x: (x * lax.axis_size("rows"), x * lax.psum(1, "rows")), axis_name="rows"
    )
    assert [sizes.tolist() for sizes in both(jnp.ones(8))] == [[8] * 8] * 2
    return '`lax.axis_size("rows")`; `lax.psum(1, "rows")` still says it'


@claim(other("0.6.1"), then="jax.experimental.shard_map.shard_map")
def shard_map_moves():
    """`shard_map` is out of `jax.experimental`."""
    old = "jax.experimental.shard_map.shard_map"
    assert missing(old) or deprecated(old)
    specs = {"in_specs": P("rows"), "out_specs": P("rows")}
    mapped = jax.shard_map(jnp.negative, mesh=mesh_of(), **specs)
    assert np.array_equal(mapped(split()), -table())
    return "`jax.shard_map`, all options by name"


@claim(other("0.6.1"), then="shard_map(check_rep=False)")
def check_vma():
    """`check_rep` becomes `check_vma`, a check of types that say what varies."""
    known = inspect.signature(jax.shard_map).parameters
    assert "check_rep" not in known and "check_vma" in known
    specs = {"in_specs": P("rows"), "out_specs": P()}
    error = raised(jax.shard_map(jnp.negative, mesh=mesh_of(), **specs), split())
    assert isinstance(error, ValueError)
    return "`check_vma`, on unless you say False"


@claim(here("0.7.0"), then="jax.P")
def short_spec():
    """`PartitionSpec` gets a short name."""
    assert jax.P("rows") == jax.sharding.PartitionSpec("rows")
    return "`jax.P`"


@claim(here("0.7.0"), then="jax.smap")
def smap():
    """A `shard_map` over one mesh axis, with `in_axes` and `out_axes`."""

    @jax.smap(in_axes=0, out_axes=0, axis_name="rows")
    def share(x):
        return x / lax.psum(x, "rows")

    with jax.set_mesh(mesh_of()):
        answer = share(jax.device_put(1 + table(), P("rows")))
    assert np.allclose(answer.sum(axis=0), 1)
    return '`jax.smap(f, in_axes=0, out_axes=0, axis_name="rows")`'


@claim(gone("0.7.0"), then="jax.sharding.PositionalSharding")
def positional_sharding():
    """Shardings without names of axes are gone."""
    assert missing("jax.sharding.PositionalSharding")
    assert split().sharding.spec == P("rows")
    return "`NamedSharding`"


@claim(other("0.7.1"), then="jax.sharding.use_mesh")
def set_mesh():
    """`jax.set_mesh` takes the place of `use_mesh`."""
    assert missing("jax.sharding.use_mesh")
    context = jax.set_mesh
    with context(mesh_of()):
        answer = jax.shard_map(jnp.negative, out_specs=P("rows"))(split())
    assert np.array_equal(answer, -table())
    return "`with jax.set_mesh(mesh):`; `shard_map` then needs no `mesh=`"


@claim(other("0.8.0"), then="xla_pmap")
def pmap_on_shard_map():
    """`pmap` is a `jit` of a `shard_map`."""
    mapped = jax.pmap(dot)
    found = outline(jax.make_jaxpr(mapped)(table(), table()))
    assert found.startswith("jit(shard_map(") and "xla_pmap" not in found
    return found


@claim(gone("0.8.0"), then="shard_map(auto={'inner'})")
def axis_names():
    """`auto=` named the axes left to the compiler, `axis_names=` names the others."""
    known = inspect.signature(jax.shard_map).parameters
    assert "auto" not in known and "axis_names" in known
    mesh = jax.make_mesh((4, 2), ("rows", "inner"))
    specs = {"in_specs": P("rows"), "out_specs": P("rows")}
    x = jax.device_put(table(), NamedSharding(mesh, P("rows")))
    mapped = jax.shard_map(jnp.negative, mesh=mesh, axis_names={"rows"}, **specs)
    assert np.array_equal(jax.jit(mapped)(x), -table())
    return "`axis_names={'rows'}`"


@claim(other("0.8.0"), then="jax.experimental.enable_x64")
def enable_x64():
    """The switch for 64 bits is out of `jax.experimental`."""
    with jax.enable_x64(True):
        assert jnp.ones(2).dtype == jnp.float64
    assert jnp.ones(2).dtype == jnp.float32
    return "`with jax.enable_x64(True):`"


@claim(other("0.9.0"), then="AxisType.Auto")
def explicit_axes():
    """The axes of `jax.make_mesh` are Explicit unless you say otherwise."""
    assert mesh_of().axis_types == (AxisType.Explicit,)
    assert jax.sharding.Mesh(np.array(jax.devices()), ("rows",)).axis_types == (
        AxisType.Auto,
    )
    auto = jax.make_mesh((8,), ("rows",), axis_types=(AxisType.Auto,))
    assert auto.axis_types == (AxisType.Auto,)
    return "`axis_types=(AxisType.Auto,)` for the old behaviour"


@claim(gone("0.9.0"), then="jax.lib.xla_bridge")
def xla_bridge():
    """The module `jax.lib.xla_bridge`, which knew the platform, is gone."""
    assert missing("jax.lib.xla_bridge") and isinstance(jax.default_backend(), str)
    return "`jax.default_backend()`, `jax.extend.backend.get_backend()`"


@claim(gone("0.9.0"), then="jax_pmap_no_rank_reduction")
def rank_option():
    """The option for the rank of the shards of `pmap` is gone."""
    error = raised(jax.config.update, "jax_pmap_no_rank_reduction", False)
    assert isinstance(error, AttributeError)
    seen = []
    mapped = jax.pmap(lambda x: seen.append(x.shape) or x)
    assert mapped(table()).shape == (8, 3) and seen == [(3,)]
    return f"shards have shape (1, 3), and the function still sees {seen[0]}"


@claim(other("0.9.1"), then="shard_map(f, in_specs=…)(unsharded)")
def in_specs_assert():
    """On Explicit axes, `in_specs` of `shard_map` reshard no argument any more."""
    specs = {"in_specs": P("rows"), "out_specs": P("rows")}
    mapped = jax.shard_map(jnp.negative, mesh=mesh_of(), **specs)
    error = raised(mapped, table())
    assert isinstance(error, ValueError) and "does not match" in str(error)
    assert np.array_equal(mapped(split()), -table())
    return "`jax.device_put` or `jax.reshard` the argument first, or leave `in_specs`"


@claim(gone("0.10.0"), then="jax_pmap_shmap_merge")
def merge_option():
    """The option that brought back the `pmap` of old is gone."""
    error = raised(jax.config.update, "jax_pmap_shmap_merge", False)
    assert isinstance(error, AttributeError)
    return first_line(error)


@claim(gone("0.10.0"), then="jax.device_put_replicated, jax.device_put_sharded")
def device_put_both():
    """Two functions that laid out arrays for `pmap` are gone."""
    assert missing("jax.device_put_replicated", "jax.device_put_sharded")
    mesh, shards = mesh_of(), list(table())
    copies = jax.device_put(table(), NamedSharding(mesh, P()))
    rows = jax.device_put(np.stack(shards), NamedSharding(mesh, P("rows")))
    assert copies.is_fully_replicated and rows.sharding.shard_shape((8, 3)) == (1, 3)
    return '`jax.device_put` with `P()`, and of the stacked shards with `P("rows")`'


@claim(gone("0.10.0", at_latest=True), then="jax.pmap(jax.pmap(f))")
def nested_pmap():
    """A `pmap` in a `pmap` no longer runs."""
    inner = jax.pmap(jnp.negative)
    error = raised(jax.pmap(inner), jnp.zeros((2, 4)))
    assert isinstance(error, ValueError)
    mesh = jax.make_mesh((2, 4), ("rows", "inner"))
    specs = {"in_specs": P("rows", "inner"), "out_specs": P("rows", "inner")}
    x = jax.device_put(jnp.zeros((2, 4)), NamedSharding(mesh, P("rows", "inner")))
    assert jax.shard_map(jnp.negative, mesh=mesh, **specs)(x).shape == (2, 4)
    return "`shard_map` over a mesh of two axes"


@claim(gone("0.10.0"), then="jax.sharding.PmapSharding")
def pmap_sharding():
    """`pmap` has no sharding of its own."""
    assert missing("jax.sharding.PmapSharding")
    sharding = jax.pmap(jnp.negative)(table()).sharding
    assert isinstance(sharding, NamedSharding)
    assert sharding.mesh.axis_names != mesh_of().axis_names
    return "`NamedSharding`, on a mesh of its own"


@claim(gone("0.10.0"), then="lax.pvary")
def pvary():
    """`pvary`, which says that a value differs by device, is gone."""
    assert missing("jax.lax.pvary")
    mapped = jax.shard_map(
        lambda x: x + lax.pcast(jnp.zeros(3), "rows", to="varying"),
        mesh=mesh_of(),
        in_specs=P("rows"),
        out_specs=P("rows"),
    )
    assert np.array_equal(jax.jit(mapped)(split()), table())
    return '`lax.pcast(x, "rows", to="varying")`'


@claim(gone("0.10.0"), then="jax.typeof(x).vma")
def vma_property():
    """The axes along which a value varies have another name in its type."""
    seen = []

    def look(x):
        seen.append(jax.typeof(x))
        return x

    mapped = jax.shard_map(
        look, mesh=mesh_of(), in_specs=P("rows"), out_specs=P("rows")
    )
    jax.eval_shape(mapped, split())
    assert isinstance(raised(getattr, seen[0], "vma"), AttributeError)
    assert set(seen[0].manual_axis_type.varying) == {"rows"}
    return "`jax.typeof(x).manual_axis_type.varying`"


@claim(other("0.10.1"), then="with mesh:")
def with_mesh():
    """To enter a mesh by `with` alone is deprecated."""

    def enter():
        with jax.sharding.Mesh(np.array(jax.devices()), ("rows",)):
            return None

    said = warned(enter)
    assert "jax.set_mesh" in said
    return "`with jax.set_mesh(mesh):`"


@claim(other("0.11.1"), then="jax.make_mesh(axis_shapes=…)")
def axis_sizes():
    """The first parameter of `jax.make_mesh` has another name."""
    first, *_ = inspect.signature(jax.make_mesh).parameters
    newer = tuple(map(int, jax.__version__.split(".")[:3])) >= (0, 11, 1)
    assert first == ("axis_sizes" if newer else "axis_shapes")
    assert jax.make_mesh((8,), ("rows",)).size == 8
    return f"`{first}` in this JAX; give it by position"


UNTIL_2022 = (
    pmap,
    all_gather,
    in_axes_none,
    out_axes,
    maps_mesh,
    sharded_jit,
    soft_pmap,
    array_type,
    one_array,
    mesh_moves,
    constraint_moves,
)
UNTIL_2024 = (
    pjit,
    global_arg_shapes,
    xla_call,
    axis_resources,
    sharded_device_array,
    tree,
    device_buffers,
    config_module,
    xmap,
    shards_keep_rank,
    xla_computation,
)
UNTIL_2026 = (
    random_bits,
    tree_map,
    axis_size,
    shard_map_moves,
    check_vma,
    short_spec,
    smap,
    positional_sharding,
    set_mesh,
    pmap_on_shard_map,
    axis_names,
    enable_x64,
    explicit_axes,
    xla_bridge,
    rank_option,
    in_specs_assert,
    merge_option,
    device_put_both,
    nested_pmap,
    pmap_sharding,
    pvary,
    vma_property,
    with_mesh,
    axis_sizes,
)


def main():
    """Look at every change, in the JAX that is installed.

    >>> main()
    to 2022: 11 entries hold
    to 2024: 11 entries hold
    to 2026: 24 entries hold
    entries on what is gone: 22
    """
    eras = {"2022": UNTIL_2022, "2024": UNTIL_2024, "2026": UNTIL_2026}
    for year, entries in eras.items():
        found = run(entries)
        assert len(found) == len(entries)
        print(f"to {year}: {len(found)} entries hold")
    every = UNTIL_2022 + UNTIL_2024 + UNTIL_2026
    print(f"entries on what is gone: {verdicts(every, ('gone',))['gone']}")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)
    main()
