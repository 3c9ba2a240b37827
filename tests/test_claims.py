"""Every claim about an old document has a verdict, and a proof that can fail."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import jax
import pytest

from book.draw.claims import SLUGS
from examples.evidence import timeline
from examples.evidence.then_and_now import (
    HOLDS,
    KINDS,
    Claim,
    answers_everywhere,
    claim,
    run,
    verdicts,
)

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("article", "notebook", "question", "tutorial", "video")
MODULES = {
    name: importlib.import_module(f"examples.evidence.{name}") for name in DOCUMENTS
}
CLAIMS = {name: getattr(module, name.upper()) for name, module in MODULES.items()}
ALL = [
    pytest.param(one, id=f"{name}-{number}")
    for name, claims in CLAIMS.items()
    for number, one in enumerate(claims, 1)
]


LATEST = max((0, 12, 0), tuple(map(int, jax.__version__.split(".")[:3])))


def release(text):
    """Return a release of JAX as numbers: "0.8.0" as (0, 8, 0)."""
    return tuple(map(int, text.split(".")))


def complaints(one):
    """Return what is wrong with a claim, in sentences."""
    found = []
    if not (one.says or "").strip().endswith("."):
        found.append("it says nothing: the proof has no docstring that is a sentence")
    if one.verdict.kind not in KINDS:
        found.append(f"{one.verdict.kind!r} is no verdict")
    elif one.verdict.kind == "changed":
        since = re.fullmatch(r"(in|by) JAX (\d+\.\d+\.\d+)", one.verdict.detail)
        if not since or release(since[2]) > LATEST:
            found.append(f"{one.verdict.detail!r} is no release up to this one")
    elif one.verdict.kind == "cannot be checked here":
        if not re.match(r"because \w+ \w+", one.verdict.detail):
            found.append("it does not say why it cannot be checked")
    elif one.verdict.detail:
        found.append(f"{one.verdict.kind!r} needs no detail")
    return found + proof_complaints(one)


def proof_complaints(one):
    """Return what is wrong with the proof of a claim, in sentences."""
    found = []
    if not callable(one.proof):
        return ["it has no proof"]
    body = ast.parse(textwrap.dedent(inspect.getsource(one.proof))).body[0].body
    # On the top level of the body, so that no branch can lead around it.
    asserts = [node.test for node in body if isinstance(node, ast.Assert)]
    if not any(any(isinstance(n, ast.Name) for n in ast.walk(t)) for t in asserts):
        found.append("its proof asserts nothing")
    if not isinstance(body[-1], ast.Return) or body[-1].value is None:
        found.append("its proof does not end with what happens now")
    return found


@pytest.mark.parametrize("one", ALL)
def test_a_claim_has_a_verdict_and_a_proof_that_asserts(one):
    assert complaints(one) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_claim_is_left_out_and_none_is_made_twice(name):
    made = [x for x in vars(MODULES[name]).values() if isinstance(x, Claim)]
    assert [one.says for one in made] == [one.says for one in CLAIMS[name]]
    assert len({one.says for one in made}) == len(made)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_page_runs_and_draws_each_document(name):
    text = (ROOT / "docs/evidence/then_and_now.md").read_text(encoding="utf-8")
    assert re.search(rf"^{name} = run\({name.upper()}\b", text, re.MULTILINE)
    assert f'ledger("{name}", {name.upper()}, {name})' in text


def test_every_verdict_can_be_chosen():
    assert tuple(SLUGS)[: len(KINDS)] == KINDS
    total = [one for claims in CLAIMS.values() for one in claims]
    assert min(verdicts(total).values()) > 0
    assert sum(verdicts(total).values()) == len(total) > 60


def test_the_order_of_the_notebook_is_the_one_that_the_other_page_shows():
    module = MODULES["notebook"]
    timed = [
        one for one in CLAIMS["notebook"] if one.proof.__name__.startswith("times")
    ]
    printed = [one.then.split()[0] for one in timed]
    assert printed == [str(ms) for ms in module.NOTEBOOK_MS.values()]


def test_what_is_not_so_stops_the_run():
    with pytest.raises(AssertionError, match="is not 'holds' on 1 device"):
        run((answers_everywhere,))


# ---- the timeline ----------------------------------------------------------------

ERAS = {
    "until-2022": timeline.UNTIL_2022,
    "until-2024": timeline.UNTIL_2024,
    "until-2026": timeline.UNTIL_2026,
}
ENTRIES = [one for entries in ERAS.values() for one in entries]
SINCE = re.compile(r"(in|by) JAX (\d+\.\d+\.\d+), (20\d\d)")


@pytest.mark.parametrize("one", ENTRIES, ids=lambda one: one.proof.__name__)
def test_an_entry_has_a_release_and_a_proof_that_asserts(one):
    assert proof_complaints(one) == []
    assert one.says.endswith(".") and one.then
    since = SINCE.fullmatch(one.verdict.detail)
    assert since and release(since[2]) <= LATEST
    body = inspect.getsource(one.proof)
    if one.verdict.kind == "gone":  # what is gone is looked for
        assert re.search(r"missing\(|raised\(|not in ", body)
    else:
        assert one.verdict.kind in {"changed", "here"}


def test_the_entries_stand_in_order_and_none_is_left_out():
    made = [x for x in vars(timeline).values() if isinstance(x, Claim)]
    assert made == ENTRIES
    since = [SINCE.fullmatch(one.verdict.detail) for one in ENTRIES]
    releases = [release(found[2]) for found in since]
    years = [int(found[3]) for found in since]
    assert releases == sorted(releases) and years == sorted(years)
    for era, entries in ERAS.items():
        last = SINCE.fullmatch(entries[-1].verdict.detail)[3]
        assert int(last) <= int(era.removeprefix("until-"))


def test_the_page_runs_and_draws_each_era():
    text = (ROOT / "docs/evidence/timeline.md").read_text(encoding="utf-8")
    for era in ERAS:
        name = era.replace("-", "_").upper()
        assert f"= run({name})" in text and f'ledger("{era}", {name}' in text


def test_what_is_looked_for_can_be_found():
    assert timeline.missing("jax.no_such_map", "jax.experimental.no_such_module.map")
    for path in ("jax.pmap", "jax.experimental.mesh_utils", "jax.lax.psum"):
        assert not timeline.missing(path)


# ---- each complaint, provoked ----------------------------------------------------


def silent():
    """It says nothing of now."""
    assert HOLDS


def hopeful(given):
    """It asserts nothing."""
    return "now"


def careless(given):
    """It asserts in a branch that may not be taken."""
    if given:
        assert given
    return "now"


def constant(given):
    """It asserts what cannot fail."""
    assert True
    return "now"


def fine(given):
    """It asserts, and says what happens now."""
    assert given
    return "now"


def wordless(given):
    assert given
    return "now"


BAD = {
    "does not end with what happens now": claim(HOLDS)(silent),
    "asserts nothing": claim(HOLDS)(hopeful),
    "its proof asserts nothing": claim(HOLDS)(careless),
    "proof asserts nothing": claim(HOLDS)(constant),
    "says nothing": claim(HOLDS)(wordless),
    "no proof": Claim("It has none.", "", HOLDS, None),
    "is no verdict": claim(HOLDS._replace(kind="perhaps"))(fine),
    "needs no detail": claim(HOLDS._replace(detail="in JAX 0.8.0"))(fine),
    "no release": claim(HOLDS._replace(kind="changed", detail="lately"))(fine),
    "up to this one": claim(HOLDS._replace(kind="changed", detail="in JAX 99.0.0"))(
        fine
    ),
    "say why": claim(HOLDS._replace(kind="cannot be checked here"))(fine),
}


@pytest.mark.parametrize("says", BAD)
def test_a_bad_claim_is_complained_of(says):
    assert any(says in sentence for sentence in complaints(BAD[says]))


def test_a_good_claim_is_not():
    assert complaints(claim(HOLDS)(fine)) == []


def test_a_proof_that_says_nothing_of_now_stops_the_run():
    with pytest.raises(AssertionError, match="says nothing of now"):
        run((claim(HOLDS)(silent),))
