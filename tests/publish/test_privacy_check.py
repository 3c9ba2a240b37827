"""No built page holds a path of this machine, or asks another host for a file."""

import pytest

from book.publish.privacy_check import requests


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


def test_a_page_that_asks_another_host_fails_the_build(book):
    asks = '<img alt="A logo." src="https://cdn.example/logo.png">'
    book.page("asking", "assert True", prose=asks)
    built = book.build()
    assert built.code != 0
    assert "asking.html asks another host for https://cdn.example" in built.said


def test_a_page_with_a_path_of_this_machine_fails_the_build(book):
    book.page("local", "assert True", prose=f"Look into `{book.root}/examples`.")
    built = book.build()
    assert built.code != 0
    assert "local.html holds " in built.said
