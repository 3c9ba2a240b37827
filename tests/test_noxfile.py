"""What the sessions of Nox do before they run anything."""

import os
import subprocess
import sys
from pathlib import Path

# Nox is not installed where the tests run.
SESSION = """
import sys
from unittest.mock import MagicMock

sys.modules["nox"] = MagicMock()
import noxfile

session = MagicMock(env={})
noxfile.use_known_locale(session)
print(session.env, *[call.args[0] for call in session.warn.mock_calls])
"""


def test_a_locale_that_is_not_installed_is_told_and_replaced():
    def said(asked: str) -> str:
        root = Path(__file__).parent.parent
        env = {**os.environ, "LC_ALL": asked, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", SESSION]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=root, env=env
        ).stdout.strip()

    assert said("C.UTF-8") == "{}"
    told = "The locale xx_YY.UTF-8 is not installed here; C.UTF-8 is used."
    assert said("xx_YY.UTF-8") == f"{{'LC_ALL': 'C.UTF-8'}} {told}"
