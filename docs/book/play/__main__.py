"""Serve a built site with Jupyter's server: `python -m book.play docs/_build/html`.

The server listens on this machine alone and asks for its token.  It hands out the site
as it was built; only here, each page with lessons also loads `play.js`, which runs them
in a kernel of the page's own.  Kernels start in an empty folder, which goes at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from tornado import web
from traitlets import Unicode

OWN = Path(__file__).parent
_DEVICES = "import jax; print(jax.default_backend(), jax.device_count())"
_LOADS = """<link rel="stylesheet" href="/play/play.css">
<script src="/play/play.js" data-devices='{}' defer></script>
</body>"""


def devices() -> dict[str, str | int]:
    """What JAX finds here when nothing is set; asked in a process that ends."""
    said = subprocess.run(
        [sys.executable, "-c", _DEVICES], capture_output=True, text=True, check=False
    )
    platform, count = (said.stdout.split() or ["cpu", "1"])[-2:]
    return {"platform": platform, "count": int(count)}


def _lessons(page: Path) -> Path:
    """The notebook beside a page, where that has lessons."""
    return page.with_suffix(".ipynb")


class Site(JupyterHandler, web.StaticFileHandler):
    """The files of the site, for whoever has the token."""

    def initialize(self, path: str, found: str = "{}") -> None:
        """Serve the folder `path`; tell its pages which devices were `found`."""
        web.StaticFileHandler.initialize(self, path, "index.html")
        self._found = found

    @web.authenticated
    async def get(self, path: str) -> None:
        """Send a file, and with a page of lessons what runs them."""
        self.xsrf_token  # noqa: B018 - a cookie, which starting a kernel asks for
        self.set_header("Cache-Control", "no-cache")
        path = path or "index.html"
        file = Path(self.root, path).resolve()
        ours = file.is_relative_to(Path(self.root).resolve())
        if not (ours and file.suffix == ".html" and _lessons(file).is_file()):
            await web.StaticFileHandler.get(self, path)
            return
        self.absolute_path = str(file)  # of which Tornado makes its tag
        loads = _LOADS.format(self._found)
        self.finish(file.read_text(encoding="utf-8").replace("</body>", loads))

    def head(self, path: str):
        """Answer as to a `get`, without the file."""
        return self.get(path)


class Play(ServerApp):
    """Jupyter's server, which hands out the book as well."""

    site = Unicode(help="the folder of the built site").tag(config=True)

    def init_webapp(self) -> None:
        """Add where the site is, and what is added to it."""
        super().init_webapp()
        found = {"path": self.site, "found": json.dumps(devices())}
        ours = [
            (r"/book/(.*)", Site, found),
            (r"/play/(play\.(?:js|css))", Site, {"path": str(OWN)}),
        ]
        self.web_app.add_handlers(".*$", ours)


def main(site: str, *options: str) -> None:
    """Serve the folder `site` until Ctrl-C; `options` are those of Jupyter's server."""
    if not Path(site, "index.html").is_file():
        sys.exit(f"{site} has no site; `nox -s docs` builds it")
    os.environ["PYTHONPATH"] = str(OWN.parents[2])  # lessons import from examples/
    with tempfile.TemporaryDirectory(prefix="book-play-") as empty:
        told = {
            "Play.site": str(Path(site).resolve()),
            "ServerApp.root_dir": empty,
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.default_url": "/book/index.html",
            "ServerApp.jpserver_extensions": "{}",
            "ServerApp.terminals_enabled": False,
            "ServerApp.answer_yes": True,  # one Ctrl-C is enough
            "ServerApp.log_level": "WARN",
        }
        arguments = [f"--{name}={value}" for name, value in told.items()]
        Play.launch_instance([*arguments, *options])


if __name__ == "__main__":
    main(*sys.argv[1:])
