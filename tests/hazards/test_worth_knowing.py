"""Notes: what costs memory without being wrong, said for large tensors only, three times at most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import site, tensor, with_traits
from hazards.running import watched

from inplace_magic.hazards import find_hazards
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace

MANY = 300_000
"""Elements of a tensor that is worth a note: 1.2 MB of float32."""
NOTES = {"in-place-saved-nothing", "kept-by-the-graph"}


def rebinding_trace(elements: int, *, saved: bool = False, ended: int | None = 2) -> Trace:
    """``h = a @ b``, then ``h = h + 1``: the first ``h`` dies after the second line, or is saved and lives on."""
    cell = ("%%inplace_watch", "h = a @ b", "h = h + 1")
    old = tensor(1, shape=(elements,), requires_grad=True, is_leaf=False, node=1)
    new = tensor(2, shape=(elements,), requires_grad=True, is_leaf=False, node=2)
    keep = SavedTensor(2, "self", 1, 1, 0, 1, (elements,), (1,), 0, "float32", "cpu", 4 * elements)
    trace = Trace(
        calls=(
            CallEvent(0, "Tensor.matmul", "ordinary", site(2, cell), outputs=(old,)),
            CallEvent(1, "Tensor.add", "ordinary", site(3, cell), (old,), (new,)),
        ),
        nodes=(AutogradNode(1, "MmBackward0", 0, call=0), AutogradNode(2, "AddBackward0", 1, (1,), call=1)),
        saved=(keep,) if saved else (),
        storages=(
            Storage(1, 4 * elements, "cpu", born=0, ended=ended),
            Storage(2, 4 * elements, "cpu", born=1),
        ),
        cell=7,
        source=cell,
    )
    return with_traits(trace)


def clone_trace(*, born: int = 1) -> Trace:
    """``x.sin_()`` on eight elements, whose node keeps a storage that call `born` made."""
    cell = ("%%inplace_watch", "x = w * 2", "x.sin_()")
    x = tensor(1, requires_grad=True, is_leaf=False, node=1)
    after = replace(x, version=1, node=2)
    trace = Trace(
        calls=(
            CallEvent(0, "Tensor.mul", "ordinary", site(2, cell), outputs=(x,)),
            CallEvent(
                1,
                "Tensor.sin_",
                "in-place",
                site(3, cell),
                (x,),
                (after,),
                (Mutation(1, 0, 1, 1, 1),),
                mutated=(after,),
            ),
        ),
        nodes=(AutogradNode(1, "MulBackward0", 0, call=0), AutogradNode(2, "SinBackward0", 1, (1,), call=1)),
        saved=(SavedTensor(2, "self", 2, None, 0, None, (8,), (1,), 0, "float32", "cpu", 32),),
        storages=(Storage(1, 32, "cpu", born=0), Storage(2, 32, "cpu", born=born)),
        cell=7,
        source=cell,
    )
    return with_traits(trace)


def codes(trace: Trace) -> list[str]:
    found, faults = find_hazards(trace)
    assert faults == ()
    return [hazard.code for hazard in found]


def test_a_clone_that_the_writing_call_made_is_told_with_its_bytes() -> None:
    (note,), _ = find_hazards(clone_trace())

    assert (note.code, note.severity, note.saved_by) == ("in-place-saved-nothing", "info", "SinBackward0")
    assert (note.variable, note.nbytes, note.mutation) == ("x", 32, site(3, clone_trace().source))
    assert "(32 B)" in note.message


def test_what_an_earlier_call_made_is_no_clone() -> None:
    assert codes(clone_trace(born=0)) == []


def test_small_tensors_stay_quiet() -> None:
    assert codes(rebinding_trace(8)) == []
    assert codes(rebinding_trace(8, saved=True, ended=None)) == []


def test_a_saved_tensor_without_a_name_is_kept_by_the_graph() -> None:
    (note,), _ = find_hazards(rebinding_trace(MANY, saved=True, ended=None))

    assert (note.code, note.severity, note.nbytes) == ("kept-by-the-graph", "info", 4 * MANY)
    assert (note.variable, note.saved_by) == ("h", "AddBackward0")


def test_a_saved_tensor_that_dies_with_its_name_is_not_kept() -> None:
    assert codes(rebinding_trace(MANY, saved=True)) == []


@pytest.mark.parametrize(
    "line",
    ["x.sin_()", "F.relu6(x, inplace=True)", "F.hardtanh(x, inplace=True)", "F.silu(x, inplace=True)", "x.mul_(w)"],
)
def test_torch_keeps_a_clone_under_these_in_place_calls(line: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, "w = torch.ones(4, requires_grad=True)", "x = w * 2", line)

    note = ran.the("in-place-saved-nothing")
    assert ran.at(note.mutation) == line
    assert (note.variable, note.nbytes) == ("x", 16)


@pytest.mark.parametrize(
    "line",
    ["x.exp_()", "x.sigmoid_()", "F.relu(x, inplace=True)", "F.dropout(x, inplace=True)", "x.add_(1)", "x[0] = 1.0"],
)
def test_torch_keeps_no_clone_under_these(line: str, tmp_path: Path) -> None:
    assert watched(tmp_path, "w = torch.ones(4, requires_grad=True)", "x = w * 2", line).codes() == set()


def test_without_recording_nothing_is_cloned(tmp_path: Path) -> None:
    ran = watched(
        tmp_path, "w = torch.ones(4, requires_grad=True)", "with torch.no_grad():\n    x = w * 2\n    x.sin_()"
    )
    assert ran.codes() == set()


def test_a_large_rebinding_is_noted(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        w = torch.ones(600, 600, requires_grad=True)
        h = w @ w
        h = h + 1
        h = h.tanh()
        h = h * h
        """,
    )
    note = ran.the("kept-by-the-graph")

    assert (ran.at(note.origin), note.nbytes) == ("h = h * h", 1_440_000)


