"""Read from the text of a compiled program what runs beside each collective.

A collective that is one instruction runs alone, because the instructions of a device
run one after another. XLA writes one beside which others can run in three ways:

- as two instructions, such as `all-gather-start` and `all-gather-done`;
- as `call-start` and `call-done` of a computation for another core of the chip;
- as `async-collective-start` and `-done`, with the steps between them in fusions that
  compute something else, too.
"""

import re
from collections import Counter
from collections.abc import Callable

KINDS = "all-reduce|all-gather|all-to-all|reduce-scatter|collective-permute"
COMPUTATION = re.compile(r"(?:ENTRY )?%(\S+) \(.*-> .*\{$")
COLLECTIVE = re.compile(rf" ({KINDS})(?:-start)?\(")
PRODUCT = re.compile(r' (?:convolution|dot)\(|custom_call_target="\w*(?:gemm|matmul)')
BODY = re.compile(r"body=%([\w.-]+)")
CALLED = re.compile(r"(?:calls|to_apply)=%([\w.-]+)")


def beside(text: str, loops_only: bool = False) -> dict[str, int]:
    """Count the collectives of a compiled program, in its text, by what is beside them.

    A key is a kind and "alone", "started" (with no product before the wait) or "beside
    a product". What stands in a loop counts once; `loops_only` leaves out the rest.
    """
    program = computations(text)
    lines = [line for some in program.values() for line in some]
    called = {name for line in lines for name in CALLED.findall(line)}
    bodies = {name for line in lines for name in BODY.findall(line)}
    counts: Counter[str] = Counter()
    for name in bodies if loops_only else program.keys() - called:
        counts.update(_found(program[name], program))
    return dict(sorted(counts.items()))


def computations(text: str) -> dict[str, list[str]]:
    """Return the instructions of each computation of a program, in order, by name."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            lines = found[match[1]] = []
        elif " = " in line:
            line = re.sub(r", (metadata|backend_config)=\{.*", "", line)
            lines.append(line.strip().removeprefix("ROOT "))
    return found


def _found(lines: list[str], program: dict[str, list[str]]) -> list[str]:
    """Return a key for each collective of one computation."""
    keys = []
    for at, line in enumerate(lines):
        kinds = [
            m[1] for x in _with_called(line, program) if (m := COLLECTIVE.search(x))
        ]
        later_step = (
            re.match(r"\S+-(done|update)", line) or "async_collective_fu" in line
        )
        if not kinds or later_step:
            continue
        kind = "reduce-scatter" if "%all-reduce-scatter" in line else kinds[0]
        end = _wait(lines, at)
        if end is None:
            keys.append(f"{kind} alone")
        elif any(map(multiplies(program), lines[at + 1 : end])):
            keys.append(f"{kind} beside a product")
        else:
            keys.append(f"{kind} started")
    return keys


def multiplies(program: dict[str, list[str]]) -> Callable[[str], bool]:
    """Return a function: whether an instruction of `program` has a matrix product."""
    return lambda line: any(map(PRODUCT.search, _with_called(line, program)))


def _with_called(line: str, program: dict[str, list[str]]) -> list[str]:
    """Return an instruction, and those of the computations that it calls."""
    return [line, *(x for name in CALLED.findall(line) for x in program.get(name, []))]


def _wait(lines: list[str], start: int) -> int | None:
    """Return the line that waits for what the one at `start` starts, if it does."""
    name = lines[start].split(" = ")[0]
    if "-start" not in name:
        return None
    wait, passed_on = re.sub(r"\.\d+$", "", name).replace("-start", "-done"), {name}
    for at in range(start + 1, len(lines)):
        result, _, rest = lines[at].partition(" = ")
        if passed_on & set(re.findall(r"%[\w.-]+", rest)):
            if result.startswith(wait):
                return at
            passed_on.add(result)
    return None


def excerpt(text: str) -> list[str]:
    """Return the lines of loops with a collective or a product, shortened."""
    program = computations(text)
    found = []
    waits = re.compile(rf"%(?:{KINDS}|async-collective)\S*-(?:done|update)\S* = ")
    for name in re.findall(r"body=%([\w.-]+)", text):
        for line in program[name]:
            called = _with_called(line, program)
            told = any(COLLECTIVE.search(x) or PRODUCT.search(x) for x in called)
            if told or waits.match(line):
                found.append(_shortened(line))
    return found


def _shortened(line: str) -> str:
    """Return an instruction without layouts and attributes, and its first result."""
    line = re.sub(r"(?<=[\])])\{[^{}]*\}|/\*.*?\*/", "", line)
    line = re.sub(r", (?:channel_id|kind|control-predecessors)=.*", "", line)
    line = re.sub(r", (?:frontend_attributes|async_execution_thread)=.*", "", line)
    name, _, rest = line.partition(" = ")
    shape, operation = re.findall(r"^(\(.*?\)|\S+) ([a-z-]+\(.*)$", rest)[0]
    if len(shape) > 40:
        shape = f"{shape[:24]}…"
    if len(operation) > 60:
        operation = f"{operation[:59]}…"
    return f"{name} = {shape} {operation}".replace("%", "")
