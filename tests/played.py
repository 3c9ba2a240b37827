"""A built site, served as `nox -s play` serves it."""

import contextlib
import os
import re
import socket
import subprocess
import sys

from tests.conftest import REAL

OPTIONS = ("--no-browser", "--port=0", "--allow-root")


@contextlib.contextmanager
def played(site):
    """Where the server of the folder `site` listens, its token, and its process."""
    folders = {f"JUPYTER_{n}_DIR": str(site.parent / n) for n in ("RUNTIME", "CONFIG")}
    env = os.environ | folders | {"PYTHONPATH": str(REAL / "docs")}
    command = [sys.executable, "-m", "book.play", str(site), *OPTIONS]
    process = subprocess.Popen(
        command,
        cwd=site.parent,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"(http://127.0.0.1:\d+)/\S*token=(\w+)", line):
                break
        assert found, "".join(said)
        _listens(process, int(found[1].rpartition(":")[2]))
        yield (*found.groups(), process)
    finally:
        process.kill()
        process.communicate()


def _listens(process, port):
    """Wait until the server listens, which is a moment after it has said so."""
    while process.poll() is None:
        with contextlib.suppress(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
