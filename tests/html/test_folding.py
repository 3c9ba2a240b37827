"""Checks are folded into one quiet line; a folded part is called what one sees."""

import re

import pytest
from docutils import nodes

from book.html.folding import fold_checks


def cell(check=None):
    """A code cell of the doctree, perhaps a check of so many assertions."""
    metadata = {} if check is None else {"check": check}
    return nodes.container(nb_element="cell_code", cell_metadata=metadata)


@pytest.fixture
def folded():
    """A section of lessons and checks, after folding."""
    section = nodes.section()
    section.extend([cell(), cell(1), cell(1), nodes.paragraph(), cell(), cell(1)])
    document = nodes.container("", section)
    fold_checks(None, document)
    return section


def test_checks_that_follow_each_other_are_one_line(folded):
    folded_node = "HideCodeCellNode"
    kinds = [node.tagname for node in folded]
    assert kinds == ["container", folded_node, "paragraph", "container", folded_node]
    assert [len(node) for node in folded if node.tagname == folded_node] == [2, 1]
    words = [n["prompt_show"] for n in folded if n.tagname == folded_node]
    assert words == ["2 checks", "1 check"]


def test_a_folded_part_needs_no_script_and_no_label(book):
    hidden = ':tags: [hide-input]\n:mystnb: {code_prompt_show: "Show <a>"}\nassert 1'
    book.page("p", hidden)
    built = book.build()
    assert built.code == 0, built.said
    summary, _check = re.findall(r"<summary(.*?)</summary>", book.text("p"), re.DOTALL)
    assert "aria-label" not in summary and "Show &lt;a&gt;" in summary
