"""What compilers say is kept beside each program, and what is stale is named."""

import copy
import json

import pytest

from book.compilers import chips
from book.compilers.ask import (
    EXAMPLES,
    compare,
    differences,
    here,
    kept,
    left_over,
    main,
    programs,
    wants_large,
    write,
    written,
)

SAID = {
    "tpu": {
        "made with": {"jax": "1", "libtpu": "2"},
        "lower": {
            "v5e:2x4": {
                "collectives": [{"kind": "all-reduce", "operand": 16, "axes": None}],
                "temporaries": 0,
                "hlo": ["psum = f32[1,4] all-reduce(x)"],
                "compile seconds": 0.2,
            }
        },
    }
}


@pytest.mark.parametrize("program", programs())
def test_every_program_that_lowers_is_compiled_for_every_chip(program):
    found = json.loads(kept(program).read_text(encoding="utf-8"))
    ways = set(programs()[program])
    large = chips.LARGE if wants_large(program) else ()
    tpus = {chip.name for chip in (*chips.EIGHT, *large)}
    for part, wanted in (("tpu", tpus), ("gpu", {chips.H100.name})):
        assert set(found[part]) - {"made with"} == ways, f"nox -s compile -- {program}"
        for way in ways:
            assert set(found[part][way]) == wanted, way


def test_the_model_fits_everywhere_once_it_is_split():
    text = kept("scale/hardware_you_do_not_have").read_text(encoding="utf-8")
    whole, split = (json.loads(text)["tpu"][way] for way in ("lower", "lower_split"))
    fit = ["does not fit" not in found for found in whole.values()]
    assert any(fit) and not all(fit)  # as the page says
    assert not any("does not fit" in found for found in split.values())


def test_a_ring_hides_its_hops_behind_products():
    found = json.loads(kept("patterns/ring_matmul").read_text(encoding="utf-8"))
    newest = found["tpu"]["lower"]["tpu7x:2x2x1"]["overlapped"]
    assert newest["started"] == newest["beside work"] == 7
    assert found["gpu"]["lower"]["h100:1x1x8"]["overlapped"]["beside work"] > 0


def test_no_file_is_left_over(tmp_path):
    assert left_over(programs()) == []
    write("gone", SAID, tmp_path)
    assert left_over({}, tmp_path) == [
        "examples/gone.compiled.json: belongs to no program with a `lower`"
    ]


def test_what_is_written_reads_the_same_and_a_collective_is_a_line(tmp_path):
    text = written(SAID)
    assert json.loads(text) == SAID
    assert sum("all-reduce" in line for line in text.splitlines()) == 2
    write("one", SAID, tmp_path)
    assert compare("one", SAID, tmp_path) == []


def test_the_other_compilers_part_is_kept(tmp_path):
    write("one", SAID, tmp_path)
    write("one", {"gpu": {"lower": {}}}, tmp_path)
    assert compare("one", SAID, tmp_path) == []


def test_what_differs_is_named_and_time_may_differ(tmp_path):
    write("one", SAID, tmp_path)
    now = copy.deepcopy(SAID)
    chip = now["tpu"]["lower"]["v5e:2x4"]
    chip["compile seconds"] = 9.9
    assert compare("one", now, tmp_path) == []
    chip["temporaries"] = 512
    chip["collectives"][0]["operand"] = 32
    first, second = compare("one", now, tmp_path)
    place = "examples/one.compiled.json: tpu, lower, v5e:2x4"
    assert second == f"{place}, temporaries: was 0, is 512"
    assert first.startswith(f"{place}, collectives: was [") and "32" in first


def test_what_is_new_gone_or_missing_is_named(tmp_path):
    assert list(differences({"a": 1}, {"b": 1})) == ["a: is gone", "b: is new"]
    assert compare("one", SAID, tmp_path) == ["examples/one.compiled.json: is missing"]


def test_an_unknown_program_is_refused_before_anything_is_compiled(capsys):
    with pytest.raises(SystemExit):
        main(["shard_map/nowhere"])
    assert "no program with a `lower`: shard_map/nowhere" in capsys.readouterr().err


def test_this_builds_own_devices_are_asked_too():
    (found,) = here(["spine"])["spine"].values()
    (sent,) = found["collectives"]
    assert sent["kind"] == "all-reduce" and sent["operand"] == 16
    assert found["arguments"] == found["outputs"] == 16


def test_the_examples_are_where_they_are_looked_for():
    assert (EXAMPLES / "spine.py").is_file()
