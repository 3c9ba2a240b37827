"""Programs are compiled for every chip, and for the devices that are here."""

import json
import os
from types import SimpleNamespace

import jax
import pytest

from book.compilers import chips
from book.compilers.command import ask, chips_for, here, main, names_chips, programs
from book.compilers.facts import digest
from book.compilers.store import kept
from tests.devices import eight


@pytest.mark.parametrize("program", programs())
def test_every_program_that_lowers_is_compiled_for_every_chip(program):
    found = json.loads(kept(program).read_text(encoding="utf-8"))
    ways = set(programs()[program])
    parts = {"tpu": False} if names_chips(program) else {"tpu": False, "gpu": True}
    assert set(found) == set(parts)
    for part, gpu in parts.items():
        assert set(found[part]) - {"made with"} == ways, f"nox -s compile -- {program}"
        for way in ways:
            wanted = [chip.name for chip in chips_for(program, way, gpu)]
            assert list(found[part][way]) == wanted, way


def test_a_program_may_name_its_chips():
    name = "scale/weak_scaling"
    assert names_chips(name) and not names_chips("spine")
    sizes = [chip.devices for chip in chips_for(name, "lower")]
    assert sizes == [8, 64, 512, 4096, 8960]
    assert chips_for(name, "lower", gpu=True) == []


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


def test_a_v4_is_had_as_its_users_have_it_one_device_a_chip():
    v4, v3 = (next(c for c in chips.EIGHT if c.name[:2] == n) for n in ("v4", "v3"))
    assert v4.cores == "megacore" and v4.says == "TPU v4, 8 chips"
    assert v3.cores is None and v3.says.endswith("4 chips of 2 cores")
    found = json.loads(kept("spine").read_text(encoding="utf-8"))["tpu"]["lower"]
    assert found[v4.name]["available"] > 2**34  # of both cores


def test_devices_stand_as_make_mesh_puts_them(monkeypatch):
    from jax.experimental import topologies

    asked, given = [], [*range(8)]

    def topology(**how):
        asked.append(how)
        return SimpleNamespace(devices=given)

    def make_mesh(shape, names, devices):
        return shape, names, devices

    monkeypatch.setattr(topologies, "get_topology_desc", topology)
    monkeypatch.setattr(jax, "make_mesh", make_mesh)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    for chip in (*chips.EIGHT, chips.H100):
        assert chip.mesh() == ((8,), ("rows",), given)
    by_name = {how["topology_name"]: how for how in asked}
    assert by_name["v4:2x2x2"]["chip_config_name"] == "megacore"
    assert "chip_config_name" not in by_name["v5e:2x4"]


def test_an_unknown_program_is_refused_before_anything_is_compiled(capsys):
    with pytest.raises(SystemExit):
        main(["shard_map/nowhere"])
    assert "no program with a `lower`: shard_map/nowhere" in capsys.readouterr().err


def test_this_builds_own_devices_are_asked_too():
    eight()  # or this is skipped
    (found,) = here(["spine"])["spine"].values()
    (sent,) = found["collectives"]
    assert sent["kind"] == "all-reduce" and sent["operand"] == 16
    assert found["arguments"] >= 16 <= found["outputs"]  # a TPU pads them


def test_what_is_known_is_lowered_and_not_compiled_again():
    mesh = jax.make_mesh((8,), ("rows",), devices=eight())
    first = ask("spine", "lower", chips.EIGHT[0], mesh, 2**30, known={})
    assert first["devices"] == 8 and first["collectives"]
    told = first | {"collectives": "as they were"}
    assert ask("spine", "lower", chips.EIGHT[0], mesh, 2**30, told) is told
    for change in ({"lowered": "other code"}, {"lowered": None}):
        again = ask("spine", "lower", chips.EIGHT[0], mesh, 2**30, told | change)
        assert again["collectives"] == first["collectives"]
        assert again["lowered"] == first["lowered"]


def test_other_code_and_another_program_have_another_digest(tmp_path):
    one, program = jax.jit(lambda x: x + 1).lower(1.0), tmp_path / "program.py"
    program.write_text('EFFORT = "O0"')
    before = digest(one, program)
    assert digest(one, program) == before
    assert digest(jax.jit(lambda x: x + 2).lower(1.0), program) != before
    program.write_text('EFFORT = "O1"')
    assert digest(one, program) != before
