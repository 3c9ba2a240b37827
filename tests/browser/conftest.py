"""A real browser opens the built site as a server sends it: `nox -s browser`."""

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from book import publish

ROOT = Path(__file__).parents[2]
HTML = ROOT / "docs" / "_build" / "html"
SHOTS = ROOT / "docs" / "_build" / "screenshots"
NAMES = "chromium", "chromium-browser", "google-chrome", "chrome"
DESKTOP, PHONE = (1280, 900), (360, 740)


def pages():
    """The addresses of all pages, from the root of the site."""
    found = (path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))
    return sorted(name for name in found if name != "genindex.html")


@pytest.fixture(scope="session")
def site():
    """The address of the built site, served under its content security policy."""
    if not (HTML / "index.html").is_file():
        pytest.skip("there is no built site: nox -s docs")
    name, _, value = publish.policy(HTML).partition(": ")

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
    """The Chromium of this machine, or one that Playwright has installed."""
    api = pytest.importorskip("playwright.sync_api", reason="nox -s browser has it")
    known = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES)]
    found = next(filter(None, known), None)
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=found, args=["--no-sandbox"] * (os.getuid() == 0)
            )
        except api.Error as error:
            pytest.skip(f"no Chromium: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


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
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: said.type == "error" and complaints.append(said.text),
        )
        page.on(
            "request",
            lambda asked: (
                asked.url.startswith((site, "data:", "blob:", "file:"))
                or complaints.append(f"asks for {asked.url}")
            ),
        )
        page.goto(name if ":" in name else f"{site}/{name}")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
