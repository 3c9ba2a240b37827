"""JupyterLab on the notebooks of a built site: `python -m book.exports.play HTML PLAY`.

The notebooks are copied to the folder `PLAY/notebooks`, so that the site stays as it
was built.  A copy that a reader has changed stays until its page changes.  The server
listens on this machine alone, asks for a token that is new each time, and takes no
settings from the reader's home: its own are in `PLAY/settings`.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2]
KERNEL = {"IPKernelApp": {"extensions": ["book.exports.play_mistakes"]}}


def copy_notebooks(html: Path, folder: Path) -> list[Path]:
    """Copy the notebooks of the pages in `html` to `folder`; return which were copied.

    A copy that is as new as its page, or newer, is left alone.
    """
    copied = []
    for notebook in sorted(html.rglob("*.ipynb")):
        name = notebook.relative_to(html)
        if name.parts[0].startswith("_"):
            continue  # `_downloads` has programs, which their pages show
        copy = folder / name
        if copy.exists() and copy.stat().st_mtime >= notebook.stat().st_mtime:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(notebook, copy)
        copied.append(copy)
    return copied


def environment(settings: Path) -> dict[str, str]:
    """Write the settings of the kernels to `settings`; return what Jupyter needs set.

    The kernels name known mistakes in exercises: `book.exports.play_mistakes`.
    """
    profile = settings / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    text = json.dumps(KERNEL, indent=2)
    (profile / "ipython_kernel_config.json").write_text(text, encoding="utf-8")
    return {
        "IPYTHONDIR": str(settings / "ipython"),
        "JUPYTER_CONFIG_DIR": str(settings / "jupyter"),
        "PYTHONPATH": str(DOCS),
    }


def main(html: str, play: str, *options: str) -> None:
    """Serve until Ctrl-C; `options` are JupyterLab's own, such as `--no-browser`."""
    if not Path(html, "index.html").is_file():
        sys.exit(f"{html} has no site; `nox -s docs` builds it")
    from jupyterlab.labapp import LabApp  # only this session has it installed

    notebooks = Path(play, "notebooks").resolve()
    copy_notebooks(Path(html), notebooks)
    os.environ.update(environment(Path(play, "settings").resolve()))
    for chosen_token in ("JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE"):
        os.environ.pop(chosen_token, None)  # Jupyter makes a new one, and prints it
    chosen = {
        "ServerApp.root_dir": str(notebooks),
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.answer_yes": True,  # one Ctrl-C is enough
        "ServerApp.log_level": "WARN",
        # It asks nobody for news, for a newer JupyterLab, or for extensions.
        "LabApp.news_url": None,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
    }
    arguments = [f"--{name}={value}" for name, value in chosen.items()]
    LabApp.launch_instance([*arguments, *options])


if __name__ == "__main__":
    main(*sys.argv[1:])
