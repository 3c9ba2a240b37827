"""What is printed is the page: its text, its code and its answers, and no buttons."""

import pytest
from pypdf import PdfReader

KINDS = (
    "vmap/what_it_does.html",
    "vmap/axes.html",
    "errors/rank_at_least.html",
    "start/numpy_to_jax.html",
    "scale/many_processes.html",
    "train/fsdp.html",
)
MARGIN = dict.fromkeys(("top", "right", "bottom", "left"), "1.5cm")


def plain(text):
    """The signs of `text`, without its spaces and line ends."""
    return "".join(text.split())


@pytest.mark.parametrize("name", KINDS)
def test_a_printed_page_has_all_its_lines_and_answers(opened, tmp_path, name):
    page = opened(name)
    page.emulate_media(media="print")
    page.pdf(path=tmp_path / "page.pdf", format="A4", margin=MARGIN)
    printed = plain(
        "".join(one.extract_text() for one in PdfReader(tmp_path / "page.pdf").pages)
    )
    blocks = page.locator("article pre:not(.checks pre)").all_text_contents()
    texts = page.locator("article :is(p, h1, h2)").all_text_contents()
    assert blocks and texts
    lines = [line for block in blocks for line in block.splitlines()]
    missing = [line for line in lines if plain(line) not in printed]
    assert missing == []
    for check in page.locator(".checks .cell_input pre").all_text_contents():
        assert plain(check) not in printed
    assert not page.locator(".copy-bar").first.is_visible()
