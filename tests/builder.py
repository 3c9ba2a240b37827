"""Builds small books in processes that have imported Sphinx.

Most of the time that a small build takes goes into importing Sphinx and MyST-NB.  So a
Python imports them once, and forks for each build: each has an environment, a folder
and a session of its own, and Sphinx has done nothing yet.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


class Builder:
    """A Python that has imported Sphinx; close it after use."""

    def __init__(self):
        self._python = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("builder_main.py"))],
            env={**os.environ, "PYTHONPATH": str(DOCS), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def build(
        self,
        arguments: list[str],
        cwd: Path,
        env: dict[str, str],
        log: Path,
        *,
        killed: float | None = None,
        limit: int = 0,
    ) -> int:
        """Run sphinx-build with `arguments`, and return its exit status.

        It runs in the folder `cwd` and the environment `env`, of which Python reads
        none again: what PYTHONPATH or PYTHONWARNINGS say is the same for all builds.
        What it says goes to the file `log`.  It is killed after `killed` seconds, and
        SIGALRM ends it after `limit` seconds; 0 is never.
        """
        request = {"arguments": arguments, "cwd": str(cwd), "env": env}
        request |= {"log": str(log), "killed": killed, "limit": limit}
        self._python.stdin.write(json.dumps(request) + "\n")
        self._python.stdin.flush()
        return int(self._python.stdout.readline())

    def close(self) -> None:
        """End the Python."""
        self._python.stdin.close()
        self._python.stdout.close()
        self._python.wait()
