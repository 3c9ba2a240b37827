"""Checks are folded into one quiet line; a folded part is called what one sees."""

import re

import pytest
from docutils import nodes

from book.html.folding import fold_checks, folded


def cell(check=None):
    """A code cell of the doctree, perhaps a check of so many assertions."""
    metadata = {} if check is None else {"check": check}
    return nodes.container(nb_element="cell_code", cell_metadata=metadata)


@pytest.fixture
def section():
    """A section of lessons and checks, after folding."""
    section = nodes.section()
    section.extend([cell(), cell(1), cell(1), nodes.paragraph(), cell(), cell(1)])
    fold_checks(None, nodes.container("", section))
    return section


def test_checks_that_follow_each_other_are_one_line(section):
    kinds = [type(node) for node in section]
    plain = nodes.container
    assert kinds == [plain, folded, nodes.paragraph, plain, folded]
    found = [node for node in section if isinstance(node, folded)]
    assert [len(node) for node in found] == [2, 1]
    assert [node["closed"] for node in found] == ["2 checks", "1 check"]


HIDDEN = [
    ':tags: [hide-input]\n:mystnb: {code_prompt_show: "Show <a>"}\nassert 1',
    ":tags: [hide-output]\nprint('out')",
    ":tags: [hide-cell]\nprint('both')",
]
PARTS = r'<details class="(.*?)">\n<summary>(.*?)</summary>(.*?)</details>'


def test_a_folded_part_needs_no_script_and_no_label(book):
    book.page("p", *HIDDEN)
    built = book.build()
    assert built.code == 0, built.said
    first, second, third, check = re.findall(PARTS, book.text("p"), re.DOTALL)
    assert all(" folded" in part[0] for part in (first, second, third, check))
    opened = '<span class="opened">Hide code cell source</span>'
    assert first[1] == f'<span class="closed">Show &lt;a&gt;</span>{opened}'
    assert "assert" in first[2]
    assert "print" not in second[2] and "out" in second[2]
    assert "print" in third[2] and "both" in third[2]
    assert check[:2] == ("checks no-search folded", "1 check")
    assert book.text("p").count("<summary>") == 4  # named by its text alone
