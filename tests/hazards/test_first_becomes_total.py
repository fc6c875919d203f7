"""A sum that began as its first summand, and that one read as the others are: however the sum is kept and made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example

from inplace_magic.hazards.stale import first_becomes_total as rule

from inplace_magic.hazards.stale import first_becomes_total

CODE = first_becomes_total.CODE

MADE = {
    "a branch": ("total = None", "if total is None:\n{0}total = x COPY\n{1}else:\n{0}total += x  # here"),
    "a choice": ("total = None", "total = x COPY if total is None else total.add_(x)  # here"),
    "the first one": ("total = xs[0] COPY", "pass\nfor x in xs[1:]:\n    total += x  # here"),
    "an iterator": ("it = iter(xs)\ntotal = next(it) COPY", "pass\nfor x in it:\n    total += x  # here"),
    "a key": ("t = {}", 'if "k" in t:\n{0}t["k"] += x  # here\n{1}else:\n{0}t["k"] = x COPY'),
    "a method": ("total = None", "if total is None:\n{0}total = x COPY\n{1}else:\n{0}total.add_(x)  # here"),
    "out": ("top = xs[0] COPY", "pass\nfor x in xs[1:]:\n    torch.maximum(top, x, out=top)  # here"),
    "a default": (
        "t, first = {}, True",
        't.setdefault("k", x COPY)\n{1}if not first:\n{0}t["k"] += x  # here\n{1}first = False',
    ),
    "reduce": (
        "import functools, operator",
        "pass\ntotal = functools.reduce(operator.iadd, [x COPY for x in xs])  # here",
    ),
}
READ = {
    "stacked": "torch.stack(xs).std(0)",
    "each by one line": "[x * 2 for x in xs]",
    "each as a number": "[x.sum().item() for x in xs]",
    "summed": "sum(xs)",
    "held against each other": "xs[0] - xs[1]",
}


def _program(made: tuple[str, str], read: str) -> str:
    start, adds = made
    loop = "for x in xs:\n    " + adds.format("        ", "    ")
    return f"""
xs = [torch.ones(2), torch.ones(2) * 2, torch.ones(2) * 3]
{start}
{loop}
print({read})
"""


@pytest.mark.parametrize("made", MADE)
def test_the_first_summand_is_told_however_the_sum_is_made(made: str, loaded_shell: Any, tmp_path: Path) -> None:
    _is_told(loaded_shell, tmp_path, _program(MADE[made], READ["stacked"]))


@pytest.mark.parametrize("read", READ)
def test_the_first_summand_is_told_however_it_is_read(read: str, loaded_shell: Any, tmp_path: Path) -> None:
    _is_told(loaded_shell, tmp_path, _program(MADE["a branch"], READ[read]))


def test_the_first_summand_is_told_where_a_meter_keeps_the_sum(loaded_shell: Any, tmp_path: Path) -> None:
    program = """
class Meter:
    def __init__(self):
        self.sum = None
    def update(self, value):
        if self.sum is None:
            self.sum = value COPY
        else:
            self.sum += value  # here
meter, log = Meter(), []
for x in (1.0, 2.0, 3.0):
    loss = torch.tensor([x])
    log.append(loss)
    meter.update(loss)
print(torch.cat(log))
"""
    _is_told(loaded_shell, tmp_path, program)


QUIET = {
    "nobody reads it as one of them": _program(MADE["a branch"], "total / len(xs)").replace(" COPY", ""),
    "the others are overwritten": _program(MADE["the first one"], "torch.stack(xs)")
    .replace(" COPY", "")
    .replace("print(", "for x in xs[1:]:\n    x.copy_(total)\nprint("),
    "what is added was computed": """
xs = [torch.ones(2), torch.ones(2)]
total = None
for x in xs:
    y = x * 2
    if total is None:
        total = y
    else:
        total += y
print(torch.stack(xs))
""",
    "each takes in the one before": """
xs = [torch.ones(2) for _ in range(4)]
for i in range(1, 4):
    xs[i] += xs[i - 1]
print(torch.stack(xs))
""",
    "layers that are kept and added to": """
outs, before = [], torch.ones(2)
for _ in range(3):
    h = before * 2
    h += before
    outs.append(h)
    before = h
print(torch.stack(outs))
""",
    "a short name for a state": """
class Body:
    def __init__(self):
        self.force = torch.zeros(2)
bodies = [Body(), Body()]
forces = {}
for i, body in enumerate(bodies):
    forces[i] = body.force
for i in forces:
    for push in torch.ones(2, 2):
        forces[i] += push
print([body.force / 2 for body in bodies])
""",
}


@pytest.mark.parametrize("program", QUIET)
def test_sums_that_take_nothing_from_anybody_are_quiet(program: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, QUIET[program])
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]


def test_the_fix_copies_the_first_summand(loaded_shell: Any, tmp_path: Path) -> None:
    program = _program(MADE["a branch"], READ["stacked"]).replace(" COPY", "")
    for hazard in told(loaded_shell, tmp_path, program).the(CODE):
        changed = [line.split() for line in hazard.diff.splitlines()[1:]]
        assert changed == [["-", "total", "=", "x"], ["+", "total", "=", "x.clone()"]]


def test_a_list_of_sums_is_told_by_whichever_rule(loaded_shell: Any, tmp_path: Path) -> None:
    """Two lists hold the first entry, which tells as much."""
    made = "t = []", "if t:\n{0}t[-1] += x  # here\n{1}else:\n{0}t.append(x)"
    for alarms in told(loaded_shell, tmp_path, _program(made, READ["stacked"])).alarms:
        assert len(alarms) == 1
        assert alarms[0][1].endswith("# here")


def _is_told(shell: Any, folder: Path, program: str) -> None:
    for hazard in told(shell, folder, program.replace(" COPY", "")).the(CODE):
        assert hazard.mutation is not None
        assert hazard.mutation.text.endswith("# here")
    assert told(shell, folder, program.replace(" COPY", ".clone()")).alarms == [[], []]


def test_the_page_is_true(loaded_shell: Any, tmp_path: Path) -> None:
    setup = """
from collections import namedtuple
Holding = namedtuple("Holding", "name values")
holdings = [Holding("ore", torch.ones(2)), Holding("tea", torch.ones(2)), Holding("ore", torch.ones(2) * 2)]
total = {}
"""
    told(loaded_shell, tmp_path, setup + example(rule, "Bad") + "\n").the(CODE)
    assert told(loaded_shell, tmp_path, setup + example(rule, "Good") + "\n").alarms == [[], []]
