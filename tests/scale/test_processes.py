"""Processes of JAX form one mesh, and when one fails, all end, in time and in words."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from examples.scale.slow_links import mesh_of

SCALE = Path(__file__).parents[2] / "examples" / "scale"
PATIENCE = "60"  # seconds; the limits in `failing.py` are ten at most
TIMED_OUT = 124


def launched(count, *command, options=()):
    """Run a program in `count` processes: the exit status, and what was written."""
    launch = [sys.executable, SCALE / "launch.py", "--limit", PATIENCE, *options]
    found = subprocess.run(
        [*launch, str(count), SCALE / command[0], *command[1:]],
        capture_output=True,
        text=True,
    )
    return found.returncode, found.stdout + found.stderr


@pytest.mark.parametrize("count", [1, 2, 4])
def test_processes_form_one_mesh_of_eight(count):
    status, said = launched(count, "hello.py")
    assert status == 0, said
    for number in range(count):
        assert f"[{number}] process {number} of {count}\n" in said
    owners = [n for n in range(count) for _ in range(8 // count)]
    assert f"the mesh has devices of the processes {owners}\n" in said


def test_the_first_program_runs_on_any_number_of_devices():
    for each in 1, 8:
        status, said = launched(2, "hello.py", options=["--devices", str(each)])
        total = sum(range(2 * each))
        assert status == 0 and said.count(f"all devices: {total:.1f}") == 2, said


@pytest.mark.parametrize("count", [1, 2, 8])
def test_a_process_may_drive_all_devices_of_a_host_or_one(count):
    status, said = launched(count, "slow_links.py")
    owners = [n for n in range(count) for _ in range(8 // count)]
    assert status == 0 and f"[0] {owners[:4]}\n[0] {owners[4:]}\n" in said, said


@dataclass(frozen=True)
class Gpu:
    """What is read of one of eight GPUs; links within a slice are fast."""

    id: int
    process_index: int
    slice_index: int
    platform = "gpu"
    device_kind = "H100"


@pytest.mark.parametrize("of_process", [1, 2, 4])
@pytest.mark.parametrize("order", [range(8), (0, 4, 1, 5, 2, 6, 3, 7)])
def test_a_mesh_axis_crosses_the_slow_links_and_the_other_does_not(of_process, order):
    gpus = [Gpu(n, n // of_process, n // 4) for n in order]
    mesh = mesh_of(gpus)
    assert dict(mesh.shape) == {"data": 2, "model": 4}
    slices = [[gpu.slice_index for gpu in line] for line in mesh.devices]
    assert slices == [[0] * 4, [1] * 4]
    joined = [Gpu(n, n // of_process, 0) for n in order]  # by NVLink between hosts
    assert dict(mesh_of(joined).shape) == {"data": 2, "model": 4}


WIDE = """
import jax
import numpy as np
from jax.experimental.multihost_utils import broadcast_one_to_all, process_allgather

jax.distributed.initialize()
print(broadcast_one_to_all(np.int64(3_000_000_000)))
print(process_allgather(np.int64(3_000_000_000)))
"""


def test_numbers_of_64_bits_arrive_with_32_as_the_page_says(tmp_path):
    program = tmp_path / "wide.py"
    program.write_text(WIDE)
    status, said = launched(2, program)
    assert status == 0, said
    assert said.count("-1294967296") == 2 + 4


EACH_ITS_OWN = """
import jax
import jax.numpy as jnp
import numpy as np
from jax import NamedSharding, P

jax.config.update("jax_debug_nans", True)
jax.distributed.initialize()
mesh = jax.make_mesh((8,), ("data",))
rows = NamedSharding(mesh, P("data"))


def placed(values):
    return jax.make_array_from_callback((8,), rows, lambda index: values[index])


