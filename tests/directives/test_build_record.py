"""Each build writes down what it verified, and on what."""

from datetime import UTC, datetime, timedelta

import pytest

PAGES = {"kernel", "devices", "executed", "ran", "seconds"}
PAGES |= {"cells", "checks", "assertions", "snippets"}


@pytest.fixture(scope="module")
def built(shared):
    """A book of one page with cells, and one without."""
    shared.page(
        "counted",
        "x = [1, 2]\nassert x\nassert len(x) == 2",
        ":tags: [remove-input]\nprint('drawn')",
        ":check:\nimport numpy\nassert x[0] == 1\nnumpy.testing.assert_equal(x[1], 2)",
        ':raises: "IndexError: list index"\nx[2]',
        kernel="mesh-of-eight",
    )
    shared.write("docs/words.md", "# Words\n\nOnly words.\n")
    shared.index("counted", "words")
    result = shared.build()
    assert result.code == 0, result.said
    return shared


def test_the_schema_is_stable(built):
    record = built.record()
    assert {k: type(v) for k, v in record.items()} == {
        "jax": str,
        "jaxlib": str,
        "python": str,
        "target": str,
        "platform": str,
        "device_kind": str,
        "device_count": int,
        "built": str,
        "pages": dict,
    }
    assert set(record["pages"]["counted"]) == PAGES


def test_what_ran_is_counted(built):
    import jax

    record, page = built.record(), built.record()["pages"]["counted"]
    assert (record["jax"], record["target"]) == (jax.__version__, "cpu")
    assert (record["platform"], record["device_count"]) == ("cpu", 8)
    assert (page["kernel"], page["devices"]) == ("mesh-of-eight", "simulated")
    assert (page["cells"], page["checks"]) == (4, 1)
    assert (page["assertions"], page["snippets"]) == (5, 2)
    assert page["seconds"] > 0
    now = datetime.now(UTC)
    for moment in (record["built"], page["ran"]):
        assert now - datetime.fromisoformat(moment) < timedelta(minutes=10)


def test_a_page_without_cells_is_not_in_it(built):
    assert set(built.record()["pages"]) == {"counted"}
