"""Memory by call and by line, on rows."""

from __future__ import annotations

from dataclasses import replace

from builders import sigmoid_trace, site, tensor

from inplace_magic.analysis.memory.ledger import Ledger
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace

LINES = ("a = torch.ones(10)", "b = a * 2", "c = b.view(2, 5)", "del b, c", "d = a + 1")


def call(index: int, line: int, output: int, **more) -> CallEvent:
    return CallEvent(index, "torch.f", "ordinary", site(line, LINES), outputs=(tensor(output, **more),))


def test_a_line_is_billed_for_the_storages_that_it_made():
    rows = Ledger(sigmoid_trace()).by_line

    assert [(row.site.line, row.allocated_bytes) for row in rows] == [
        (2, 160),
        (3, 20),
        (4, 32),
        (5, 32),
        (6, 0),
        (7, 4),
    ]


def test_an_in_place_line_allocates_nothing_and_still_has_a_row():
    row = next(row for row in Ledger(sigmoid_trace()).by_line if row.site.line == 6)

    assert (row.allocated_bytes, row.freed_bytes, row.net_bytes, row.retained_bytes) == (0, 0, 0, 0)


def test_views_of_one_storage_are_counted_once():
    trace = Trace(
        calls=(call(0, 2, 1), replace(call(1, 3, 2, storage=1, is_view=True), kind="view")),
        storages=(Storage(1, 40, "cpu", born=0),),
    )

    assert [row.allocated_bytes for row in Ledger(trace).by_call] == [40, 0]
    assert sum(row.retained_bytes for row in Ledger(trace).by_line) == 40


def test_a_death_between_two_calls_is_billed_to_the_earlier_one():
    trace = Trace(
        calls=(call(0, 1, 1), call(1, 2, 2), call(2, 5, 3)),
        storages=(Storage(1, 10, "cpu", born=0), Storage(2, 20, "cpu", born=1, ended=2), Storage(3, 30, "cpu", born=2)),
    )

    assert [(row.allocated_bytes, row.freed_bytes, row.net_bytes) for row in Ledger(trace).by_call] == [
        (10, 0, 10),
        (20, 20, 0),
        (30, 0, 30),
    ]


def test_the_peak_holds_what_lived_before_and_what_dies_only_after_the_call():
    trace = Trace(
        calls=(call(0, 1, 1), call(1, 2, 2)),
        storages=(
            Storage(9, 100, "cpu"),
            Storage(1, 10, "cpu", born=0, ended=2),
            Storage(2, 20, "cpu", born=1),
        ),
    )

    assert [row.peak_bytes for row in Ledger(trace).by_line] == [110, 130]


def test_what_died_before_the_first_call_is_billed_to_no_line():
    trace = Trace(calls=(call(0, 1, 1),), storages=(Storage(9, 100, "cpu", ended=0), Storage(1, 10, "cpu", born=0)))

    before, row = Ledger(trace).by_line

    assert before.call is None
    assert (before.site, before.calls, before.freed_bytes) == (None, (), 100)
    assert (row.freed_bytes, row.peak_bytes) == (0, 10)


def test_only_what_is_alive_at_the_end_is_retained():
    trace = Trace(
        calls=(call(0, 1, 1), call(1, 2, 2)),
        storages=(Storage(1, 10, "cpu", born=0, ended=1), Storage(2, 20, "cpu", born=1)),
    )

    assert [row.retained_bytes for row in Ledger(trace).by_line] == [0, 20]


def test_saved_bytes_count_a_storage_once_and_at_its_first_saver():
    trace = replace(
        sigmoid_trace(),
        nodes=(AutogradNode(2, "MulBackward0", call=2), AutogradNode(3, "SigmoidBackward0", call=3)),
        saved=(SavedTensor(2, "self", storage=4), SavedTensor(3, "result", storage=4), SavedTensor(3, "x", storage=1)),
    )

    assert [(row.call, row.saved_bytes) for row in Ledger(trace).by_call if row.saved_bytes] == [(2, 32), (3, 160)]


def test_what_hooks_packed_has_no_known_storage_and_no_bytes():
    trace = replace(sigmoid_trace(), saved=(SavedTensor(3, "result", hooked=True),))

    assert sum(row.saved_bytes for row in Ledger(trace).by_call) == 0


def test_devices_are_counted_apart():
    trace = Trace(
        calls=(call(0, 1, 1), call(1, 1, 2, device="cuda:0")),
        storages=(Storage(1, 10, "cpu", born=0), Storage(2, 20, "cuda:0", born=1)),
    )

    assert [(row.device, row.allocated_bytes, row.peak_bytes) for row in Ledger(trace).by_line] == [
        ("cpu", 10, 10),
        ("cuda:0", 20, 20),
    ]


def test_a_line_in_a_loop_sums_its_calls_and_names_its_tensors():
    trace = Trace(
        calls=(call(0, 2, 1), call(1, 2, 2)),
        storages=(Storage(1, 10, "cpu", born=0, ended=2), Storage(2, 10, "cpu", born=1)),
    )

    (row,) = Ledger(trace).by_line

    assert (row.allocated_bytes, row.freed_bytes, row.net_bytes, row.peak_bytes) == (20, 10, 10, 20)
    assert (row.calls, row.made) == ((0, 1), (1, 2))


def test_an_empty_trace_has_no_rows():
    assert Ledger(Trace()).by_line == ()
