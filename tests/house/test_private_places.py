"""No file of the repository names a place of one machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from book.files import local_strings
from tests.house import private_places

ROOT = Path(__file__).parents[2]


def files() -> list[str]:
    """Return what git tracks or would track; without git, what is not ignored."""
    git = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(git, capture_output=True, text=True)
        if listed.returncode == 0:
            return sorted(p for p in listed.stdout.splitlines() if (ROOT / p).is_file())
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
    ignored = {found for pattern in (".git", *ignored) for found in ROOT.rglob(pattern)}
    paths = [path for path in ROOT.rglob("*") if path.is_file()]
    return sorted(
        path.relative_to(ROOT).as_posix()
        for path in paths
        if not ignored & set(path.parents)
    )


def test_no_file_names_a_machine_or_a_package_index():
    private = [s for s in local_strings(ROOT, ROOT / "docs") if "/" in s]
    found = []
    for name in files():
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found += private_places.no_private_places(text, name, private)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("data = '" + "/ho" + "me/reader/data'", "a path of one machine"),
        ("see " + "C:" + "\\Users", "a path of one machine"),
        ("--index-" + "url x", "the address of a package index"),
        ("https:/" + "/pypi" + ".example/simple", "the address of a package index"),
    ],
)
def test_a_file_that_names_a_place_is_an_error(line, says):
    found = private_places.no_private_places(f"fine\n{line}\n", "a.txt")
    assert found == [f"a.txt:2: {says}."]
