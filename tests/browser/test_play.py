"""`nox -s play`, as a reader starts it: JupyterLab with the notebooks of the site."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = ("--no-browser", "--port=0", "--allow-root")
PATIENCE = 120  # seconds until a server says where it listens


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """A built site of one page."""
    html = tmp_path_factory.mktemp("site") / "html"
    (html / "vmap").mkdir(parents=True)
    (html / "index.html").write_text("a page")
    (html / "vmap" / "axes.ipynb").write_text("{}")
    return html


@contextlib.contextmanager
def started(html):
    """JupyterLab on a built site: its process, its address, and its token."""
    folders = ("RUNTIME", "DATA")
    env = {f"JUPYTER_{name}_DIR": str(html.parent / name) for name in folders}
    env["JUPYTER_TOKEN"] = "known-to-all"
    command = [sys.executable, "-m", "book.exports.play", html, html.parent / "play"]
    process = subprocess.Popen(
        [*command, *OPTIONS],
        cwd=html.parent,
        env=os.environ | env | {"PYTHONPATH": str(ROOT / "docs")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    impatient = threading.Timer(PATIENCE, process.kill)
    impatient.start()
    try:
        said = []
        found = None
        while not found:
            line = process.stdout.readline()
            assert line, "".join(said)
            said.append(line)
            found = re.search(r"(http://\S+?:\d+)/\S*token=(\w+)", line)
        impatient.cancel()
        yield process, found[1], found[2]
    finally:
        impatient.cancel()
        process.kill()
        process.communicate()


def get(process, url, token=""):
    """Return what `url` says, as soon as the server listens."""
    headers = {"Authorization": f"token {token}"} if token else {}
    asked = urllib.request.Request(url, headers=headers)
    while process.poll() is None:
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            error.close()
            raise
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.1)
    raise AssertionError(f"the server ended with {process.returncode}")


def test_who_has_the_token_finds_the_notebooks(html):
    with started(html) as (process, address, token):
        assert address.startswith("http://127.0.0.1:")
        for wrong in ("", "known-to-all"):
            with pytest.raises(urllib.error.HTTPError) as error:
                get(process, f"{address}/api/contents", wrong)
            assert error.value.code == 403
        assert "JupyterLab" in get(process, f"{address}/lab", token)
        open_ = psutil.Process(process.pid).net_connections("inet")
        assert {one.laddr.ip for one in open_ if not one.raddr} == {"127.0.0.1"}
        [folder] = json.loads(get(process, f"{address}/api/contents", token))["content"]
        assert folder["path"] == "vmap"
        inside = json.loads(get(process, f"{address}/api/contents/vmap", token))
        assert [one["path"] for one in inside["content"]] == ["vmap/axes.ipynb"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def test_each_time_the_token_is_a_new_one(html):
    with started(html) as (_, _, first), started(html) as (_, _, second):
        assert first != second


def test_without_a_site_it_says_what_builds_one(tmp_path):
    command = [sys.executable, "-m", "book.exports.play", tmp_path, tmp_path / "play"]
    env = os.environ | {"PYTHONPATH": str(ROOT / "docs")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "`nox -s docs` builds it" in done.stderr
