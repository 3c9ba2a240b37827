"""What compilers may say of a program, for tests."""

FOUND = {
    "available": 16_000_000_000,
    "collectives": [
        {
            "kind": "all-gather",
            "operand": 4_194_304,
            "groups": "4 x 2",
            "axes": "inner",
            "times": 3,
            "count": 2,
        }
    ],
    "overlapped": {"started": 2, "beside work": 1},
    "arguments": 2_000_000_000,
    "outputs": 500,
    "aliased": 0,
    "temporaries": 2_000_000_000,
    "code": 0,
    "flops": 17_185_112_064,
    "estimated seconds": 5.86e-05,
    "hlo": [],
}

REFUSED = {
    "available": 16_000_000_000,
    "does not fit": "RESOURCE_EXHAUSTED: E1000: Out: 36G exceeds <15G>.",
}
