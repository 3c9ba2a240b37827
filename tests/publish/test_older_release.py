"""A page of an older release of JAX says so, and leads to the newest."""

import os
import re

import pytest

from book.publish import older_release

PAGE = """<head>{head}</head><body><article class="bd-article"><h1>It</h1></article>"""
OWN = '<link rel="canonical" href="https://elsewhere.example/vmap/axes.html" />'


@pytest.fixture(params=["", OWN], ids=["without an address", "with its own"])
def site(tmp_path, request):
    """A site with two pages of an older book, one of which the newest has no more."""
    for name in "index", "vmap/axes", "jax-0.9.1/vmap/axes", "jax-0.9.1/gone":
        path = tmp_path / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(head=request.param))
    return tmp_path


def told(site, name, address="https://book.example/"):
    """The text of an older page, the pages named as canonical, and where it leads."""
    older_release.tell(site, "jax-0.9.1", "0.9.1", "0.12.0", address)
    text = (site / name).read_text()
    canonical = re.findall(
        r'rel="canonical" href="(.*?)"', text.partition("</head>")[0]
    )
    [link] = re.findall(r'<a href="(.*?)"', text.partition("<article")[2])
    return text, canonical, os.path.normpath((site / name).parent / link)


def test_an_old_page_leads_to_the_newest_of_its_name(site):
    text, canonical, link = told(site, "jax-0.9.1/vmap/axes.html")
    assert canonical == ["https://book.example/vmap/axes.html"]
    assert link == str(site / "vmap/axes.html")
    assert text.index("JAX 0.9.1") < text.index("JAX 0.12.0") < text.index("<h1>")


def test_a_page_that_is_gone_leads_to_the_front_page(site):
    _, canonical, link = told(site, "jax-0.9.1/gone.html")
    assert (canonical, link) == ([], str(site / "index.html"))


def test_without_an_address_no_page_is_named_as_canonical(site):
    _, canonical, link = told(site, "jax-0.9.1/vmap/axes.html", address="")
    assert (canonical, link) == ([], str(site / "vmap/axes.html"))


def test_the_newest_is_let_be(site):
    before = (site / "vmap/axes.html").read_text()
    told(site, "jax-0.9.1/vmap/axes.html")
    assert (site / "vmap/axes.html").read_text() == before
