"""No published page holds a path of this machine, or asks another host for a file."""

import pytest

from book.publish.assemble import assemble
from book.publish.privacy_check import NotPrivate, requests


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        "<img alt='' src='//cdn.example/x.png'>",
        '<link href="https://fonts.example/a.css" rel="stylesheet">',
        '<link rel="preconnect" href="https://fonts.example">',
        "body { background: url(https://cdn.example/x.png) }",
        '@import "https://cdn.example/x.css";',
    ],
)
def test_what_a_browser_would_fetch_from_elsewhere_is_seen(text):
    assert len(requests(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://docs.jax.dev">JAX</a>',
        '<script src="_static/book.js"></script>',
        '<link rel="canonical" href="https://book.example/">',
        "url(data:image/png;base64,AAAA)",
    ],
)
def test_links_and_files_of_the_site_are_let_be(text):
    assert requests(text) == []


@pytest.fixture
def published(book, tmp_path):
    """Build the book and publish it; the folder of the site."""

    def publish():
        built = book.build()
        assert built.code == 0, built.said
        site = tmp_path / "site"
        assemble(site, [book.html])
        return site

    return publish


def test_a_book_with_outputs_and_figures_is_published(book, published):
    draw = ":tags: [remove-input]\nfrom IPython.display import HTML\n"
    draw += """HTML('<svg viewBox="0 0 9 9"><rect width="9" height="9"/></svg>')"""
    book.page("figure", draw, prose="[Elsewhere](https://docs.jax.dev).")
    book.page("printing", "import sys\nprint(sys.version)")
    assert (published() / "figure.html").is_file()


def test_a_page_that_asks_another_host_is_not_published(book, published, tmp_path):
    asks = '<img alt="A logo." src="https://cdn.example/logo.png">'
    book.page("asking", "assert True", prose=asks)
    with pytest.raises(
        NotPrivate, match=r"asking\.html asks another host for https://c"
    ):
        published()
    assert not (tmp_path / "site").exists()


def test_a_page_with_a_path_of_this_machine_is_not_published(book, published, tmp_path):
    book.page("local", "assert True", prose=f"Look into `{book.root}/examples`.")
    with pytest.raises(NotPrivate) as error:
        published()
    told = str(error.value).splitlines()
    assert all(" holds /" in line for line in told), told
    found = {line.partition(" ")[0] for line in told}
    assert found >= {"local.html", "local.md", "local.ipynb", "local.py"}
    assert not (tmp_path / "site").exists()
