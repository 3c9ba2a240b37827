"""A page says where it stands, and the sidebar calls it by its short title."""

import pytest

from book.source import chapters
from book.source.parser import read
from tests.conftest import Book

PAGE = """---
book:
  short: {short}
---

# {title}

{text}
"""
CHAPTER = """---
book:
  short: maps
---

# Maps of every kind

Read them in order.

```{chapter}
```

```{toctree}
:hidden:

first
second
```
"""


def write(book, name, short, title, words=10):
    """Write a page of so many words."""
    text = PAGE.format(short=short, title=title, text="word " * words)
    book.write(f"docs/{name}.md", text)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A chapter of two pages, beside a page without a chapter, in the real theme."""
    book = Book(tmp_path_factory.mktemp("place"), conf="")
    book.write("docs/maps/index.md", CHAPTER)
    write(book, "maps/first", "one", "The first of all maps")
    write(book, "maps/second", "two", "The second map, which is long", words=900)
    write(book, "lone", "alone", "A page that stands alone")
    book.index("maps/index", "lone")
    built = book.build()
    assert built.code == 0, built.said
    return book


def test_above_the_title_stand_chapter_place_and_minutes(made):
    second, lone = made.text("maps/second"), made.text("lone")
    assert '<p class="place"><a href="index.html">maps</a>, page 2 of 2 · 4 min' in (
        " ".join(second.split())
    )
    assert '<p class="place">1 min' in " ".join(lone.split())
    assert "A chapter of 2 pages" in made.text("maps/index")
    assert 'class="place"' not in made.text("index")


def test_the_sidebar_and_the_neighbours_say_the_short_title(made):
    page = made.text("maps/first")
    sidebar = page.split("bd-docs-nav")[1].split("</nav>")[0]
    for short in ("maps", "one", "two", "alone"):
        assert f">{short}<" in " ".join(sidebar.split()).replace("> ", ">").replace(
            " <", "<"
        )
    assert "second map" not in sidebar
    assert '<p class="prev-next-title">two</p>' in page
    assert "<h1>The first of all maps" in page


def test_a_chapter_lists_its_pages_by_their_titles(made):
    text = made.text("maps/index").split("<article")[1]
    assert text.index("The first of all maps") < text.index("The second map, which")
    assert "4\N{NO-BREAK SPACE}min" in text


def test_other_pages_follow_when_a_short_title_or_a_length_changes(made, tmp_path):
    copy = made.copied(tmp_path)
    write(copy, "maps/second", "number 2", "The second map, which is long", words=1900)
    built = copy.build()
    assert built.code == 0, built.said
    sidebar = copy.text("maps/first").split("bd-docs-nav")[1].split("</nav>")[0]
    assert "number 2" in sidebar
    assert "10\N{NO-BREAK SPACE}min" in copy.text("maps/index")


COURSE = """# A course

Read it in order.

```{{chapter}}
```

```{{toctree}}
:hidden:

{}
```
"""
LESSON = """---
book:
  short: {name}
  kind: lesson{needs}
---

# The title of `{name}`

{text}

:::{{admonition}} Look it up
:class: seealso
{links}
:::
"""


def teach(book, *names, needs, links=None):
    """Write a course of lessons, with what some of them need and lead to."""
    book.write("docs/course/index.md", COURSE.format("\n".join(names)))
    for name in names:
        text = f"\n  needs: {needs[name]}" if name in needs else ""
        led = (links or {}).get(name, "Nothing.")
        lesson = LESSON.format(name=name, needs=text, text="word " * 400, links=led)
        book.write(f"docs/course/{name}.md", lesson)


def above(book, name):
    """What stands above the title of a page, in one line."""
    line = book.text(name).split('<p class="place">')[1].split("</p>")[0]
    return " ".join(line.split())


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course of four lessons, in the real theme."""
    book = Book(tmp_path_factory.mktemp("course"), conf="")
    needs = {"b": "[a]", "c": "[b, a]", "d": "[a, b, c]"}
    teach(book, "a", "b", "c", "d", needs=needs)
    book.index("course/index")
    built = book.build()
    assert built.code == 0, built.said
    return book


