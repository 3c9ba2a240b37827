"""Show what the compilers make of a program: on these devices, and on those not here.

Promise: every number comes from a compiler. Those of this build's own devices are made
by this build; those of TPUs and H100s are read from `examples/NAME.compiled.json`,
which `nox -s compile` writes, and checks. Nothing shown here ran anywhere.

    ```{compiled} shard_map/split_inner
    :way: lower_scatter
    ```
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from book import targets
from book.compilers.chips import CHIPS
from book.imports import NotPython, imported
from book.pages import Problem
from book.run.cache import write_whole

ENGINE = Path(__file__).parents[2], Path(__file__).parents[3]  # `book`, `examples`


def size(count: float) -> str:
    """Return a number of bytes as text; 1 kB is 1000 bytes, as in the whole book."""
    return _scaled(count, {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1})


def count(number: float) -> str:
    """Return a count as text, such as 17.2 G."""
    return _scaled(number, {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1}).strip()


def seconds(count: float) -> str:
    """Return a time as text, such as 58.6 µs."""
    return _scaled(count, {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9})


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
        often += f"{total:,} × " if total > 1 else ""
        what = f"**{one['kind']}** of {size(one['operand'])}"
        lines.append(f"{often}{what}, {_plain(_who(one))}")
    overlap = found["overlapped"]
    if overlap["started"]:
        beside = f", {overlap['beside work']} beside a product"
        lines.append(f"{overlap['started']} asynchronous{beside}")
    return lines or ["nothing"]


def _who(one: dict) -> str:
    """Say which devices talk, such as "4 groups of 2, over inner"."""
    count, *more = map(int, re.findall(r"\d+", one["groups"]))
    if not more:
        who = f"{count:,} pairs"
    else:
        who = f"all {more[0]:,}" if count == 1 else f"{count:,} groups of {more[0]:,}"
    return who + (f", over {one['axes']}" if one["axes"] else "")


def _plain(text: str) -> str:
    """Return text as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#$~])", r"\\\1", text)


def memory(found: dict) -> list[str]:
    """Return, as Markdown, the memory of one device, and of how much it is."""
    if "does not fit" in found:
        why = re.sub(r"^RESOURCE_EXHAUSTED: (E\d+: )?", "", found["does not fit"])
        return ["**does not fit**", _plain(why)]
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
    puts_in = "collective, and what a device puts in"
    head = ["compiled for", puts_in, "memory of a device", "flops"]
    timed = any("estimated seconds" in found for found in rows.values())
    head += ["estimate"] if timed else []
    written = [[[name] for name in head]]
    for says, found in rows.items():
        row = [[_plain(says)]]
        if "does not fit" in found:
            row += [["–"], memory(found)]
        else:
            row += [sends(found), memory(found)]
            row += [[count(found["flops"]) if "flops" in found else "not said"]]
            estimate = found.get("estimated seconds")
            row += [[seconds(estimate) if estimate else "not said"]] if timed else []
        written.append(row + [["–"]] * (len(head) - len(row)))
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
    return f"\nFrom the program for {_plain(says)}:\n\n~~~~text\n{text}\n~~~~\n"


def tabs(panels: dict[str, str]) -> str:
    """Return panels as the Markdown of tabs, which need no script."""
    items = "".join(
        f"::::{{tab-item}} {name}\n{panel}\n::::\n" for name, panel in panels.items()
    )
    return f":::::{{tab-set}}\n:class: compiled\n\n{items}:::::\n"


class Compiled(SphinxDirective):
    """What the compilers make of one way to lower the program that is named."""

    required_arguments = 1
    option_spec: ClassVar = {"way": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Show this build's devices, then TPUs, then H100s."""
        book, program = self.env.app.book, self.arguments[0]
        way = self.options.get("way", "lower")
        if book.state(self.env.docname).problems:
            return []  # one message is enough
        kept = book.root / "examples" / f"{program}.compiled.json"
        here = _here_path(book.made, program)
        for path in (kept, here):
            self.env.note_dependency(str(path))
        try:
            now = json.loads(here.read_text(encoding="utf-8"))["found"][way]
            known = json.loads(kept.read_text(encoding="utf-8"))
            found = {part: known[part][way] for part in ("tpu", "gpu")}
        except (OSError, KeyError):
            raise self.error(
                f"it is not known what the compilers make of {way} of {program}: "
                f"nox -s compile compile_gpu -- {program}"
            ) from None
        hardware = book.kernels["mesh-of-eight"]
        name = "CPU" if hardware.simulated else hardware.kind
        made = {part: known[part]["made with"] for part in found}
        eight = f"8 × {hardware.kind}"
        panels = {
            f"{name} ×8, this build": table({eight: now}) + lines(eight, now),
            "TPU generations": self.part(found["tpu"], made["tpu"]),
            "H100 ×8": self.part(found["gpu"], made["gpu"]),
        }
        return self.parse_text_to_nodes(tabs(panels), offset=self.content_offset)

    def part(self, found: dict, made: dict) -> str:
        """Return the Markdown of one tab: a table, a few lines, and who said so."""
        rows = {CHIPS[chip].says: facts for chip, facts in found.items()}
        one = next((chip for chip in found if chip.startswith("v5p")), [*found][-1])
        shown = CHIPS[one].says
        compiler = " and ".join(f"{name} {number}" for name, number in made.items())
        said = f"Compiled for these chips by {_plain(compiler)}; it did not run."
        if any("estimated seconds" in facts for facts in found.values()):
            said += " FLOPs and time count one loop iteration and no communication."
        return f"{table(rows)}{lines(shown, rows[shown])}\n{said}\n"


def _here_path(made: Path, program: str) -> Path:
    return made / "compiled" / f"{program}.json"


def _kept_key(path: Path) -> str | None:
    """What the file at `path` was made for; None where there is none, or no such."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["key"]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def compile_here(app: Sphinx, env: BuildEnvironment, *_changes: object) -> list[str]:
    """Compile what pages show for this build's devices; name the pages to read."""
    book, hardware = app.book, app.book.kernels["mesh-of-eight"]
    users: dict[str, list[str]] = {}
    for page in book.pages():
        for fence in page.fences:
            if fence.name == "compiled":
                users.setdefault(fence.argument, []).append(page.name)
    for path in set((book.made / "compiled").rglob("*.json")):
        if path not in {_here_path(book.made, program) for program in users}:
            path.unlink()
    stale = {}
    for program in sorted(users):
        source = book.root / "examples" / f"{program}.py"
        if not source.is_file():
            continue  # the directive says so, with its line
        module = "examples." + program.replace("/", ".")
        digest = hashlib.sha256(hardware.fingerprint.encode())
        try:
            files = imported(f"import {module}, book.compilers.ask", book.roots)
        except NotPython as error:
            for name in users[program]:
                book.fail(Problem(name, str(error)))
            continue
        for path in sorted(files):
            digest.update(path.read_bytes())
        path, key = _here_path(book.made, program), digest.hexdigest()
        if _kept_key(path) != key:
            stale[program] = key
    if not stale:
        return []
    done = subprocess.run(
        [sys.executable, "-m", "book.compilers.ask", "--here", *stale],
        env=targets.environment(hardware.target, *book.roots, *ENGINE),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        for name in {name for program in stale for name in users[program]}:
            book.fail(Problem(name, f"what it shows does not compile: {last}"))
        return []
    found = json.loads(done.stdout.strip().splitlines()[-1])
    for program, key in stale.items():
        kept = json.dumps({"key": key, "found": found[program]})
        write_whole(_here_path(book.made, program), kept)
    return sorted({name for program in stale for name in users[program]})
