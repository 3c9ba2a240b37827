"""What compilers said is kept beside each program, and what is stale is named."""

import copy
import json

from book.compilers.command import programs
from book.compilers.store import (
    EXAMPLES,
    compare,
    differences,
    left_over,
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


def test_the_examples_are_where_they_are_looked_for():
    assert (EXAMPLES / "spine.py").is_file()
