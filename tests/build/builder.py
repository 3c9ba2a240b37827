"""Builds small books one after another, in processes that have imported Sphinx.

    python builder.py < requests

A request is a line of JSON: the `arguments` of sphinx-build, the file `log` for what it
says, and after how many seconds it is killed, or null.  The answer is a line with the
exit status.
"""

import json
import os
import signal
import sys
import time

import myst_nb  # noqa: F401
import sphinx_design  # noqa: F401
from sphinx.cmd.build import build_main

import book.build.pipeline
import book.directives.build_table
import book.exports.markdown_export
import book.extension  # noqa: F401


def build(arguments: list[str], log: str) -> None:
    """Build in this process, a new one, and end it."""
    code = 2
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        code = build_main(arguments)
    except SystemExit as error:
        print(error, file=sys.stderr)
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(child: int, seconds: float | None) -> int:
    """The exit status of a process, which is killed after so many seconds."""
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            build(asked["arguments"], asked["log"])
        print(ended(child, asked["killed"]), flush=True)
