"""What the machine or a folder cannot do is one sentence, with the cure."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from book import files
from book.build import machine_check
from tests.conftest import Book
from tests.hardware.test_probe import sentence


def test_a_colon_in_the_path_is_named(tmp_path):
    book = Book(tmp_path / "co:lon")
    book.page("plain", "assert True")
    said = sentence(book.build())
    assert "co:lon/docs has ':' in its path" in said
    assert "PYTHONPATH: rename or move the folder." in said


def test_a_loop_of_links_is_named(book):
    book.page("plain", "assert True")
    book.write("docs/a/b.md", "# B\n")
    (book.docs / "a" / "up").symlink_to("..")
    said = sentence(book.build())
    assert f"{book.docs}/a/up is a link to {book.docs}, which it is in: its" in said


def test_a_link_to_itself_is_named(book):
    book.page("plain", "assert True")
    (book.docs / "loop").symlink_to("loop")
    said = sentence(book.build())
    assert said == f"{book.docs}/loop is a link to itself; remove the link."


def test_a_folder_that_belongs_to_another_place_is_named(book, tmp_path_factory):
    book.page("plain", "assert True")
    (book.root / "examples").rmdir()
    assert f"{book.root} has no folder examples/" in sentence(book.build())


def test_a_file_name_that_is_not_utf_8_is_named(book):
    book.page("plain", "assert True")
    os.close(os.open(os.fsencode(book.docs) + b"/caf\xe9.md", os.O_CREAT))
    said = sentence(book.build())
    assert said == rf"{book.docs}/caf\xe9.md: its name is not UTF-8; rename the file."


def test_too_few_open_files_are_told_and_few_are_made_more(book):
    def limits(soft, hard):
        number = resource.RLIMIT_NOFILE
        script = f"import os, resource\nresource.setrlimit({number}, ({soft}, {hard}))"
        return [sys.executable, "-c", f"{script}\nos.execvp({command[0]!r}, {command})"]

    book.page("plain", "assert True\nprint('it', 'ran')")
    command = [sys.executable, "-m", "sphinx", "-W", str(book.docs), str(book.html)]
    few = subprocess.run(limits(64, 64), check=False, capture_output=True, text=True)
    assert few.returncode == 1
    assert "Only 64 files may be open at a time here" in few.stderr
    assert "Traceback" not in few.stderr
    subprocess.run(limits(64, 4096), check=True, capture_output=True)
    assert "it ran" in book.text("plain")


def test_a_folder_that_cannot_be_written_to_is_named():
    with pytest.raises(SystemExit, match="/proc/docs cannot be written to: No such"):
        machine_check._check_writable(Path("/proc/docs"))


def test_warnings_of_packages_end_no_build_whatever_python_is_told(book):
    old = "import warnings\nfrom sphinx.deprecation import RemovedInSphinx11Warning\n"
    warn = "warnings.warn('old ways', RemovedInSphinx11Warning)\n"
    setup = f"def setup(app):\n    app.connect('env-updated', old)\n{old}"
    conf = book.docs / "conf.py"
    conf.write_text(f"{conf.read_text()}{setup}def old(app, env):\n    {warn}")
    book.page("plain", "assert True")
    assert book.build(env={"PYTHONWARNINGS": "error"}).code == 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "Full", "from.md", None, "to.md"), "to.md could not be"),
        (OSError(errno.EMFILE, "Too many", "a.json"), "a.json could not be opened: T"),
        (OSError(errno.EFBIG, "Too large"), "a file of the build could not be written"),
        (OSError(errno.EFBIG, "Too large"), "size of files, `ulimit -f`"),
        (OSError(errno.EROFS, "Read-only", 7), "; build into another folder."),
        (OSError(errno.EIO, "Broken", b"x.html"), "x.html could not be written: Brok"),
    ],
)
def test_an_error_of_the_machine_names_the_file_and_the_cure(error, said):
    assert said in files.sentence(error)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_limit_of_the_size_of_files_is_a_sentence(book, jobs):
    book.page("plain", "assert True")
    for number in range(6):  # so many that they are shared out
        book.write(f"docs/p{number}.md", f"# P{number}\n\n{'words ' * 900}\n")
    book.index("plain", *(f"p{number}" for number in range(6)))
    size = f"resource.setrlimit({resource.RLIMIT_FSIZE}, (4096, 4096))"
    limit = f"import resource\n{size}\n"
    site = book.write("small/sitecustomize.py", limit)
    built = book.build("-q", "-j", jobs, env={"PYTHONPATH": str(site.parent)})
    assert built.code == 1, built.said
    assert "could not be written: File too large; raise the limit" in built.said
    assert "Traceback" not in built.said
    assert book.build().code == 0
