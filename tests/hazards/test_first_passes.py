"""A value to begin with that the first pass of a loop writes, and the next passes do not: whoever keeps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

CODE = "initial-value-written"

KEPT = {
    "an attribute": ("class Net:\n    h0 = None\nnet = Net()\nnet.h0 = torch.zeros(2)", "xs", "h = net.h0"),
    "a buffer": ('net = nn.Module()\nnet.register_buffer("h0", torch.zeros(2))', "xs", "h = net.h0"),
    "an entry": ('net = {"h0": torch.zeros(2)}', "xs", 'h = net["h0"]'),
    "an entry of a list": ("starts, k = [torch.zeros(2), torch.ones(2)], 0", "xs", "h = starts[k]"),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass Net:\n    h0: object\nnet = Net(torch.zeros(2))",
        *("xs", "h = net.h0"),
    ),
    "a default": ("", "xs, h=torch.zeros(2)", "pass"),
    "a view": ("starts = torch.zeros(3, 2)", "xs", "h = starts[0]"),
    "under a condition": ("h0 = torch.zeros(2)", "xs, h=None", "if h is None:\n        h = h0"),
}
FLOWING = {
    "augmented": ("h += x  # here", "h = torch.tanh(h)"),
    "methods": ("h.mul_(0.5).add_(x)  # here", "h = h.tanh()"),
    "an element": ("h[0] += x[0]  # here", "h = torch.tanh(h) * 2"),
    "out": ("torch.add(h, x, out=h)  # here", "h = h / h.norm()"),
    "a function": ("pass", "h = cell(h, x)"),
}
HELPER = """
def cell(h, x):
    h *= 0.5  # here
    return torch.tanh(h + x)
"""


def _program(kept: tuple[str, str, str], flowing: tuple[str, str], end: str = "pass") -> str:
    start, parameters, begin = kept
    first, second = flowing
    return f"""{HELPER}{start}
def run({parameters}):
    {begin}
    for x in xs:
        {first}
        {second}
    {end}
    return h
xs = torch.ones(3, 2)
one = run(xs)
other = run(xs)
print(one - other)
"""


@pytest.mark.parametrize("kept", KEPT)
def test_a_start_that_the_first_pass_writes_is_told_whoever_keeps_it(
    kept: str, loaded_shell: Any, tmp_path: Path
) -> None:
    _is_told(loaded_shell, tmp_path, _program(KEPT[kept], FLOWING["augmented"]))


@pytest.mark.parametrize("flowing", FLOWING)
def test_a_start_that_the_first_pass_writes_is_told_however_it_flows(
    flowing: str, loaded_shell: Any, tmp_path: Path
) -> None:
    found = _is_told(loaded_shell, tmp_path, _program(KEPT["an attribute"], FLOWING[flowing]))
    assert all("`net.h0`" in message for message in found)


@pytest.mark.parametrize("second", ["h += 0.25", "h *= 0.5"])
def test_a_large_start_is_told_where_a_second_write_takes_nothing_back(
    second: str, loaded_shell: Any, tmp_path: Path
) -> None:
    flowing = ("h += 0.5\n        y = h * 2", f"{second}\n        h = y - h")
    found = told(loaded_shell, tmp_path, _program(("start = torch.ones(100, 2)", "xs", "h = start"), flowing))
    assert found.codes == [{CODE}, {CODE}]


def test_a_start_is_told_of_a_loop_outside_any_function(loaded_shell: Any, tmp_path: Path) -> None:
    program = """
h0 = torch.zeros(2)
ends = []
for sequence in torch.ones(2, 3, 2):
    h = h0
    for x in sequence:
        h += x  # here
        h = torch.tanh(h)
    ends.append(h)
print(ends[0] - ends[1])
"""
    _is_told(loaded_shell, tmp_path, program)


QUIET = {
    "a copy": (("start = torch.zeros(2)", "xs", "h = start.clone()"), FLOWING["augmented"], "pass"),
    "the end is put back": (
        ('state = {"h": torch.zeros(2)}', "xs", 'h = state["h"]'),
        *(FLOWING["augmented"], 'state["h"] = h'),
    ),
    "the end is copied back": (("start = torch.zeros(2)", "xs", "h = start"), FLOWING["augmented"], "start.copy_(h)"),
    "it is filled first": (
        ("start = torch.zeros(2)", "xs", "start.zero_()\n    h = start"),
        *(FLOWING["augmented"], "pass"),
    ),
    "it is moved in each pass": (
        ("start = torch.zeros(2)", "xs", "h = 0"),
        ("h = start", "h += x\n        h = torch.tanh(h)"),
        "pass",
    ),
    "the write is taken back": (
        ("start = torch.ones(2)", "xs", "h = start"),
        ("h += 0.5\n        y = h * 2", "h -= 0.5\n        h = y - h"),
        "pass",
    ),
    "the write of a large value is taken back": (
        ("start = torch.ones(100, 2)", "xs", "h = start"),
        ("h += 0.5\n        y = h * 2", "h -= 0.5\n        h = y - h"),
        "pass",
    ),
    "a large value is scaled back": (
        ("start = torch.ones(100, 2)", "xs", "h = start"),
        ("h *= 2\n        y = h * 2", "h /= 2\n        h = y - h"),
        "pass",
    ),
    "a state is read as another tensor": (
        ("start = torch.zeros(2)", "xs", "h = start"),
        ("h.mul_(0.9).add_(x, alpha=0.1)", "pass"),
        "h = h / 0.1",
    ),
}


@pytest.mark.parametrize("program", QUIET)
def test_a_state_and_a_start_that_is_kept_whole_are_quiet(program: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, _program(*QUIET[program]))
    assert found.alarms == [[], []], [report.to_text() for report in found.reports]


def test_each_of_several_states_that_a_loop_goes_through_is_quiet(loaded_shell: Any, tmp_path: Path) -> None:
    program = """
states = {name: torch.zeros(2) for name in "abc"}
def step(t):
    for name in states:
        m = states[name]
        m.mul_(0.9).add_(1.0, alpha=0.1)
        m = m / (1 - 0.9 ** t)
        print(m.sum())
for t in range(1, 4):
    step(t)
"""
    assert told(loaded_shell, tmp_path, program).alarms == [[], []]


def _is_told(shell: Any, folder: Path, program: str) -> list[str]:
    found = told(shell, folder, program)
    for hazard in found.the(CODE):
        assert hazard.mutation is not None
        assert hazard.mutation.text.endswith("# here")
    return [hazard.message for hazard in found.the(CODE)]
