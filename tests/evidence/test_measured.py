"""What is measured of a machine becomes one record, and the record a table."""

import json

import jax
import pytest

from examples.evidence.measured import (
    SMALL,
    file_name,
    main,
    measure,
    real_records,
    rounded,
    table,
)


@pytest.fixture(scope="module")
def record():
    return rounded(measure(SMALL, say=lambda line: None))


def test_a_record_says_what_was_measured_and_on_what(record):
    assert record["device_kind"] == jax.devices()[0].device_kind
    assert record["training"]["losses"][1] < record["training"]["losses"][0]
    rates = [one["flops"] for one in record["products"].values()]
    assert min([*rates, record["copy"], *record["vmap"].values()]) > 0
    assert bool(record["collectives"]) == (jax.device_count() > 1)


def test_the_command_writes_a_record_without_a_name_of_the_machine(tmp_path, capsys):
    main(tmp_path)
    [path] = tmp_path.iterdir()
    written = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == file_name(written)
    assert str(path) in capsys.readouterr().out
    of_the_machine = {"memory", "copy", "products", "vmap", "collectives", "training"}
    of_software = {"jax", "jaxlib", "python", "platform", "day"}
    kind = {"device_kind", "device_count"}
    assert written.keys() == of_the_machine | of_software | kind


def test_records_of_cpus_are_left_out_and_others_become_columns(record, tmp_path):
    h100 = record | {
        "platform": "gpu",
        "device_kind": "NVIDIA H100 80GB HBM3",
        "training": record["training"] | {"utilisation": 0.4, "peak bytes": 3e10},
    }
    other = record | {"platform": "gpu", "device_kind": "a chip that nobody knows"}
    for name, one in (("a", record), ("b", h100), ("c", other)):
        (tmp_path / f"{name}.json").write_text(json.dumps(one), encoding="utf-8")
    found = real_records(tmp_path)
    assert found == [h100, other]
    lines = table(found).splitlines()
    assert "NVIDIA H100" in lines[0] and "that nobody knows" in lines[0]
    assert any("utilisation | 40%" in line and line.endswith("– |") for line in lines)
    assert len({line.count("|") for line in lines}) == 1


def test_without_a_record_the_page_says_so(tmp_path):
    assert "Nobody has sent a record" in table(real_records(tmp_path))
