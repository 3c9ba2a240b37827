"""What only one compiler chose is found, and nothing else."""

import pytest

from tests.house import compiler_choices
from tests.house.conftest import ABOVE, PAGE, breaks, change

BAD_PAGES = {
    compiler_choices.what_a_compiler_chose_is_guarded: [
        (ABOVE, f"{code}\n{ABOVE}", f"`{code.splitlines()[-1].strip()}` asserts for")
        for code in (
            "assert sends(f.lower(x))[0].kind == 'all-reduce'",
            "assert all((one.operand == 4 for one in sends(f.lower(x))))",
            "[sent] = sends(f.lower(x))",
            "found = sends(f.lower(x))\nassert len(found) == 1",
            "def kinds(f):\n    return sends(f)\nassert kinds(f) == {1}",
            "one = jax.jit(f).lower(x).compile()\nassert 'fusion' in one.as_text()",
            "held = f.lower(x).compile().memory_analysis()\nassert held.temp == 8",
            "if x:\n    for one in sends(f):\n        assert one.moved < 9",
        )
    ],
}


test_a_rule_objects = breaks(pages=BAD_PAGES)


@pytest.mark.parametrize(
    "held",
    [
        'if jax.default_backend() == "cpu":\n    [one] = sends(f)\n    assert one == 4',
        'cpu = jax.default_backend() == "cpu"\nassert len(sends(f)) == 1 or not cpu',
        "assert sends(f) == [] and sends(g) != []",
        "assert x.any()\nassert sends(f)",
        "assert 'stablehlo' in jax.jit(f).lower(x).as_text()",
        "found = sends(f)\nfound = [2]\nassert found == [2]",
        "one = jax.jit(f).lower(x).compile()\nassert one(x) == 2",
    ],
)
def test_what_all_compilers_agree_on_needs_no_guard(small, held):
    page = change(small, PAGE, ABOVE, f"{held}\n{ABOVE}").page("shard_map/varying")
    assert compiler_choices.what_a_compiler_chose_is_guarded(page) == []
