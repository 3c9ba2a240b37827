"""What a build reported, the next ones report until it is gone."""

import re

# Of each: what is wrong, and what has to be said.
FAULTS = {
    "link": ("[x](gone.md)", "gone"),
    "anchor": ("[x](index.md#gone)", "gone"),
    "local": ("[x](#gone)", "gone"),
    "term": ("{term}`gone`", "term not in glossary"),
    "doc": ("{doc}`gone`", "unknown document"),
    "ref": ("{ref}`gone`", "undefined label"),
    "lexer": ("```gone\nx\n```", "Pygments lexer name 'gone' is not known"),
    "code": ("```json\n{'x' = $\n```", "could not be lexed|Lexing literal_block"),
    "footnote": ("[^gone]", "gone"),
    "levels": ("#### Deep", "Non-consecutive header level"),
    "table": ("```{list-table}\n- x\n```", "list-table"),
    "picture": ("![x](gone.png)", "gone.png"),
    "first": ("(twice)=\n\n## Labelled\n", "duplicate label twice|duplicate target"),
    "second": ("(twice)=\n\n## Labelled\n", "duplicate label twice|duplicate target"),
    "orphan": ("", "isn't included in any toctree"),
    "glue": ("{glue}`index.md::gone`", "gone"),
    "download": ("{download}`gone.txt`", "gone.txt"),
    "include": ("```{include} gone.txt\n```", "gone.txt"),
    "role": ("{gone}`x`", "gone"),
    "directive": ("```{gone}\n```", "gone"),
}


def warnings(said: str) -> list[str]:
    """What a build warned of."""
    return sorted(re.findall(r".*(?:WARNING|ERROR|CRITICAL): .*", said))


def prose(book, **texts: str) -> None:
    """Write pages of prose, and an index of all but the orphan."""
    for name, text in texts.items():
        book.write(f"docs/{name}.md", f"# {name.title()}\n\nProse.\n\n{text}\n")
    pages = {path.stem for path in book.docs.glob("*.md")} - {"index", "orphan"}
    book.index(*pages)


def test_a_fault_is_told_until_it_is_gone(book):
    prose(book, fine="Words.", **{name: text for name, (text, _) in FAULTS.items()})
    first = book.build()
    assert first.code == 1
    for name, (_, words) in FAULTS.items():
        told = [line for line in warnings(first.said) if re.search(words, line)]
        if name != "first":  # it is told of the second
            assert [x for x in told if f"docs/{name}.md" in x], (name, first.said)
    for _ in range(2):
        again = book.build()
        assert again.code == 1
        assert warnings(again.said) == warnings(first.said)
        assert not re.search("fine$", again.said, re.MULTILINE)
    (book.html / ".doctrees" / "open-reports.json").write_text("{")  # read it all
    assert warnings(book.build().said) == warnings(first.said)
    prose(book, **dict.fromkeys(FAULTS, "Mended."))
    book.index(*FAULTS, "fine")
    mended = book.build()
    assert (mended.code, warnings(mended.said)) == (0, [])
    assert "0 added, 0 changed, 0 removed" in book.build().said


def test_a_page_is_checked_when_what_it_leads_to_changes(book):
    prose(
        book,
        leads="[](away.md) [a](away.md#a-heading) [](#label) {term}`thing`",
        other="[fine](leads.md)",
        away="## A heading\n\n(label)=\n\n## Title of it\n\n"
        "```{glossary}\nthing\n  It.\n```",
    )
    away = book.docs / "away.md"
    text = away.read_text()
    assert book.build("-j", "2").code == 0
    for old, new, said in (
        ("A heading", "Another", "a-heading"),
        ("(label)=", "(name)=", "label"),
        ("thing\n", "being\n", "term not in glossary"),
    ):
        away.write_text(text.replace(old, new))
        for _ in range(2):
            built = book.build("-j", "2")
            assert built.code == 1, said
            assert re.search(f"leads.md.*{said}", built.said), built.said
        assert "other" not in re.findall(r"reading.*\] (.*)", built.said)
        away.write_text(text)
        built = book.build("-j", "2")
        assert built.code == 0, built.said
    away.write_text(text.replace("# Away", "# New").replace("Title of it", "Changed"))
    assert book.build("-j", "2").code == 0
    assert "Away" not in book.text("leads") and "New" in book.text("leads")
    assert "Changed" in book.text("leads")


def test_a_page_that_a_table_of_contents_names_is_missed(book):
    prose(book, stays="x", leaves="x")
    assert book.build("-j", "2").code == 0
    (book.docs / "leaves.md").unlink()
    for _ in range(2):
        built = book.build("-j", "2")
        assert built.code == 1
        assert re.search("index.md.*leaves", built.said)
    book.index("stays")
    assert book.build("-j", "2").code == 0
