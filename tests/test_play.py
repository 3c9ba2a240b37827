"""The site on this machine's own devices: a lesson runs through Jupyter's server."""

import asyncio
import json
import signal
import urllib.error
import urllib.request
from uuid import uuid4

import psutil
import pytest
from nbformat import v4
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from tests.played import played

PAGE = (
    "<html><body><div class='runnable' id='cell1'><pre>6 * 7</pre></div></body></html>"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A built site of one page with a lesson, and one without."""
    cells = [v4.new_code_cell("6 * 7", id="cell1")]
    html = tmp_path_factory.mktemp("play") / "html"
    html.mkdir()
    for name, text in (
        ("index.html", PAGE),
        ("index.ipynb", json.dumps(v4.new_notebook(cells=cells))),
        ("words.html", PAGE),
        ("../secret.txt", "secret"),
    ):
        (html / name).write_text(text)
    return html


@pytest.fixture
def server(site):
    """Where a server of its own listens, with its token, and its process."""
    with played(site) as server:
        yield server


def get(url):
    """What is at `url`."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def ask(url, token, method, body=None):
    """Ask the kernel API."""
    headers = {"Authorization": f"token {token}"}
    asked = urllib.request.Request(url, body, headers, method=method)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.loads(answer.read() or "null")


async def run(url, token, code):
    """What `code` puts out in the kernel whose channels are at `url`."""
    asked = HTTPRequest(url, headers={"Authorization": f"token {token}"})
    channel = await websocket_connect(asked)
    header = {"msg_id": uuid4().hex, "msg_type": "execute_request", "version": "5.3"}
    header |= {"session": uuid4().hex, "username": "", "date": ""}
    content = {"code": code, "silent": False, "store_history": True}
    message = {"header": header, "parent_header": {}, "metadata": {}}
    message |= {"content": content, "channel": "shell"}
    await channel.write_message(json.dumps(message))
    while said := json.loads(await channel.read_message()):
        mine = said["parent_header"].get("msg_id") == header["msg_id"]
        if mine and said["msg_type"] == "execute_result":
            channel.close()
            while await channel.read_message() is not None:
                pass
            return said["content"]["data"]["text/plain"]
    raise AssertionError("it put out nothing")


def test_only_who_has_the_token_is_let_in(server):
    url, token, _ = server
    assert "play.js" not in get(f"{url}/book/index.html")  # a form that asks for it
    for path in ("api/kernels", f"book/..%2Fsecret.txt?token={token}"):
        with pytest.raises(urllib.error.HTTPError) as error:
            get(f"{url}/{path}")
        error.value.close()
        assert error.value.code in (403, 404)


def test_a_lesson_runs_on_the_server_which_leaves_nothing(server):
    url, token, process = server
    page = get(f"{url}/book/index.html?token={token}")
    assert page.startswith(PAGE.removesuffix("</body></html>"))
    assert "play.js" in page and '"platform": "cpu"' in page
    assert "play.js" not in get(f"{url}/book/words.html?token={token}")
    assert "WebSocket" in get(f"{url}/play/play.js?token={token}")
    kernel = ask(f"{url}/api/kernels", token, "POST", b'{"name": "python3"}')
    channels = f"{url.replace('http', 'ws')}/api/kernels/{kernel['id']}/channels"
    notebook = json.loads(get(f"{url}/book/index.ipynb?token={token}"))
    [cell] = notebook["cells"]
    assert asyncio.run(run(channels, token, cell["source"])) == "42"
    started = psutil.Process(process.pid).children(recursive=True)
    assert started
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(started, timeout=60)
    assert not alive
