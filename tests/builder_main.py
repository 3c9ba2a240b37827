"""The Python that a `builder.Builder` starts: it forks a build for each request.

    python builder_main.py < requests

A request is a line of JSON with the names of the parameters of `Builder.build`.  The
answer is a line with the exit status of the build, negative when a signal ended it.
"""

import gc
import json
import os
import signal
import sys
import time
from typing import Any

import myst_nb  # noqa: F401
import sphinx_book_theme  # noqa: F401
import sphinx_design  # noqa: F401
from sphinx.cmd.build import main

import book.build.pipeline
import book.directives.build_table
import book.exports.markdown_export
import book.extension  # noqa: F401


def build(asked: dict[str, Any]) -> None:
    """Build in this process, a new one, and end it."""
    code = 2
    try:
        os.setsid()
        # A shell may have told its background jobs to ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.alarm(asked["limit"])
        file = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.path[0] = asked["cwd"]  # as `python -m sphinx` has it
        code = main(asked["arguments"])
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
    gc.freeze()  # what has been imported is shared with every build
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            build(asked)
        print(ended(child, asked["killed"]), flush=True)
