"""Each rule for every program objects when it is broken."""

from tests.house import programs
from tests.house.conftest import breaks

BAD_PROGRAMS = {
    programs.everything_is_documented: [
        (
            "def numbers():",
            "class More:\n    pass\n\n\ndef numbers():",
            "`More` has no",
        ),
        ('"""Return sixteen whole numbers, float32 (16,)."""', "", "`numbers` has no"),
    ],
    programs.no_type_comments: [
        (
            "lowest = lax",
            "# float32[2]: a type\n        lowest = lax",
            "nothing verifies",
        ),
    ],
    programs.content_imports_pictures_only: [
        ("import jax\n", "import jax\nfrom book.pages import read\n", "of the engine"),
    ],
    programs.program_is_written: [("sixteen whole", "TODO", "a TODO is left")],
}


test_a_rule_objects = breaks(programs=BAD_PROGRAMS)
