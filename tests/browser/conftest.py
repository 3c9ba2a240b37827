"""A real browser opens the published site as a server sends it: `nox -s browser`."""

import functools
import os
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Error, sync_playwright

from book.publish import assemble

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "docs" / "_build" / "html"
HTML = ROOT / "docs" / "_build" / "browser"  # the site, as it is published
DESKTOP, PHONE = (1280, 900), (360, 740)
NONE = (
    "No Chromium starts: install the system's, as with `apt install chromium`, or say "
    "CHROMIUM=/its/path, or let Playwright download its own, with "
    "`python -m playwright install --with-deps chromium`."
)


def pages():
    """The addresses of all pages, from the root of the site."""
    found = (path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))
    return sorted(name for name in found if name != "genindex.html")


@contextmanager
def launched():
    """The Chromium that `CHROMIUM` names, or else Playwright's."""
    path = os.environ.get("CHROMIUM") or None
    options = ["--no-sandbox"] * (os.getuid() == 0)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


def pytest_configure(config):
    """Without a site, or a browser to open it, there is nothing that could pass."""
    if hasattr(config, "workerinput"):
        return  # where the session started, they have been found
    if not (BUILT / "index.html").is_file():
        raise pytest.UsageError("There is no built site: `python -m nox -s docs`.")
    try:
        with launched():
            pass
    except Error as error:
        raise pytest.UsageError(f"{NONE} ({str(error).splitlines()[0]})") from None
    assemble.assemble(HTML, [BUILT])


@pytest.fixture(scope="session")
def site():
    """The address of the site, served under its content security policy."""
    name, _, value = assemble.policy(HTML).partition(": ")

    class Handler(SimpleHTTPRequestHandler):
        def end_headers(self):
            self.send_header(name, value)
            super().end_headers()

        def log_message(self, *_args):
            pass

    handler = functools.partial(Handler, directory=HTML)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def chromium():
    """One browser for all pages."""
    with launched() as browser:
        yield browser


@pytest.fixture
def opened(chromium, site):
    """Open pages; what a browser complains of, or asks of others, fails the test."""
    contexts, complaints = [], []

    def open_(name, size=DESKTOP, **options):
        width, height = size
        view = {"width": width, "height": height}
        context = chromium.new_context(viewport=view, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        url = name if ":" in name else f"{site}/{name}"
        ours = "/".join(url.split("/")[:3]), "data:", "blob:", "file:"
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: said.type == "error" and complaints.append(said.text),
        )
        page.on(
            "request",
            lambda asked: (
                asked.url.startswith(ours) or complaints.append(f"asks for {asked.url}")
            ),
        )
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
