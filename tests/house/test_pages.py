"""Each rule for every page objects when it is broken."""

from tests.house import pages
from tests.house.conftest import TABLE, breaks

FIGURE = 'shards(x, alt="Eight devices; each holds two of sixteen numbers.")'
PLOT = "from book.draw import lines"
BAD_PAGES = {
    pages.it_has_a_short_title: [
        ("  short: ", "  # ", "no `short` in its front matter"),
    ],
    pages.its_short_title_fits: [
        ("  short: ", "  short: a title that is rather long, ", "26 fit on a line"),
    ],
    pages.pictures_have_words: [
        (FIGURE, "shards(x)", "`shards(...)` has no alt"),
        (FIGURE, 'shards(x, alt=" ")', "`shards(...)` has no alt"),
        (FIGURE, f"{PLOT}\nlines({{}}, x='rows', y='B')", "`lines(...)` has no alt"),
        (TABLE, "![](a.svg)", "an image has no alternative text"),
        (TABLE, "```{image} a.svg\n:width: 9\n```", "an image has no :alt:"),
    ],
    pages.page_is_written: [(TABLE, "TODO", "a TODO is left")],
}


test_a_rule_objects = breaks(pages=BAD_PAGES)
