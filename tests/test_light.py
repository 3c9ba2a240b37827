"""A build in which nothing has changed loads nothing that would run a page."""

import subprocess
import sys

RUNS = {"sqlalchemy", "jupyter_cache", "nbclient", "jupyter_client", "psutil"}
AGAIN = f"""
import sys
from sphinx.cmd.build import main
assert main(sys.argv[1:]) == 0
print("loaded:", sorted({RUNS} & set(sys.modules)))
"""


def test_what_runs_pages_is_loaded_where_a_page_runs(book):
    book.page("page", "assert True")
    command = [sys.executable, "-c", AGAIN, "-q", str(book.docs), str(book.html)]

    def loaded() -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()[-1]

    assert loaded() == "loaded: ['jupyter_client', 'nbclient', 'psutil']"
    assert loaded() == "loaded: []"
