"""An axis with a name of its own is found."""

from tests.house import axis_names
from tests.house.conftest import ABOVE, breaks

BAD_PAGES = {
    axis_names.page_axes: [
        ('((8,), ("data",)', '((8,), ("x",)', "an axis is called 'x'"),
        ('P("data"))   ', 'P(None, ("data", "i")))   ', "an axis is called 'i'"),
        (ABOVE, 'jax.lax.psum(x, "foo")\n```', "an axis is called 'foo'"),
        (ABOVE, 'jax.vmap(abs, axis_name="b")(x)\n```', "an axis is called 'b'"),
    ],
}
BAD_PROGRAMS = {
    axis_names.program_axes: [
        ('ROWS = P("rows")', 'ROWS = P("devices")', "an axis is called 'devices'"),
        ('x.min(), "rows"', 'x.min(), "i"', "an axis is called 'i'"),
    ],
}


test_a_rule_objects = breaks(pages=BAD_PAGES, programs=BAD_PROGRAMS)
