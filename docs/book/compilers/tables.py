"""What compilers said, in Markdown: tables, the lines that matter, and tabs.

Numbers have three digits and a unit.  Everything here is text from the facts of
`book.compilers.command`, and says nothing of its own.
"""

from __future__ import annotations

import re

from sphinx.locale import _


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
        often = _("in a loop, each ") if times is None else ""
        total = count * (times or 1)
        if total > 1:
            often += f"{total:,} × "
        what = _("**{collective}** of {bytes}, {devices}").format(
            collective=one["kind"], bytes=size(one["operand"]), devices=plain(_who(one))
        )
        lines.append(often + what)
    overlap = found["overlapped"]
    if overlap["started"]:
        said = _("{started} asynchronous, {beside} beside a product")
        counts = {"started": overlap["started"], "beside": overlap["beside work"]}
        lines.append(said.format(**counts))
    return lines or [_("nothing")]


def _who(one: dict) -> str:
    """Say which devices take part, such as "4 groups of 2, over inner"."""
    count, *more = map(int, re.findall(r"\d+", one["groups"]))
    if not more:
        who = _("{count:,} pairs").format(count=count)
    elif count == 1:
        who = _("all {count:,}").format(count=more[0])
    else:
        who = _("{count:,} groups of {each:,}").format(count=count, each=more[0])
    if not one["axes"]:
        return who
    return _("{devices}, over {axes}").format(devices=who, axes=one["axes"])


def plain(text: str) -> str:
    """Return text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#$~])", r"\\\1", text)


def memory(found: dict) -> list[str]:
    """Return, as Markdown, the memory of one device, and of how much it is."""
    if "does not fit" in found:
        why = re.sub(r"^RESOURCE_EXHAUSTED: (E\d+: )?", "", found["does not fit"])
        return [_("**does not fit**"), plain(why)]
    parts = {name: found[name] for name in ("arguments", "outputs", "temporaries")}
    parts["code"] = found["code"]
    total = sum(parts.values()) - found["aliased"]
    share = ""
    if available := found.get("available"):
        share = _(" of {available}, {percent:.3g} %").format(
            available=size(available), percent=100 * total / available
        )
    named = {
        "arguments": _("arguments"),
        "outputs": _("outputs"),
        "temporaries": _("temporaries"),
        "code": _("code"),
    }
    words = _(", ").join(f"{size(n)} {named[part]}" for part, n in parts.items() if n)
    return [f"{size(total)}{share}", words]


def table(rows: dict[str, dict]) -> str:
    """Return, as Markdown, a row of facts for each of some chips."""
    puts_in = _("collective, and the bytes that a device puts in")
    head = [_("compiled for"), puts_in, _("memory of a device"), _("flops")]
    written = [[[name] for name in head]]
    for says, found in rows.items():
        if "does not fit" in found:
            collectives = flops = ["–"]
        else:
            collectives = sends(found)
            flops = [count(found["flops"])] if "flops" in found else [_("not said")]
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
    said = _("From the program for {chip}:").format(chip=plain(says))
    return f"\n{said}\n\n~~~~text\n{text}\n~~~~\n"


def tabs(panels: dict[str, str]) -> str:
    """Return panels as the Markdown of tabs, which need no script."""
    items = "".join(
        f"::::{{tab-item}} {name}\n{panel}\n::::\n" for name, panel in panels.items()
    )
    return f":::::{{tab-set}}\n:class: compiled\n\n{items}:::::\n"