@jax.jit
@jax.shard_map(mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
def first(values):
    return values.sum()


print("value", float(first(placed(np.arange(8.0)))))
jax.jit(jnp.log)(placed(np.array([-1.0] + 7 * [1.0])))
print("no NaN here")
"""


def test_a_process_has_its_own_first_value_and_sees_only_its_own_nan(tmp_path):
    """What the pages of two errors say of several processes."""
    program = tmp_path / "own.py"
    program.write_text(EACH_ITS_OWN)
    status, said = launched(2, program, options=["--no-abort"])
    assert status == 1
    assert "[0] value 0.0\n" in said and "[1] value 4.0\n" in said
    assert "[1] no NaN here\n" in said and "[0] no NaN here" not in said
    again = re.findall(r"\[(\d)\].*Calling the de-optimized version", said)
    assert set(again) == {"0"}


INTERLEAVED = """
import jax
import numpy as np
from jax import NamedSharding, P
from jax.experimental import multihost_utils
from jax.sharding import Mesh

jax.distributed.initialize()
devices = jax.devices()
own = 2 * jax.process_index() + np.arange(2.0)
for name, order in ("together", [0, 1, 2, 3]), ("in turn", [0, 2, 1, 3]):
    mesh = Mesh([devices[n] for n in order], ("data",))
    rows = NamedSharding(mesh, P("data"))
    batch = jax.make_array_from_process_local_data(rows, own, (4,))
    print(name, multihost_utils.process_allgather(batch, tiled=True))
    for way in "global_array_to_host_local_array", "host_local_array_to_global_array":
        given = batch if way.startswith("global") else own
        try:
            getattr(multihost_utils, way)(given, mesh, P("data"))
            print(name, "runs")
        except ValueError as error:
            print(name, "raises", "contiguous subcube" in str(error))
"""


def test_a_mesh_that_goes_from_host_to_host_has_its_own_order_of_rows(tmp_path):
    program = tmp_path / "interleaved.py"
    program.write_text(INTERLEAVED)
    status, said = launched(2, program, options=["--devices", "2"])
    assert status == 0, said
    for line in "together [0. 1. 2. 3.]", "in turn [0. 2. 1. 3.]":
        assert said.count(line) == 2
    assert said.count("together runs") == said.count("in turn raises True") == 4


TRACED_PMAP = """
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import multihost_utils

jax.distributed.initialize()
own = 2 * jax.process_index() + jnp.arange(2.0)  # 0, 1 here, and 2, 3 there
add = jax.pmap(lambda x: lax.psum(x, "data"), axis_name="data")
print("pmap", add(own)[0], "jit", jax.jit(add)(own)[0])
square = jax.pmap(lambda w, x: (w * x) ** 2, in_axes=(None, 0))
print("slope", jax.grad(lambda w: square(w, own).mean())(jnp.float32(1)))
print("first", float(jax.pmap(lambda x: x, out_axes=None)(own)))
copies = jax.pmap(lambda x: 0 * x + jax.process_index())(own)
everywhere = multihost_utils.process_allgather(copies)
print("apart", np.ptp(np.asarray(copies)), "in all", np.ptp(everywhere))
given = jax.device_put(own, jax.local_devices()[0])
jax.pmap(lambda x: x + 1, donate_argnums=0)(given)
print("deleted", given.is_deleted())
"""


def test_a_pmap_that_is_traced_stays_in_its_process_as_its_pages_say(tmp_path):
    program = tmp_path / "traced.py"
    program.write_text(TRACED_PMAP)
    status, said = launched(2, program, options=["--devices", "2"])
    assert status == 0, said
    for line in ("pmap 6.0 jit 1.0", "slope 1.0", "first 0.0", "deleted True"):
        assert f"[0] {line}\n" in said
    for line in ("pmap 6.0 jit 5.0", "slope 13.0", "first 2.0", "deleted True"):
        assert f"[1] {line}\n" in said
    assert said.count("apart 0.0 in all 1.0") == 2


def test_what_python_prints_is_not_broken_by_what_gloo_says():
    status, said = launched(2, "spanning.py")
    assert status == 0 and "Gloo" not in said
    assert sorted(re.findall(r"\[\d\] mean, .*", said)) == [
        f"[{n}] mean, the same everywhere: 3.5" for n in range(2)
    ]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("killed", "The following tasks are unhealthy (stopped sending heartbeats)"),
        ("frozen", "Task 1 heartbeat timeout."),
        ("coordinator", "Failed to send RPC to coordination service."),
        ("raises", "Shutdown barrier has failed"),
        ("fewer", "Shutdown barrier has failed"),
        ("never", "DEADLINE_EXCEEDED"),
        ("count", "DEADLINE_EXCEEDED"),
        ("same", "DEADLINE_EXCEEDED"),
        ("compared", "AssertionError: the processes have different steps"),
    ],
)
def test_jax_ends_all_and_says_why(how, message):
    status, said = launched(2, "failing.py", how, options=["--no-abort"])
    assert status not in (0, TIMED_OUT), said
    assert message in said


@pytest.mark.parametrize(("how", "status"), [("raises", 1), ("killed", 137)])
def test_the_launcher_does_not_wait_for_jax(how, status):
    found, said = launched(2, "failing.py", how)
    assert found == status
    assert "step 1 " in said and "step 2 " not in said  # nobody finished it
    assert "process 1" in said.splitlines()[-1]
    assert "Terminating process" not in said


def test_a_process_that_waits_says_in_which_line():
    status, said = launched(2, "failing.py", "hangs")
    assert status == 1 and "process 1 failed" in said
    lines = re.findall(r'\[(\d)\]   File "\S+failing.py", line (\d+) in hangs', said)
    assert {number for number, _ in lines} == {"0", "1"}
    assert len({line for _, line in lines}) == 2


def test_a_preempted_job_saves_one_step_and_goes_on_in_another_number(tmp_path):
    """Two processes save, each its own shards, and one restores all of them."""
    run = ["checkpoint.py", tmp_path / "run"]
    status, said = launched(2, "preempted.py", SCALE / run[0], run[1], "--join")
    stops = re.findall(r"process (\d) stops after step (\d+)", said)
    assert status == 0 and {number for number, _ in stops} == {"0", "1"}, said
    [step] = {step for _, step in stops}
    status, said = launched(1, *run)
    assert status == 0 and f"goes on from step {step}\n" in said
    assert "step 20: loss" in said


def test_a_port_in_use_is_said():
    found = subprocess.run(
        [sys.executable, SCALE / "failing.py", "taken"], capture_output=True, text=True
    )
    assert found.returncode != 0 and "Failed to add port to server" in found.stderr
