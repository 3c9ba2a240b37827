"""The launcher: all processes end, in time, and whoever failed first says how."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

LAUNCH = Path(__file__).parents[2] / "examples" / "scale" / "launch.py"
WHO = "import os, sys, time\nwho = os.environ['SLURM_PROCID']\n"
WAIT = "print('pid', os.getpid(), flush=True)\ntime.sleep(600)\n"


@pytest.fixture
def launch(tmp_path):
    """Start the launcher with a program of plain Python; what is left is ended."""
    started = []

    def start(count, program, *options):
        path = tmp_path / "program.py"
        path.write_text(WHO + program)
        command = [sys.executable, LAUNCH, *options, str(count), str(path)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ended(process):
    """Return the exit status, stdout and stderr of a launcher that comes to an end."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def waiting(process, count):
    """Return what `count` processes say before they wait: their ids as the system's."""
    lines = [process.stdout.readline() for _ in range(count)]
    return [int(line.split()[-1]) for line in lines]


def gone(pid):
    """Whether no process has this id, or only one that waits to be buried."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return True
    except FileNotFoundError:  # buried since, or no system that has such files
        return Path("/proc/self").exists()
    return stat.rpartition(")")[2].split()[0] == "Z"


def test_all_processes_run_to_their_end(launch):
    names = "PROCID", "NTASKS"
    program = f"print(*(os.environ['SLURM_' + name] for name in {names}))"
    status, out, err = ended(launch(3, program))
    assert sorted(out.splitlines()) == ["[0] 0 3", "[1] 1 3", "[2] 2 3"]
    assert (status, err) == (0, "")


def test_every_process_gets_its_place_its_devices_and_one_coordinator(launch):
    program = "print(*(os.environ[n] for n in sys.argv[1:]))"
    names = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_CPU_DEVICES", "JAX_PLATFORMS")
    process = launch(2, program.replace("sys.argv[1:]", repr(names)))
    lines = sorted(ended(process)[1].splitlines())
    found = re.fullmatch(r"\[0\] (127\.0\.0\.1:\d+) 4 cpu", lines[0])
    assert lines[1] == f"[1] {found[1]} 4 cpu"
    process = launch(2, "print(os.environ['JAX_NUM_CPU_DEVICES'])", "--devices", "3")
    assert sorted(ended(process)[1].splitlines()) == ["[0] 3", "[1] 3"]


def test_the_devices_of_the_machine_are_left_as_they_are(launch, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "here")
    program = "print(os.environ['JAX_PLATFORMS'])"
    assert ended(launch(1, program, "--devices", "0"))[1] == "[0] here\n"


@pytest.mark.parametrize(
    ("failing", "status", "said"),
    [
        ("sys.exit(3)", 3, "failed with exit status 3"),
        ("sys.exit('no data')", 1, "failed with exit status 1"),
        ("raise ValueError('nan')", 1, "failed with exit status 1"),
        ("os.kill(os.getpid(), 9)", 137, "was ended by SIGKILL"),
        ("os.abort()", 134, "was ended by SIGABRT"),
    ],
)
def test_one_that_fails_ends_the_others(launch, tmp_path, failing, status, said):
    fifo = tmp_path / "fail"
    os.mkfifo(fifo)
    program = f"if who == '1':\n    open({str(fifo)!r}).read()\n    {failing}\n{WAIT}"
    process = launch(3, program)
    pids = waiting(process, 2)
    fifo.open("w").close()  # now it may
    code, _, err = ended(process)
    assert code == status
    assert err.splitlines()[-1] == f"launch: process 1 {said}; no process is left."
    assert all(map(gone, pids))


def test_a_killed_process_is_the_reason_though_another_reports_first(launch, tmp_path):
    fifo = tmp_path / "gone"
    os.mkfifo(fifo)
    program = (
        f"if who == '0':\n    held = open({str(fifo)!r}, 'w')\n    sys.exit(1)\n"
        f"open({str(fifo)!r}).read()  # ends when process 0 has ended\n"
        "os.kill(os.getpid(), 9)"
    )
    code, _, err = ended(launch(2, program))
    said = "launch: process 1 was ended by SIGKILL; no process is left."
    assert code == 137 and err.splitlines()[-1] == said


def test_an_error_shows_the_lines_of_the_program_alone(launch):
    program = "def step():\n    raise ValueError('the loss is nan')\n\nstep()"
    _, _, err = ended(launch(1, program))
    assert "[0] ValueError: the loss is nan\n" in err and ", in step\n" in err
    assert "launch.py" not in err and "runpy" not in err


def test_a_text_that_ends_a_program_is_shown(launch):
    assert "[0] no data\n" in ended(launch(1, "sys.exit('no data')"))[2]


def test_one_that_hangs_at_its_exit_after_an_error_is_ended(launch):
    program = "import atexit\natexit.register(time.sleep, 600)\n1 / 0"
    status, _, err = ended(launch(1, program))
    assert status == 1 and "ZeroDivisionError" in err


def test_without_abort_the_others_come_to_their_own_end(launch):
    program = "print(who)\nwho == '1' and sys.exit(4)"
    status, out, err = ended(launch(3, program, "--no-abort"))
    assert sorted(out.splitlines()) == ["[0] 0", "[1] 1", "[2] 2"]
    assert status == 4 and "process 1 failed with exit status 4" in err


@pytest.mark.parametrize("options", [(), ("--no-abort",)])
def test_a_limit_of_time_ends_all(launch, options):
    process = launch(2, WAIT, "--limit", "2", *options)
    pids = waiting(process, 2)
    status, _, err = ended(process)
    assert (status, err) == (124, "launch: the 2 s are over; no process is left.\n")
    assert all(map(gone, pids))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_all(launch, number):
    if signal.getsignal(number) == signal.SIG_IGN:  # as under nohup
        pytest.skip(f"whoever started the tests ignores {number.name}")
    process = launch(2, WAIT)
    pids = waiting(process, 2)
    process.send_signal(number)
    status, _, err = ended(process)
    assert status == 128 + number
    assert err == f"launch: {number.name}; no process is left.\n"
    assert all(map(gone, pids))


SIGNALLED = f"""
import os, runpy, signal, subprocess, sys

