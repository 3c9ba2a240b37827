"""Write bytes, seconds and other numbers as text, to three digits that count."""

import math


def bytes_text(count):
    """Return a number of bytes as text; 1 kB is 1000 bytes.

    >>> bytes_text(512), bytes_text(32_900), bytes_text(16e9)
    ('512 B', '32.9 kB', '16.0 GB')
    """
    return _scaled(count, {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}, f"{count} B")


def seconds_text(time):
    """Return a time in seconds, positive, as text.

    >>> seconds_text(12.34), seconds_text(0.00025), seconds_text(3e-8)
    ('12.3 s', '250 µs', '30.0 ns')
    """
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    return _scaled(time, units, f"{count_text(time / 1e-9)} ns")


def count_text(number):
    """Return a number, which is not negative, as text.

    >>> count_text(0.5), count_text(3.14159), count_text(123456)
    ('0.500', '3.14', '123,456')
    """
    after = 2 - math.floor(math.log10(number)) if number else 0
    return f"{number:,.{max(0, after)}f}"


def _scaled(value, units, otherwise):
    for unit, size in units.items():
        if value >= size:
            return f"{count_text(value / size)} {unit}"
    return otherwise
