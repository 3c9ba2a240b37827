"""Launch files start the training program as their runners would.

The runners are not here. What each launch file runs is run by a stand-in, which sets
the variables that the runner sets: two processes on this machine, of two simulated
devices each.  They have to find each other, and to train as one process does.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from book.hardware.targets import Target, environment

FILES = Path(__file__).parents[2] / "examples" / "scale" / "runners"
SECONDS = 240
CPU = Target("", "", "", 0, env={"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"})
TWICE = """
for i in 0 1; do
  ({each}) > "out-$i" 2>&1 &
  started[$i]=$!
done
wait "${{started[0]}}" && wait "${{started[1]}}"
code=$?
cat out-*
exit $code
"""
SLURM = """
export SLURM_JOB_ID=4099 SLURM_STEP_NODELIST=localhost SLURM_NTASKS=2
while [[ $1 == --* ]]; do shift; done
"""
TPU = """
export JAX_FORCE_TPU_INIT=1 TPU_WORKER_HOSTNAMES=localhost,localhost
export MEGASCALE_COORDINATOR_ADDRESS= MEGASCALE_NUM_SLICES= MEGASCALE_SLICE_ID=
"""
ON_TPU = TWICE.format(each='TPU_WORKER_ID=$i bash -c "$command"')
STAND_INS = {
    "python": f'exec {sys.executable} "$@"\n',
    "python3": f'exec {sys.executable} "$@"\n',
    "scontrol": 'echo "scontrol $*" >> calls\n',
    "srun": SLURM + TWICE.format(each='SLURM_PROCID=$i SLURM_LOCALID=$i "$@"'),
    # As Google's does, it runs --command on each worker, here without installing.
    "gcloud": TPU
    + 'printf "%s\\n" "gcloud $(printf "%q " "$@")" >> calls\n'
    + "command=; for a; do [[ $a == --command=* ]] && command=${a#*=}; done\n"
    + '[[ -z $command || $command == *"pip install"* ]] && exit\n'
    + ON_TPU,
}


@pytest.fixture
def start(tmp_path):
    """Yield a function that runs a script of bash beside the launch files."""
    here, bin = tmp_path / "here", tmp_path / "bin"
    shutil.copytree(FILES, here)
    bin.mkdir()
    for name, body in STAND_INS.items():
        (bin / name).write_text(f"#!/usr/bin/env bash\n{body}")
        (bin / name).chmod(0o755)
    env = environment(CPU) | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    held = socket.socket()  # nobody else gets the port that the coordinator shares
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("localhost", 0))
    port = held.getsockname()[1]

    def run(script, **variables):
        script = script.replace("8476", str(port))
        variables = {k: v.replace("8476", str(port)) for k, v in variables.items()}
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=here,
            env=env | {"JAX_COORDINATOR_PORT": str(port)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # all that the script has started
            out, err = process.communicate()
            logs = [f"{log.name}:\n{log.read_text()}" for log in here.glob("*-[01]*")]
            pytest.fail("\n".join((f"not done in {SECONDS} s", out, err, *logs)))
        return subprocess.CompletedProcess(script, process.returncode, out, err)

    run.here, run.address = here, f"localhost:{port}"
    yield run
    held.close()


def losses(done):
    """Return the losses that process 0 printed, and only it."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("processes: 2, devices: 4") == 1, done.stdout
    return [float(loss) for loss in re.findall(r"loss (\d\.\d+)", done.stdout)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return the losses of one process on one device."""
    env = environment(CPU) | {"JAX_NUM_CPU_DEVICES": "1"}
    done = subprocess.run(
        [sys.executable, FILES / "train.py"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    assert "processes: 1, devices: 1" in done.stdout
    found = [float(loss) for loss in re.findall(r"loss (\d\.\d+)", done.stdout)]
    assert len(found) == 5
    return pytest.approx(found, abs=0.011)


def test_slurm_starts_processes_that_find_each_other(start, alone):
    done = start("bash slurm.sbatch", SLURM_CPUS_PER_TASK="1", http_proxy="nowhere")
    assert losses(done) == alone
    assert not (start.here / "calls").exists()
    assert "proxy" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("restarts", "asked"), [("", True), ("99", True), ("100", False)]
)
def test_slurm_starts_a_job_again_whose_process_has_failed(start, restarts, asked):
    (start.here / "train.py").write_text("raise SystemExit(3)\n")
    env = {"SLURM_CPUS_PER_TASK": "1", "SLURM_JOB_ID": "4099"}
    env |= {"SLURM_RESTART_COUNT": restarts} if restarts else {}
    assert start("bash slurm.sbatch", **env).returncode == 3
    calls = start.here / "calls"
    assert calls.exists() == asked
    assert not asked or calls.read_text() == "scontrol requeue 4099\n"


def test_no_runner_gives_up_after_a_few_failures():
    limits = {
        "jobset_gpu.yaml": r"maxRestarts: (\d+)",
        "jobset_tpu.yaml": r"maxRestarts: (\d+)",
        "ray_train.py": r"max_failures=(\d+)",
        "slurm.sbatch": r"SLURM_RESTART_COUNT:-0} < (\d+)",
    }
    for name, pattern in limits.items():
        [limit] = re.findall(pattern, (FILES / name).read_text(encoding="utf-8"))
        assert int(limit) == 100, name


def test_slurm_gives_each_process_a_gpu_of_its_own():
    text = (FILES / "slurm.sbatch").read_text(encoding="utf-8")
    asked = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)", text, re.MULTILINE))
    assert asked["ntasks-per-node"] == asked["gpus-per-node"]
    assert not {"gpus-per-task", "gpu-bind"} & set(asked)


def test_a_machine_of_gpus_runs_a_process_for_each(start, alone):
    address = {"JAX_COORDINATOR_ADDRESS": start.address}
    assert losses(start("bash gpu_node.sh 2", **address)) == alone


def test_a_process_that_fails_ends_the_others_of_its_machine(start):
    with (start.here / "train.py").open("a") as program:
        program.write(
            "    number = os.environ['PROCESS']\n"
            "    open(number, 'w').write(str(os.getpid()))\n"
            "    from jax.experimental import multihost_utils\n"
            "    multihost_utils.sync_global_devices('here')\n"
            "    import signal\n"
            "    signal.pause() if number == '0' else os._exit(3)\n"
        )
    address = {"JAX_COORDINATOR_ADDRESS": start.address}
    assert start("bash gpu_node.sh 2", **address).returncode == 3
    assert (start.here / "1").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((start.here / "0").read_text()), 0)


def test_all_workers_of_a_tpu_run_the_same_command(start, alone):
    assert losses(start("bash tpu_vm.sh name zone")) == alone
    calls = (start.here / "calls").read_text().splitlines()
    assert [call.split()[4] for call in calls] == ["scp", "ssh", "ssh"]
    assert all("--worker=all" in call for call in calls)


@pytest.mark.skipif(not shutil.which("gcloud"), reason="there is no gcloud")
def test_gcloud_accepts_what_it_is_told(start, tmp_path):
    (start.here / "train.py").write_text("")
    assert start("bash tpu_vm.sh name zone").returncode == 0
    for call in (start.here / "calls").read_text().splitlines():
        lint = ["gcloud", "meta", "lint-gcloud-commands", "--command-string", call]
        env = os.environ | {"CLOUDSDK_CONFIG": str(tmp_path / "gcloud")}
        done = subprocess.run(lint, env=env, capture_output=True, text=True)
        assert '"success": true' in done.stdout, done.stdout + done.stderr


def container(name):
    """Return the container of a JobSet, and how many of it run."""
    text = (FILES / name).read_text(encoding="utf-8")
    [job] = yaml.safe_load(text)["spec"]["replicatedJobs"]
    [found] = job["template"]["spec"]["template"]["spec"]["containers"]
    return found, job["template"]["spec"]["parallelism"]


def test_a_jobset_of_gpus_says_who_is_who(start, alone):
    found, count = container("jobset_gpu.yaml")
    env = {one["name"]: one.get("value") for one in found["env"]}
    assert env["PROCESSES"] == str(count) == "2"
    host, port = env["JAX_COORDINATOR_ADDRESS"].split(":")
    assert host == "train-hosts-0-0.train"
    [index] = [one["valueFrom"] for one in found["env"] if "valueFrom" in one]
    assert "job-completion-index" in index["fieldRef"]["fieldPath"]
    command = f"PROCESS=$i {' '.join(found['command'])}"
    env = {"PROCESSES": "2", "JAX_COORDINATOR_ADDRESS": f"localhost:{port}"}
    assert losses(start(TWICE.format(each=command), **env)) == alone


def test_a_jobset_of_tpus_asks_for_every_chip_of_its_slice():
    found, count = container("jobset_tpu.yaml")
    assert found["command"] == ["python", "-u", "train.py", "--join"]
    text = (FILES / "jobset_tpu.yaml").read_text(encoding="utf-8")
    [topology] = re.findall(r"gke-tpu-topology: (\d+)x(\d+)", text)
    chips = found["resources"]["limits"]["google.com/tpu"]
    assert count * chips == int(topology[0]) * int(topology[1])


def test_skypilots_nodes_find_the_first_of_them(start, alone):
    task = yaml.safe_load((FILES / "sky.yaml").read_text(encoding="utf-8"))
    (start.here / "run.sh").write_text(task["run"].replace("8476", start.address[10:]))
    env = {"SKYPILOT_NODE_IPS": "127.0.0.1\n127.0.0.2", "SKYPILOT_NUM_NODES": "2"}
    script = TWICE.format(each="SKYPILOT_NODE_RANK=$i bash run.sh")
    assert task["num_nodes"] == 2
    assert task["resources"]["job_recovery"] == {"max_restarts_on_errors": 100}
    assert losses(start(script, **env)) == alone
