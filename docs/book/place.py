"""Where a page stands: its short title, its chapter, its place there, its minutes.

A chapter is a page with a table of contents.  The sidebar, and the links to the page
before and after, say the short title that front matter gives (`short`); the title says
it in full on the page itself, in other pages' links to it, and in the search.  A lesson
says its number among the lessons of its chapter, and those that it `needs`, which stand
above it there.  A page that a lesson's box *Look it up* leads to says which lesson that
is, for whoever is new to the subject.
"""

from __future__ import annotations

import posixpath
import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.pages import Page, Problem

WORDS, LINES = 200, 20  # that one reads in a minute: of prose, and of code
LESSON, LOOK_UP = "lesson", "Look it up"
_LINK = re.compile(r"\]\(([^()\s#]+\.md)(?:#[^()\s]*)?\)")


class Chapter(SphinxDirective):
    """`{chapter}`: titles and minutes of the chapter's pages, or of those named."""

    has_content = True
    app: Sphinx

    def run(self) -> list[nodes.Node]:
        """Write a list of links and let the page's own parser read it."""
        pages = {page.name: page for page in self.app.book.pages()}
        named = [*self.content] or pages[self.env.docname].toctree
        if not named or not set(named) <= set(pages):
            raise self.error(f"{{chapter}}: {named} are not all pages of the book")
        text = text_of([*pages.values()], named)
        return self.parse_text_to_nodes(text, offset=self.content_offset)


def text_of(pages: list[Page], named: list[str]) -> str:
    """The list of the pages that are `named`, in Markdown."""
    known = {page.name: page for page in pages}
    return "\n".join(listed(known[name]) for name in named)


def listed(page: Page) -> str:
    """A line of a numbered list, which leads to the page."""
    return f"1. [](/{page.name}.md), {minutes(page)}\N{NO-BREAK SPACE}min"


def minutes(page: Page) -> int:
    """How long one reads a page, without what is folded away; at least one minute."""
    words = sum(len(text.split()) for _, text in page.prose)
    cells = [cell for cell in page.cells if cell.visible]
    shown = [cell.source for cell in cells if "hide-input" not in cell.tags]
    lines = sum(bool(line.strip()) for source in shown for line in source.splitlines())
    return max(1, round(words / WORDS + lines / LINES))


def contents(pages: list[Page], root: str) -> list[tuple[Page, list[Page]]]:
    """Each chapter, and its pages after itself, in the order of the contents.

    The first is the front page, with those that are in no other chapter.
    """
    known = {page.name: page for page in pages}
    found = []

    def add(name: str) -> None:
        chapter = known.pop(name)
        inside = [known[name] for name in chapter.toctree if name in known]
        leaves = [known.pop(page.name) for page in inside if not page.toctree]
        found.append((chapter, [chapter, *leaves]))
        for page in inside:
            if page.name in known:
                add(page.name)

    if root in known:
        add(root)
    return found


def told(pages: list[Page], root: str) -> dict[str, dict]:
    """What each page says of its place, by its name; the front page says none."""
    known = {page.name: page for page in pages}
    here = [page for page in pages if page.name != root]
    found = {page.name: {"minutes": minutes(page)} for page in here}
    for chapter in here:
        inside = [name for name in chapter.toctree if name in known]
        if inside:
            found[chapter.name] |= {"pages": len(inside)}
        called = {"chapter": chapter.name, "called": chapter.short or chapter.title}
        for number, name in enumerate(inside, 1):
            found[name] |= called | {"number": number, "of": len(inside)}
        lessons = [name for name in inside if known[name].kind == LESSON]
        for number, name in enumerate(lessons, 1):
            found[name] |= {"lesson": number, "lessons": len(lessons)}
    for page in here:
        needed = [name for _, name in page.needs if "lesson" in found.get(name, {})]
        if needed:
            found[page.name]["needs"] = [_lesson(known[n], found) for n in needed]
    lessons = [page for page in here if "lesson" in found[page.name]]
    for page in sorted(lessons, key=lambda page: found[page.name]["lesson"]):
        for name in boxed(page):
            if name in found and not _together(found[page.name], found[name], name):
                found[name].setdefault("new", _lesson(page, found))
    return found


