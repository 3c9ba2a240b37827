"""Ask a compiled program for its temporaries, and set what it says in columns.

Use it: `temporaries(jax.vmap(f), xs)`, before a batch that may not fit.
"""

import jax


def temporaries(fn, *args):
    """Return how many bytes `fn` needs beside its arguments and its result.

    Nothing runs, and no array is made: `jax.ShapeDtypeStruct`s will do for `args`.
    """
    return jax.jit(fn).lower(*args).compile().memory_analysis().temp_size_in_bytes


def grid(texts, corner="rows at once"):
    """Return `{(column, row): text}` as lines of text; what is missing stays empty.

    >>> print(grid({("time", 8): "1 ms", ("bytes", 8): "64"}, corner="examples"))
    examples    time  bytes
    8           1 ms     64
    """
    columns, rows = (dict.fromkeys(key[k] for key in texts) for k in (0, 1))
    table = [[corner, *columns]]
    table += [[f"{row}", *(texts.get((c, row), "") for c in columns)] for row in rows]
    first, *others = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    lines = [
        line[0].ljust(first) + "".join(map(str.rjust, line[1:], others))
        for line in table
    ]
    return "\n".join(map(str.rstrip, lines))
