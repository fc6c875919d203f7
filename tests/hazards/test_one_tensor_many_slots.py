"""A list that holds one tensor several times."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from builders import made, site, tensor, wrote
from hazards.running import example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.shared import one_tensor_many_slots as rule
from inplace_magic.record.names import TensorName
from inplace_magic.record.trace import Trace

CELL = ("state += velocity", "path = torch.stack(history)", "states[i] += 1")
SETUP = "history, state, velocity = [], torch.zeros(2), torch.ones(2)"


def gathered(*, writes: int, slots: tuple[int, ...]) -> Trace:
    state, velocity = tensor(1, shape=(2,)), tensor(2, shape=(2,))
    calls = [wrote(i, "Tensor.__iadd__", site(1, CELL), state, velocity) for i in range(writes)]
    read = tuple(state if slot == 1 else tensor(slot) for slot in slots)
    return Trace(calls=(*calls, made(writes, "torch.stack", site(2, CELL), read, (tensor(9),))))


def test_one_tensor_gathered_several_times_after_repeated_writes_is_found() -> None:
    (finding,), faults = find_hazards(gathered(writes=2, slots=(1, 1, 1)))
    assert faults == ()
    assert (finding.code, finding.severity, finding.variable) == (rule.CODE, "warning", "state")
    assert finding.mutation == site(1, CELL)
    assert "`path = torch.stack(history)` reads it 3 times" in finding.message


def test_a_tensor_that_is_gathered_once_is_no_finding() -> None:
    assert find_hazards(gathered(writes=2, slots=(1, 3, 4))) == ((), ())


def test_a_tensor_that_was_written_once_is_meant_to_be_repeated() -> None:
    assert find_hazards(gathered(writes=1, slots=(1, 1))) == ((), ())


def test_two_slots_of_a_list_that_are_one_tensor_are_found_when_one_is_written() -> None:
    names = (TensorName(1, "states[0]"), TensorName(1, "states[1]"))
    where = site(3, CELL, expression=CELL[2])
    (finding,), _ = find_hazards(Trace(calls=(wrote(0, "Tensor.__iadd__", where, tensor(1)),), names=names))
    assert finding.code == rule.CODE
    assert "`states[0]` and `states[1]` are one and the same" in finding.message


def test_the_bad_program_gives_the_writing_line(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    finding = ran.the(rule.CODE)
    assert ran.at(finding.mutation) == "state += velocity"
    assert finding.variable == "state"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not tell which list `states[i] += i` wrote")
def test_a_repeated_reference_is_found_where_a_slot_is_written(tmp_path: Path) -> None:
    ran = watched(tmp_path, "states = [torch.zeros(2)] * 3\nfor i in range(3):\n    states[i] += i")
    assert ran.at(ran.the(rule.CODE).mutation) == "states[i] += i"


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    bad = example(rule, "Bad")
    good = bad.replace("history.append(state)", example(rule, "Good").strip())
    assert good != bad
    assert watched(tmp_path, SETUP, good).codes() == set()


def test_without_us_all_entries_are_equal_and_nothing_is_said(tmp_path: Path) -> None:
    ran = plainly(tmp_path, SETUP, example(rule, "Bad"), "path = torch.stack(history)[:, 0].tolist()")
    assert ran.error is None
    assert ran.names["path"] == [4.0, 4.0, 4.0, 4.0]


FILLED = """
rows, buffer = torch.rand(6, 3), torch.empty(2, 3)
def collate(pair):
    for slot, row in enumerate(pair):
        buffer[slot] = rows[row]
    return {given}
"""
LISTED = "batches = [collate(pair) for pair in ((0, 1), (2, 3))]\nmeans = [batch.mean().item() for batch in batches]"
APPENDED = """
batches = []
for pair in ((0, 1), (2, 3)):
    batches.append(collate(pair))
    print(batches[-1].mean())
"""


@pytest.mark.parametrize("reading", [LISTED, APPENDED + "means = [batch.mean() for batch in batches]"])
def test_a_list_that_a_helper_fills_with_its_one_buffer_is_found(tmp_path: Path, reading: str) -> None:
    finding = watched(tmp_path, FILLED.format(given="buffer") + "print(buffer.shape)", reading).the(rule.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "buffer[slot] = rows[row]"


@pytest.mark.parametrize(("given", "reading"), [("buffer.clone()", LISTED), ("buffer", APPENDED)])
def test_a_buffer_that_is_copied_or_read_before_it_is_filled_again_is_none(
    tmp_path: Path, given: str, reading: str
) -> None:
    assert rule.CODE not in watched(tmp_path, FILLED.format(given=given), reading).codes()


KEPT = """
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
kept = []
for epoch in range(2):
    opt.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
    kept.append({key: {value} for key, value in net.state_dict().items()})
average = torch.stack([state["weight"] for state in kept]).mean(0)
"""


def test_states_that_were_kept_in_each_epoch_and_are_the_live_weights_are_found(tmp_path: Path) -> None:
    live, copied = (KEPT.replace("{value}", value) for value in ("value", "value.clone()"))
    ran = watched(tmp_path, "", live)
    assert ran.at(ran.the(rule.CODE).mutation) == "opt.step()"
    assert rule.CODE not in watched(tmp_path, "", copied).codes()


def test_views_of_one_row_taken_without_a_write_between_them_may_be_stacked(tmp_path: Path) -> None:
    program = "x = torch.rand(3, 2)\nx.mul_(2)\nx.mul_(3)\ny = torch.stack([x[0], x[0], x[1]])"
    assert rule.CODE not in watched(tmp_path, "", program).codes()


HANDED_BACK = """\
def record(total):
    curve = [None] * 4
    for step in range(4):
        total += 1
        curve[step] = total
    return curve"""


def test_a_list_that_a_function_filled_and_gave_back_is_found(tmp_path: Path) -> None:
    reads = "kept = record(total)\nmeans = [kept[i].mean() for i in range(2)]"
    ran = watched(tmp_path, f"{HANDED_BACK}\ntotal = torch.zeros(2)", reads)
    assert rule.CODE in [finding.code for finding in ran.report.findings]
