"""An output that is typed by hand is found."""

from tests.house import typed_outputs
from tests.house.conftest import ABOVE, TABLE, breaks

BAD_PAGES = {
    typed_outputs.no_typed_outputs: [
        (ABOVE, "x  # -> (16,)\n```", "an output is typed: # -> (16,)"),
        (ABOVE, "x.shape  # prints (16,)\n```", "an output is typed: # prints"),
        (ABOVE, "x  # Array([1., 2.])\n```", "an output is typed: # Array"),
        (TABLE, "It shows ShardedDeviceArray([1.]).", "typed into the text"),
        (TABLE, "```\n16\n```", "a fence of plain text is never run"),
        (TABLE, "```python\nf()\n```", "a fence of python is never run"),
    ],
}
BAD_PROGRAMS = {
    typed_outputs.outputs_are_doctests: [
        ("equal = np", "# prints True\n    equal = np", "an output is typed: # prints"),
        ("on one device.", "Array([1]).", "an output is typed, not a doctest"),
    ],
}


test_a_rule_objects = breaks(pages=BAD_PAGES, programs=BAD_PROGRAMS)
