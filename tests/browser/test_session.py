"""The session is green in no place where nothing was opened."""

import os
import subprocess
import sys

from tests.browser.conftest import NONE, ROOT


def test_without_a_chromium_one_sentence_says_what_to_install():
    command = [sys.executable, "-m", "pytest", "-q", "tests/browser"]
    env = os.environ | {"CHROMIUM": "/no/chromium"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 4  # pytest's status for a wrong use
    assert done.stderr.startswith(f"ERROR: {NONE}")
    assert len(done.stderr.splitlines()) == 2, done.stderr  # and an empty line