def boxed(page: Page) -> list[str]:
    """The pages that the box *Look it up* of a lesson leads to."""
    boxes = [fence for fence in page.fences if fence.name == "admonition"]
    lines = [line for box in boxes if box.argument == LOOK_UP for line in box.body]
    return looked_up(page, "\n".join(lines))


def _together(lesson: dict, place: dict, name: str) -> bool:
    """Whether the page called `name`, which is at `place`, is of a lesson's chapter."""
    return lesson["chapter"] in (name, place.get("chapter"))


def _lesson(page: Page, places: dict[str, dict]) -> dict:
    """What a link to a lesson says of it."""
    number = places[page.name]["lesson"]
    return {"page": page.name, "number": number, "title": plain(page.title)}


def plain(title: str) -> str:
    """A title without the marks of Markdown."""
    return re.sub(r"[`*]|\\(?=\W)", "", title)


def looked_up(page: Page, text: str) -> list[str]:
    """The pages of the book that links in a `text` of `page` lead to."""
    folder = posixpath.dirname(page.name)
    links = [link for link in _LINK.findall(text) if "://" not in link]
    paths = (posixpath.normpath(posixpath.join("/", folder, link)) for link in links)
    return [path.strip("/").removesuffix(".md") for path in paths]


def misplaced(pages: list[Page]) -> list[Problem]:
    """A problem for each lesson that a page needs and that is not above it.

    A lesson whose chapter is left out, as where some pages are tried, has no order.
    """
    known = {page.name: page for page in pages}
    found = []
    for page in pages:
        lists = [one.toctree for one in pages if page.name in one.toctree]
        for line, name in page.needs if lists else ():
            above = any(_above(name, page.name, toctree) for toctree in lists)
            other = known.get(name)
            if not above or (other and other.kind != LESSON):
                why = f"needs {name}, which is no lesson above it in its chapter"
                found.append(Problem(page.name, why, line))
    return found


def _above(first: str, second: str, toctree: list[str]) -> bool:
    """Whether a toctree has both pages, in this order."""
    if first not in toctree or second not in toctree:
        return False
    return toctree.index(first) < toctree.index(second)


def check(app: Sphinx, env, *_changes: object) -> list[str]:
    """Lessons that need what comes later fail."""
    for problem in misplaced(app.book.pages()):
        app.book.fail(problem)
    return []


def again(app: Sphinx, env, *_changes: object) -> list[str]:
    """Lists of a chapter's pages are read again when a title or a length changes."""
    pages = app.book.pages()
    listed = [(page.name, page.title, minutes(page)) for page in pages]
    before, env.book_listed = getattr(env, "book_listed", None), listed
    lists = [p.name for p in pages if any(f.name == "chapter" for f in p.fences)]
    return [] if listed == before else lists


def shorten(app: Sphinx, env) -> list[str]:
    """Put the short titles into the sidebar; all pages show it, so all may change."""
    pages = app.book.pages()
    for page in pages:
        links = env.tocs[page.name].findall(nodes.reference) if page.short else ()
        for link in links:
            if not link["anchorname"]:
                link.children = [nodes.Text(page.short)]
                link.children[0].parent = link
    shown = {page.name: (page.short or page.title, page.toctree) for page in pages}
    before, env.book_sidebar = getattr(env, "book_sidebar", None), shown
    places = told(pages, app.config.root_doc)
    was, env.book_places = getattr(env, "book_places", {}), places
    if shown != before:
        return sorted(env.found_docs)
    return sorted(n for n in env.found_docs if was.get(n) != places.get(n))


def context(app: Sphinx, name, template, context, doctree) -> None:
    """Hand the template what stands above the title, and the neighbours' names."""
    context["place"] = app.env.book_places.get(name)
    _, *beside = app.builder.relations.get(name, (None, None, None))
    for which, other in zip(("prev", "next"), beside, strict=True):
        page = other and app.book.state(other).page
        if context.get(which) and page and page.short:
            context[which] = {**context[which], "title": page.short}
