"""What compilers said, in Markdown: tables, the lines that matter, and tabs.

Numbers have three digits and a unit.  Everything here is text from the facts of
`book.compilers.command`, and says nothing of its own.
"""

from __future__ import annotations

import re


def size(count: float) -> str:
    """Return a number of bytes as text; 1 kB is 1000 bytes, as in the whole book."""
    return _scaled(count, {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1})


def count(number: float) -> str:
    """Return a count as text, such as 17.2 G."""
    return _scaled(number, {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1}).strip()


def _scaled(count: float, units: dict[str, float]) -> str:
    unit = next((u for u, one in units.items() if count >= one), [*units][-1])
    return f"{count / units[unit]:,.3g}".replace("e+03", ",000") + f" {unit}"


def sends(found: dict) -> list[str]:
    """Return, as Markdown, what one device sends, a line for each collective."""
    lines = []
    for one in found["collectives"]:
        count, times = one["count"], one["times"]
        often = "in a loop, each " if times is None else ""
        total = count * (times or 1)
        if total > 1:
            often += f"{total:,} × "
        what = f"**{one['kind']}** of {size(one['operand'])}"
        lines.append(f"{often}{what}, {plain(_who(one))}")
    overlap = found["overlapped"]
    if overlap["started"]:
        beside = f", {overlap['beside work']} beside a product"
        lines.append(f"{overlap['started']} asynchronous{beside}")
    return lines or ["nothing"]


def _who(one: dict) -> str:
    """Say which devices take part, such as "4 groups of 2, over inner"."""
    count, *more = map(int, re.findall(r"\d+", one["groups"]))
    if not more:
        who = f"{count:,} pairs"
    elif count == 1:
        who = f"all {more[0]:,}"
    else:
        who = f"{count:,} groups of {more[0]:,}"
    return f"{who}, over {one['axes']}" if one["axes"] else who


def plain(text: str) -> str:
    """Return text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#$~])", r"\\\1", text)


def memory(found: dict) -> list[str]:
    """Return, as Markdown, the memory of one device, and of how much it is."""
    if "does not fit" in found:
        why = re.sub(r"^RESOURCE_EXHAUSTED: (E\d+: )?", "", found["does not fit"])
        return ["**does not fit**", plain(why)]
    parts = {name: found[name] for name in ("arguments", "outputs", "temporaries")}
    parts["code"] = found["code"]
    total = sum(parts.values()) - found["aliased"]
    share = ""
    if available := found.get("available"):
        share = f" of {size(available)}, {100 * total / available:.3g} %"
    words = ", ".join(f"{size(n)} {name}" for name, n in parts.items() if n)
    return [f"{size(total)}{share}", words]


def table(rows: dict[str, dict]) -> str:
    """Return, as Markdown, a row of facts for each of some chips."""
    puts_in = "collective, and the bytes that a device puts in"
    head = ["compiled for", puts_in, "memory of a device", "flops"]
    written = [[[name] for name in head]]
    for says, found in rows.items():
        if "does not fit" in found:
            collectives = flops = ["–"]
        else:
            collectives = sends(found)
            flops = [count(found["flops"])] if "flops" in found else ["not said"]
        written.append([[plain(says)], collectives, memory(found), flops])
    text = ":::{list-table}\n:header-rows: 1\n:stub-columns: 1\n\n"
    for row in written:
        for number, cell in enumerate(row):
            lines = "\\\n    ".join(line for line in cell if line)
            text += f"{' ' if number else '*'} - {lines}\n"
    return text + ":::\n"


def lines(says: str, found: dict) -> str:
    """Return, as Markdown, the lines of the compiled program that matter."""
    if not found.get("hlo"):
        return ""
    text = "\n".join(found["hlo"])
    return f"\nFrom the program for {plain(says)}:\n\n~~~~text\n{text}\n~~~~\n"


def tabs(panels: dict[str, str]) -> str:
    """Return panels as the Markdown of tabs, which need no script."""
    items = "".join(
        f"::::{{tab-item}} {name}\n{panel}\n::::\n" for name, panel in panels.items()
    )
    return f":::::{{tab-set}}\n:class: compiled\n\n{items}:::::\n"