def test_above_a_lesson_stand_its_number_minutes_and_what_it_needs(course):
    first = '<a href="index.html">Lesson {} of 4</a> · 2 min'
    assert above(course, "course/a") == first.format(1)
    link = '<a href="{0}.html" title="The title of {0}">{1}</a>'
    a, b, c = (link.format(name, n) for n, name in enumerate("abc", 1))
    assert above(course, "course/b") == f"{first.format(2)} · needs: lesson {a}"
    assert above(course, "course/c").endswith(f" · needs: lessons {b} and {a}")
    assert above(course, "course/d").endswith(f" · needs: lessons {a}, {b} and {c}")
    assert above(course, "course/index") == "A chapter of 4 pages"


LED = {
    "b": "- [near](a.md), [the course](index.md)\n- [of *maps*](../maps/first.md#one)\n"
    "- [first](../index.md), [away](https://a.b/maps/second.md)",
    "c": "- [](/maps/index.md)\n- [of maps](../maps/first.md), [alone](/lone.md)",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A course whose lessons lead to pages outside of it, in the real theme."""
    book = Book(tmp_path_factory.mktemp("both"), conf="")
    book.write("docs/maps/index.md", CHAPTER)
    write(book, "maps/first", "one", "One")
    write(book, "maps/second", "two", "Two")
    write(book, "lone", "alone", "A page that stands alone")
    teach(book, "c", "a", "b", needs={}, links=LED)
    text = (book.docs / "course/a.md").read_text()
    link = "A link elsewhere: [two](../maps/second.md)."
    book.write("docs/course/a.md", text.replace(":::", f"{link}\n\n:::", 1))
    book.index("maps/index", "course/index", "lone")
    built = book.build()
    assert built.code == 0, built.said
    return book


def new_here(lesson, number):
    """The line that leads to a lesson from the folder of another chapter."""
    title = f"The title of {lesson}"
    link = f'<a href="../course/{lesson}.html" title="{title}">Lesson {number}</a>'
    return f" · New here? {link}"


def test_a_page_says_which_lesson_leads_to_it(both):
    assert above(both, "maps/first").endswith(f"1 min{new_here('c', 1)}")
    assert above(both, "maps/index") == f"A chapter of 2 pages{new_here('c', 1)}"
    lone = new_here("c", 1).replace("../", "")
    assert above(both, "lone") == f"1 min{lone}"


def test_only_what_the_box_leads_to_says_so_and_never_the_course_itself(both):
    for name in "maps/second", "course/a", "course/index":
        assert "New here?" not in above(both, name)
    assert 'class="place"' not in both.text("index")


def test_other_pages_follow_when_a_lesson_leads_to_them_no_more(both, tmp_path):
    copy = both.copied(tmp_path)
    links = {"a": "- [two](/maps/second.md)", "b": LED["b"]}
    teach(copy, "c", "a", "b", needs={}, links=links)
    built = copy.build()
    assert built.code == 0, built.said
    assert above(copy, "maps/first").endswith(new_here("b", 3))
    assert above(copy, "maps/second").endswith(new_here("a", 2))
    assert "New here?" not in above(copy, "lone") + above(copy, "maps/index")


def test_a_lesson_is_built_alone_without_those_it_needs(course, tmp_path):
    copy = course.copied(tmp_path)
    some = "include_patterns=index.md,course/b.md"
    built = copy.build("-D", some, "-D", "suppress_warnings=mystnb.nbcell,toc,ref,myst")
    assert built.code == 0, built.said


def test_lessons_are_numbered_anew_when_one_is_put_between(course, tmp_path):
    copy = course.copied(tmp_path)
    teach(copy, "a", "z", "b", "c", "d", needs={"b": "[a]", "d": "[b]"})
    built = copy.build()
    assert built.code == 0, built.said
    assert above(copy, "course/b").startswith('<a href="index.html">Lesson 3 of 5</a>')
    assert above(copy, "course/d").endswith(' title="The title of b">3</a>')
    assert "needs" not in above(copy, "course/c")


@pytest.mark.parametrize(
    ("needs", "says"),
    [
        ({"a": "[b]"}, "a: needs course/b, which is no lesson above it in its chapter"),
        ({"b": "[b]"}, "b: needs course/b, which is no lesson above it"),
        ({"b": "[nowhere]"}, "b: needs course/nowhere, which is no lesson above it"),
        ({"b": "[index]"}, "b: needs course/index, which is no lesson above it"),
        ({"b": "[plain]"}, "b: needs course/plain, which is no lesson above it"),
    ],
)
def test_a_lesson_that_needs_what_is_not_above_it_fails(book, needs, says):
    teach(book, "plain", "a", "b", needs=needs)
    book.write("docs/course/plain.md", "# Plain\n\nNo lesson.\n")
    book.index("course/index")
    built = book.build()
    assert built.code == 1
    assert says in built.said
    assert f"course/{says[0]}.md:5: WARNING" in built.said
    teach(book, "plain", "a", "b", needs={"b": "[a]"})
    book.write("docs/course/plain.md", "# Plain\n\nNo lesson.\n")
    assert book.build().code == 0


def test_a_list_of_pages_that_are_not_there_fails(book):
    book.write("docs/list.md", "# List\n\n```{chapter}\nmaps/third\n```\n")
    book.index("list")
    built = book.build()
    assert built.code == 1
    assert "{chapter}: ['maps/third'] are not all pages of the book" in built.said


def test_the_contents_are_chapters_in_the_order_of_reading(tmp_path):
    inside = {
        "index": ["two/index", "one/index", "words"],
        "one/index": ["b", "a", "deep/index"],
        "one/deep/index": ["c"],
        "two/index": ["a"],
    }
    pages = []
    for name in *inside, "words", "one/a", "one/b", "one/deep/c", "two/a", "nowhere":
        path = tmp_path / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        toctree = "\n".join(("```{toctree}", *inside.get(name, ()), "```"))
        path.write_text(f"# {name}\n\nText.\n\n{toctree if name in inside else ''}\n")
        pages.append(read(path, name))
    found = chapters.table_of_contents(pages, "index")
    assert [(chapter.name, [page.name for page in own]) for chapter, own in found] == [
        ("index", ["index", "words"]),
        ("two/index", ["two/index", "two/a"]),
        ("one/index", ["one/index", "one/b", "one/a"]),
        ("one/deep/index", ["one/deep/index", "one/deep/c"]),
    ]
    assert chapters.table_of_contents(pages, "not/there") == []


def test_a_cell_that_is_folded_and_a_listing_take_no_time(tmp_path):
    front = "---\nfile_format: mystnb\nkernelspec: {name: target}\n"
    front += "book: {kind: lesson, budget: 9}\n---\n\n# Title\n\n"
    code = "\n".join(["x = 1"] * 40)
    (tmp_path / "long.py").write_text("x = 1\n" * 400)
    folded = "```{code-cell}\n:tags: [hide-input]\n" + "y = 1\n" * 400 + "```\n"
    check = "```{code-cell}\n:check:\nassert x\n```\n"
    listing = "```{literalinclude} long.py\n```\n"
    path = tmp_path / "page.md"
    shown = f"{front}```{{code-cell}}\n{code}\n```\n\n"
    path.write_text("\n".join((shown, folded, listing, check)))
    assert chapters.reading_minutes(read(path, "page")) == 2


def test_code_takes_time_to_read_and_what_is_folded_takes_none(tmp_path):
    front = "---\nfile_format: mystnb\nkernelspec: {name: target}\n"
    front += "book: {kind: concept, budget: 9}\n---\n\n# Title\n\n"
    code = "\n".join(["x = 1"] * 60)
    check = "```{code-cell}\n:check:\n" + "assert x\n" * 400 + "```\n"
    path = tmp_path / "page.md"
    path.write_text(f"{front}```{{code-cell}}\n{code}\n```\n\n{check}")
    assert chapters.reading_minutes(read(path, "page")) == 3