def test_a_loop_over_small_tensors_is_no_large_one(tmp_path: Path) -> None:
    """Four hundred passes make and free 4 KiB: 1.6 MiB in sum, and never more than 8 KiB at one time."""
    ran = watched(
        tmp_path,
        """
        w = torch.ones(32, 32, requires_grad=True)
        for _ in range(400):
            x = torch.ones(32, 32) @ w
            x = x + 1
            x = (x * x).tanh()
            x = x * 2
            x.sum().backward()
            y = w * 2
            y.sin_()
        """,
    )
    assert ran.codes() == {"in-place-saved-nothing"}
    note = ran.the("in-place-saved-nothing")
    assert note.nbytes is not None
    assert note.nbytes <= 2 * 4096


def test_what_the_graph_of_one_pass_keeps_is_counted_once(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        w = torch.ones(300, 300, requires_grad=True)
        for _ in range(3):
            x = w * 1
            for _ in range(4):
                x = x.exp()
                x = x - x.detach()
            x.sum().backward()
        """,
    )
    note = ran.the("kept-by-the-graph")
    assert note.nbytes == 4 * 360_000
    assert "and 3 more like it" in note.message


def test_at_most_three_notes_the_largest_first(tmp_path: Path) -> None:
    lines = [f"h = torch.ones({size}, 1000, requires_grad=True) * 2\nh.sin_()" for size in (300, 500, 400, 700, 600)]

    notes = watched(tmp_path, *lines).report.hazards

    assert [note.nbytes for note in notes] == [2_800_000, 2_400_000, 2_000_000]


def test_notes_raise_no_alarm(tmp_path: Path) -> None:
    report = watched(tmp_path, "h = torch.ones(600, 600, requires_grad=True) * 2", "h.sin_()").report

    assert {hazard.code for hazard in report.hazards} <= NOTES
    assert report.verdict.startswith("✓ Nothing wrong found")
