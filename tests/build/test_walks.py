"""After any edits, a build says and shows the same as one that begins from nothing.

Walks through edits are drawn at random.  A few are taken by default, and as many as the
environment variable BOOK_WALKS says; with 100 and more, pages run programs, too.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.builder import Builder
from tests.conftest import Book

WALKS = int(os.environ.get("BOOK_WALKS", "5"))
NAMES = ["a", "b", "deep/c"]
# What a page can consist of; PAGE stands for a page, perhaps another.
PARTS = [
    "## One\n\nWords.",
    "## Two\n\nWords.",
    "(label-HERE)=\n\n## Labelled\n\nWords.",
    "```{glossary}\nthing-HERE\n  It.\n```",
    "[](/PAGE.md)",
    "[words](/PAGE.md#one)",
    "[](#label-PAGE)",
    "{term}`thing-PAGE`",
    "{doc}`/PAGE`",
    "[no such](gone.md)",
    "```{no-such}\n```",
    "```no-lexer\nx\n```",
    "#### Too deep",
    "```{include} /included.txt\n```",
    "![A picture](/picture.svg)",
    "{download}`/picture.svg`",
    "::::{grid} 2\n:::{grid-item-card} Card\nWords.\n:::\n::::",
    "- ```{code-cell}\n  1\n  ```",
]
OPTIONS = ["", "-D html_title=x", "-D nitpicky=0"]
RUNS = """---
kernelspec: {{name: target}}
book: {{kind: concept, budget: 60}}
---

# Runs {}

```{{code-cell}}
from examples.reads import value

value()
```

```{{code-cell}}
:check:
assert value() != "wrong"
```
"""
READS = """from pathlib import Path


def value():
    return Path(__file__).with_name("data.txt").read_text()
"""
# A page is saved while a build is at work, where a file says what.
SAVES = """
def setup(app):
    def save(*_):
        wanted = Path(app.confdir) / "_build" / "save"
        if wanted.exists():
            name, text = wanted.read_text().split("\\n", 1)
            wanted.unlink()
            (Path(app.confdir) / name).write_text(text)
        return []
    app.connect("env-before-read-docs", save)