class Signalled(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

subprocess.Popen = Signalled
sys.argv[0] = {str(LAUNCH)!r}
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_signal_between_two_starts_ends_the_one_that_just_began(tmp_path):
    (tmp_path / "wait.py").write_text("import time\ntime.sleep(600)")
    command = [sys.executable, "-c", SIGNALLED, "2", str(tmp_path / "wait.py")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    pids = [int(line) for line in found.stdout.split()]
    assert found.returncode == 128 + signal.SIGTERM
    assert found.stderr == "launch: SIGTERM; no process is left.\n"
    assert pids and all(map(gone, pids))


def test_a_launcher_that_is_killed_leaves_nothing(launch, tmp_path):
    """Each process holds a pipe open, which ends when the last has gone."""
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    process = launch(2, f"alive = open({str(fifo)!r}, 'w')\n{WAIT}")
    with fifo.open() as alive:
        waiting(process, 2)
        process.kill()
        assert alive.read() == ""


def test_what_a_process_started_ends_with_it(launch, tmp_path):
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    child = "import time; time.sleep(600)"
    program = f"import subprocess\nalive = open({str(fifo)!r}, 'w')\n"
    program += f"subprocess.Popen([sys.executable, '-c', {child!r}], stdout=alive)"
    process = launch(2, program)
    with fifo.open() as alive:
        assert ended(process)[0] == 0
        assert alive.read() == ""


def test_what_reads_the_output_may_leave(launch):
    process = launch(2, "while True:\n    print('again')")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) != 0


def test_a_module_runs_as_one(launch, tmp_path):
    (tmp_path / "steps.py").write_text("print(__name__, __package__ == '')")
    command = [sys.executable, LAUNCH, "2", "-m", "steps"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout.split("\n")[0].endswith("__main__ True")


def test_without_a_program_it_says_how_to_call_it():
    found = subprocess.run(
        [sys.executable, LAUNCH, "2"], capture_output=True, text=True
    )
    assert found.returncode == 2 and "python launch.py 2 hello.py" in found.stderr
