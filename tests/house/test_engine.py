"""The engine keeps its rules, and they object when they are broken."""

from pathlib import Path

import pytest

from tests.house import engine

ENGINE = Path(__file__).parents[2] / "docs" / "book"
MODULES = [p.relative_to(ENGINE).as_posix() for p in sorted(ENGINE.rglob("*.py"))]


@pytest.mark.parametrize("name", [m for m in MODULES if "template/" not in m])
def test_the_engine_is_documented_and_knows_nothing_of_the_content(name):
    text = (ENGINE / name).read_text(encoding="utf-8")
    found = engine.engine_rules(text, f"docs/book/{name}")
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('"""M."""\nfrom examples.spine import center\n', "imports examples.spine"),
        ("x = 1\n", "the module has no docstring"),
    ],
)
def test_a_curious_module_of_the_engine_is_an_error(text, says):
    [found] = engine.engine_rules(text, "docs/book/x.py")
    assert says in found