"""
PLAIN = """
html_theme, html_theme_options = "basic", {}
html_static_path, html_css_files, html_js_files = [], [], []
"""


def page_text(name: str, parts: list[tuple[str, str]], title: int) -> str:
    """A page of the drawn parts."""
    texts = [
        part.replace("HERE", name.replace("/", "-")).replace("/PAGE", f"/{other}")
        for part, other in parts
    ]
    body = "\n\n".join(text.replace("PAGE", "a") for text in texts)
    return f"# Page {name} {title}\n\nProse.\n\n{body}\n"


names, small = st.sampled_from(NAMES), st.integers(0, 2)
texts = st.lists(st.tuples(st.sampled_from(PARTS), names), max_size=4)
pages = st.tuples(names, texts, small)
edits = st.one_of(
    st.tuples(st.just("write"), pages),
    st.tuples(st.just("older"), pages),
    st.tuples(st.just("meanwhile"), pages),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("rename"), st.tuples(names, names)),
    st.tuples(st.just("include"), small),
    st.tuples(st.just("picture"), small),
    st.tuples(st.just("list"), st.lists(names, unique=True)),
    st.tuples(
        st.just("option"), st.sampled_from(["", "-D html_title=x", "-D nitpicky=0"])
    ),
    st.tuples(st.just("data"), st.sampled_from(["one", "two", "wrong"])),
    st.tuples(st.just("latin"), names),
    st.tuples(st.just("kill"), st.floats(0.1, 2)),
)


class Walk:
    """A small book, and who builds it."""

    def __init__(self, book: Book, builder: Builder):
        self.book, self.builder, self.option = book, builder, ""
        conf = book.docs / "conf.py"
        conf.write_text(conf.read_text() + SAVES)
        self.edit("include", 0)
        self.edit("picture", 0)
        for name in NAMES:
            self.edit("write", (name, [], 0))
        self.edit("list", NAMES)
        if WALKS >= 100:
            book.write("examples/reads.py", READS)
            self.edit("data", "one")
            book.write("docs/runs.md", RUNS.format(0))

    def path(self, name: str) -> Path:
        """The file of a page."""
        return self.book.docs / f"{name}.md"

    def edit(self, what: str, value) -> None:
        """Make one edit."""
        book = self.book
        if what in ("write", "older", "meanwhile"):
            name, parts, title = value
            text, path = page_text(name, parts, title), self.path(name)
            if what == "meanwhile":
                book.write("docs/_build/save", f"{name}.md\n{text}")
                self.build()
                return
            before = path.stat().st_mtime_ns if path.exists() else 10**18
            book.write(f"docs/{name}.md", text)
            if what == "older":
                os.utime(path, ns=(before - 10**10, before - 10**10))
        elif what == "delete":
            self.path(value).unlink(missing_ok=True)
        elif what == "rename" and self.path(value[0]).exists():
            self.path(value[0]).replace(self.path(value[1]))
        elif what == "include":
            book.write("docs/included.txt", f"Included words {value}, [](a.md).\n")
        elif what == "picture":
            book.write("docs/picture.svg", f"<svg><title>{value}</title></svg>")
        elif what == "list":
            book.index(*value, *(["runs"] if WALKS >= 100 else []))
        elif what == "option":
            self.option = value
        elif what == "data":
            book.write("examples/data.txt", value)
        elif what == "latin":
            self.path(value).write_bytes(b"# Ma\xdfe\n")
        elif what == "kill":
            self.build(killed=value)

    def build(self, killed: float | None = None) -> tuple[int, set[str]]:
        """Build: the exit status, and what is wrong."""
        log = self.book.root / "log"
        command = ["-W", "--keep-going", "-q", "-b", "html", *self.option.split()]
        asked = [*command, str(self.book.docs), str(self.book.html)]
        env = {**os.environ, "NO_COLOR": "1"}
        code = self.builder.build(asked, self.book.root, env, log, killed=killed)
        said = log.read_text()
        note(said)
        assert "Traceback" not in said
        return code, set(re.findall(r".*(?:WARNING|ERROR|CRITICAL): .*", said))

    def shown(self) -> dict[str, bytes]:
        """The files of the site, but for the record."""
        found = {}
        for path in sorted(self.book.html.rglob("*")):
            name = path.relative_to(self.book.html).as_posix()
            if path.is_file() and ".doctrees" not in name and name != "record.json":
                found[name] = path.read_bytes()
        return found

    def check(self) -> None:
        """Compare a build that goes on with one that begins from nothing."""
        made, aside = self.book.docs / "_build", self.book.root / "aside"
        went_on, shows = self.build(), self.shown()
        made.rename(aside)
        shutil.copytree(aside / "hardware", made / "hardware")
        began, would_show = self.build(), self.shown()
        assert went_on == began
        assert shows.keys() == would_show.keys()
        for name, content in shows.items():
            assert (
                content.decode(errors="replace").splitlines()
                == would_show[name].decode(errors="replace").splitlines()
            ), name
        shutil.rmtree(made)
        aside.rename(made)


@pytest.fixture(scope="module")
def builder():
    """A Python that builds."""
    builder = Builder()
    yield builder
    builder.close()


@settings(
    max_examples=WALKS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.lists(edits, min_size=1, max_size=5))
def test_a_build_after_any_edits_is_one_from_nothing(builder, walk):
    with tempfile.TemporaryDirectory() as folder:
        book = Walk(Book(Path(folder) / "book", PLAIN), builder)
        book.build()
        for number, (what, value) in enumerate(walk):
            book.edit(what, value)
            if number % 2:
                book.build()
        book.check()
