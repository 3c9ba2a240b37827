"""The packed index holds what Sphinx's own does, and a later build reads that again."""

import json

from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from book.publish import search_index
from book.source.model import Answer

FILES = 200
POSTINGS = st.sets(st.integers(0, FILES - 1), min_size=1)


def unpacked(script):
    """What the search is handed."""
    engine = MiniRacer()
    try:
        engine.eval("let got; const Search = { setIndex: (index) => (got = index) };")
        engine.eval(script)
        return json.loads(engine.eval("JSON.stringify(got)"))
    finally:
        engine.close()


def as_made(got):
    """What the search is handed, with the numbers that pages have in `index`."""
    was = [int(name.removeprefix("page")) for name in got["docnames"]]
    order = sorted(range(FILES), key=was.__getitem__)
    made = {key: [got[key][n] for n in order] for key in ("docnames", "titles")}
    made["filenames"] = [got["filenames"][n] for n in order]
    made["terms"] = {w: sorted(was[n] for n in on) for w, on in got["terms"].items()}
    heads = got["alltitles"].items()
    made["alltitles"] = {text: [[was[n], a] for n, a in at] for text, at in heads}
    made["asked"] = [one | {"file": was[one["file"]]} for one in got["asked"]]
    return made


def index(terms, titleterms=(), alltitles=()):
    """An index as Sphinx makes it."""
    names = [f"page{n}" for n in range(FILES)]
    made = {"docnames": names, "filenames": [f"{name}.md" for name in names]}
    made |= {"titles": [f"Title {n}" for n in range(FILES)]}
    return made | {
        "terms": dict(terms),
        "titleterms": dict(titleterms),
        "alltitles": dict(alltitles),
    }


@given(st.dictionaries(st.sampled_from("abcde"), POSTINGS, min_size=1))
def test_each_word_is_found_on_its_pages(postings):
    for word, files in postings.items():
        text = search_index.steps(files, FILES)
        there, at, skipped = set(), -1, 1
        for mark in text.removeprefix("!"):
            if mark == "~":
                skipped += len(search_index.MARKS)
            else:
                at += skipped + search_index.MARKS.index(mark)
                there.add(at)
                skipped = 1
        there = set(range(FILES)) - there if text.startswith("!") else there
        assert there == files, word


def test_what_no_query_asks_for_is_left_out():
    words = ["psum", "2d", "0th", "x", "The", "05bd2", "100_000", "x64"]
    got = unpacked(search_index.pack(index({word: [0] for word in words}), {}))
    assert sorted(got["terms"]) == ["2d", "psum", "x64"]


def test_the_search_gets_words_titles_and_addresses():
    every = list(range(FILES))
    heads = {
        "Title 0": [[0, None]],
        "Who does what?": [[3, "who-does-what"], [150, "id7"]],
        "2 maps, `in_axes` & naïve": [[3, "maps-in-axes-naive"]],
    }
    made = index(
        {
            "one": 0,
            "last": FILES - 1,
            "all": every,
            "most": every[:-3],
            "ends": [0, 199],
        },
        {"one": [5], "alone": 7},
        heads,
    )
    script = search_index.pack(made, {})
    found = as_made(unpacked(script))
    assert found["terms"]["one"] == [0, 5] and found["terms"]["alone"] == [7]
    assert found["terms"]["all"] == every and found["terms"]["most"] == every[:-3]
    assert found["terms"]["last"] == [199] and found["terms"]["ends"] == [0, 199]
    for key in ("docnames", "filenames", "titles"):
        assert found[key] == made[key]
    for text, places in heads.items():
        assert sorted(map(str, found["alltitles"][text])) == sorted(map(str, places))
    assert script.count("who-does-what") == 0


def test_pages_of_many_words_come_first():
    terms = {"one": [0, 7, 9], "two": [7, 9], "three": [9]}
    got = unpacked(search_index.pack(index(terms), {}))
    assert got["docnames"][:3] == ["page9", "page7", "page0"]
    assert got["terms"]["one"] == [0, 1, 2] and got["terms"]["three"] == [0]


def test_a_question_stands_below_the_section_that_answers():
    heads = {"Title 3": [[3, None]], "lax.scan & in_axes": [[3, "lax-scan-in-axes"]]}
    heads |= {"Elsewhere": [[4, "elsewhere"]]}
    asked = {
        "page3": [
            Answer("Why is my loop slow?", "laxscan--in_axes"),
            Answer("What is a title?", "title-3"),
        ],
        "page4": [Answer("How do I do Nothing?", "elsewhere")],
    }
    made = index({"one": 0}, {}, heads)
    found = as_made(unpacked(search_index.pack(made, asked)))["asked"]
    below = {(one["file"], one["id"], one["heading"]): one["words"] for one in found}
    assert below == {
        (3, None, "Title 3"): "title",
        (3, "lax-scan-in-axes", "lax.scan & in_axes"): "loop slow",
        (4, "elsewhere", "Elsewhere"): "nothing",
    }


def test_a_word_of_a_heading_or_a_question_is_not_listed_again():
    heads = {"Title 3": [[3, None]], "Shards of `in_axes`": [[3, "shards-of-in-axes"]]}
    asked = {"page3": [Answer("Why are my loops slow?", "shards-of-in-axes")]}
    terms = {"shard": [0, 3], "in_ax": [3, 4], "loop": [3, 5], "titl": 3, "mesh": [3]}
    found = as_made(unpacked(search_index.pack(index(terms, {}, heads), asked)))[
        "terms"
    ]
    assert found == {"shard": [0], "in_ax": [4], "loop": [5], "mesh": [3]}


def test_a_later_build_of_one_page_keeps_the_words_of_the_others(book):
    book.write("docs/a.md", "# Apples\n\nPrimordial soup.\n")
    book.write("docs/b.md", "# Pears\n\nQuotidian bread.\n")
    book.index("a", "b")
    built = book.build()
    assert built.code == 0, built.said
    book.write("docs/b.md", "# Pears\n\nVespertine wine.\n")
    built = book.build()
    assert built.code == 0, built.said
    terms = unpacked((book.html / "searchindex.js").read_text())["terms"]
    assert {"primordi", "vespertin"} <= set(terms)
    assert "quotidian" not in terms


def test_no_mark_has_another_meaning():
    assert not set(search_index.MARKS) & {"!", " ", "\n", "\\", "~", '"'}
