"""What the copy buttons put on the clipboard is what they say."""

import json
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import HTML

KINDS = (
    "vmap/what_it_does.html",  # a concept with an exercise
    "vmap/axes.html",  # a page to look things up in
    "errors/rank_at_least.html",
    "start/your_hardware.html",  # cells in Pythons of their own
    "start/numpy_to_jax.html",  # NumPy beside JAX
    "scale/many_processes.html",  # listings and consoles
    "train/fsdp.html",  # a case, with listings
    "index.html",
)


def programs(name):
    """The programs of a page, as the tests have run them: which -> text."""
    script = HTML / "_static" / "programs" / f"{name.removesuffix('.html')}.js"
    if not script.is_file():  # each of its cells is a program as it stands
        return {}
    return json.loads(script.read_text().removeprefix("var programs = ").rstrip(";\n"))


@pytest.mark.parametrize("name", KINDS)
def test_a_button_copies_the_code_that_is_shown_or_its_program(opened, name):
    page = opened(name, permissions=["clipboard-read", "clipboard-write"])
    runs = programs(name)
    page.evaluate(
        "document.querySelectorAll('details').forEach((d) => (d.open = true))"
    )
    for bar in page.locator(".copy-bar").all():
        if not bar.is_visible():  # in a tab that is not in front
            continue
        block = bar.locator("xpath=..")
        wanted = [block.locator("pre").first.text_content().rstrip() + "\n"]
        if which := bar.evaluate("bar => bar.closest('.runnable')?.id"):
            wanted.append(runs.pop(which))
        for button, text in zip(bar.locator("button").all(), wanted, strict=True):
            button.click()
            expect(button).to_have_text("Copied")
            assert page.evaluate("navigator.clipboard.readText()") == text
    assert not runs


def test_a_copied_program_runs(opened, tmp_path):
    page = opened("vmap/axes.html", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy runnable:").first.click()
    page.get_by_role("button", name="Copied:").wait_for()
    program = page.evaluate("navigator.clipboard.readText()")
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-I", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
