"""The arithmetic of the ledger, on rows made by hand."""

from __future__ import annotations

import pytest
from builders import site, tensor, with_traits

from inplace_magic.analysis.memory.ledger import Ledger
from inplace_magic.analysis.saved import kept_for_backward
from inplace_magic.analysis.story import Story
from inplace_magic.capture.torch.memory import MemoryMeter
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, OpEvent
from inplace_magic.record.memory import MemoryReading, Storage
from inplace_magic.record.trace import Trace

LINES = ("a = f()", "b = g(a)", "del a", "c = h(b)")


def call(index: int, **more) -> CallEvent:
    return CallEvent(index, "torch.f", "ordinary", site(index + 1, LINES), **more)


def reading(
    who: int | None, allocated: int, made: int, freed: int, peak: int, op: int | None = None, asked: int | None = None
) -> MemoryReading:
    return MemoryReading(who, "cuda:0", allocated, 4096, peak, made, freed, asked, op)


def test_a_temporary_inside_a_call_raises_its_peak_and_leaves_nothing():
    trace = Trace(
        calls=(call(0), call(1)),
        ops=(OpEvent("aten.a", 0), OpEvent("aten.b", 1), OpEvent("aten.c", 1)),
        storages=(
            Storage(1, 10, "cpu", 0, None, 0, None),
            Storage(2, 100, "cpu", 1, 2, 1, 2),
            Storage(3, 5, "cpu", 1, None, 2, None),
        ),
        level="ops",
    )

    assert [(e.op, e.allocated_bytes, e.freed_bytes, e.peak_bytes) for e in Ledger(trace).ops] == [
        (0, 10, 0, 10),
        (1, 100, 100, 110),
        (2, 5, 0, 15),
    ]
    assert [(e.call, e.net_bytes, e.peak_bytes, e.exact_peak) for e in Ledger(trace).calls] == [
        (0, 10, 10, True),
        (1, 5, 110, True),
    ]
    assert [(peak.nbytes, peak.op, peak.storages) for peak in Ledger(trace).peaks] == [(110, 1, (2, 1))]


def test_an_allocators_readings_sum_to_its_own_change_and_replace_the_storages():
    trace = Trace(
        calls=(call(0), call(1)),
        storages=(Storage(1, 300, "cuda:0", 0), Storage(2, 7, "cpu", 1)),
        readings=(
            reading(None, 1024, 5000, 3976, 2048),
            reading(0, 1024, 5000, 3976, 2048),
            reading(1, 1536, 6024, 4488, 2560),
            reading(None, 9728, 14728, 5000, 10240),
        ),
    )

    rows = [entry for entry in Ledger(trace).calls if entry.device == "cuda:0"]

    assert [(e.call, e.allocated_bytes, e.freed_bytes) for e in rows] == [(0, 1024, 512), (1, 8704, 512)]
    assert sum(e.net_bytes for e in rows) == 9728 - 1024
    assert [(e.peak_bytes, e.exact_peak) for e in rows] == [(2560, True), (10240, True)]
    assert [e.allocated_bytes for e in Ledger(trace).calls if e.device == "cpu"] == [7]


def test_a_peak_below_an_older_one_is_a_bound_and_says_so():
    trace = Trace(
        calls=(call(0),),
        readings=(reading(0, 1000, 5000, 4000, 9000), reading(None, 1200, 5700, 4500, 9000)),
    )

    (row,) = Ledger(trace).calls

    assert (row.peak_bytes, row.exact_peak) == (1700, False)


class Recorded:
    """A backend that says what an allocator once said."""

    device_type = "cuda"

    def __init__(self, said: list[tuple[int, int, int, int]]) -> None:
        self.said = said

    def is_available(self) -> bool:
        return True

    def read(self) -> tuple[MemoryReading, ...]:
        return (reading(None, *self.said.pop(0)),)


def test_what_happens_after_a_nested_call_is_billed_to_the_call_around_it():
    meter = MemoryMeter(
        [Recorded([(0, 0, 0, 0), (0, 0, 0, 0), (512, 512, 0, 512), (512, 512, 0, 512), (1536, 1536, 0, 1536)])]
    )
    for who in (None, 0, 1, 0, None):
        meter.read(who)

    rows = Ledger(Trace(calls=(call(0), call(1)), readings=tuple(meter.readings))).calls

    assert [(e.call, e.allocated_bytes) for e in rows] == [(0, 512 + 1024)]


def test_forgotten_calls_leave_their_bytes_to_no_call_and_the_sum_as_it_was():
    said = [(0, 0, 0, 0), (512, 512, 0, 512), (1024, 1024, 0, 1024), (4096, 4096, 0, 4096)]
    meter = MemoryMeter([Recorded(said)])
    for who in (0, 1, 2, None):
        meter.read(who)

    meter.forget({2})

    rows = Ledger(Trace(calls=(call(2),), readings=tuple(meter.readings))).calls
    assert [(e.call, e.allocated_bytes) for e in rows] == [(None, 1024), (2, 3072)]


def test_a_hidden_clone_is_told_from_an_output_a_leaf_and_a_mask():
    given = tensor(1, requires_grad=True, is_leaf=False, node=3)
    weight = tensor(2, shape=(3,), requires_grad=True)
    out = tensor(1, 1, requires_grad=True, is_leaf=False, node=1)
    trace = Trace(
        calls=(CallEvent(0, "F.silu", "in-place", site(1, LINES), (given, weight), (out,), mutated=(out,)),),
        nodes=(AutogradNode(1, "SiluBackward0", call=0), AutogradNode(2, "MulBackward0", call=0)),
        saved=tuple(
            SavedTensor(node, name, storage, storage, 0, shape=shape, dtype="float32", device="cpu", nbytes=nbytes)
            for node, name, storage, shape, nbytes in (
                (1, "self", 9, (8,), 32),
                (1, "result", 1, (8,), 32),
                (1, "weight", 2, (3,), 12),
                (2, "weight", 2, (3,), 12),
                (1, "mask", 8, (8, 2), 64),
            )
        ),
        storages=(Storage(1, 32, "cpu"), Storage(2, 12, "cpu"), Storage(8, 64, "cpu", 0), Storage(9, 32, "cpu", 0)),
    )
    trace = with_traits(trace)

    kept = kept_for_backward(Story(trace))

    assert [entry.origin for entry in kept] == ["clone of the input", "input", "leaf", "leaf", "made for backward"]
    assert [entry.also_kept_by for entry in kept][2:4] == [{"MulBackward0": 1}, {"SiluBackward0": 1}]
    assert sum(entry.saved.nbytes for entry in kept if entry.first) == 32 + 32 + 12 + 64


def test_a_device_first_used_within_the_watch_had_nothing_before():
    class Late(Recorded):
        def read(self) -> tuple[MemoryReading, ...]:
            said = self.said.pop(0)
            return (reading(None, *said),) if said else ()

    meter = MemoryMeter([Late([(), (), (512, 1024, 512, 1024), (512, 1024, 512, 1024)])])
    for who in (None, 0, 1, None):
        meter.read(who)

    (row,) = Ledger(Trace(calls=(call(0), call(1)), readings=tuple(meter.readings))).calls

    assert (row.call, row.allocated_bytes, row.freed_bytes, row.peak_bytes) == (0, 1024, 512, 1024)


def test_operators_have_the_readings_between_them_and_the_calls_their_sum():
    trace = Trace(
        calls=(call(0),),
        ops=(OpEvent("aten.mm", 0), OpEvent("aten.add", 0)),
        readings=(
            reading(None, 0, 0, 0, 0),
            reading(0, 0, 0, 0, 0, op=0),
            reading(0, 512, 2048, 1536, 2048, op=1),
            reading(None, 1024, 2560, 1536, 2048),
        ),
        level="ops",
    )

    assert [(e.op, e.allocated_bytes, e.freed_bytes, e.peak_bytes) for e in Ledger(trace).ops] == [
        (0, 2048, 1536, 2048),
        (1, 512, 0, 1024),
    ]
    assert [(e.call, e.allocated_bytes, e.freed_bytes) for e in Ledger(trace).calls] == [(0, 2560, 1536)]


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_workspace_that_a_call_leaves_behind_is_not_billed_to_its_line(level):
    """The first `matmul` makes 400 B of result (512 with rounding) and the library's 8192 B; the second 400 B alone. At
    level `ops` the reading as a call begins and that as its operator does are one, since nothing comes between."""
    ops = level == "ops"
    trace = Trace(
        calls=(call(0), call(1), call(2)),
        ops=tuple(OpEvent("aten.mm", index) for index in range(3)) if ops else (),
        storages=(
            Storage(1, 400, "cuda:0"),
            Storage(2, 400, "cuda:0", 0, None, 0 if ops else None),
            Storage(3, 400, "cuda:0", 1, 3, 1 if ops else None, 3 if ops else None),
        ),
        readings=(
            reading(0, 512, 512, 0, 512, 0 if ops else None, asked=400),
            reading(1, 9216, 9216, 0, 9216, 1 if ops else None, asked=8992),
            reading(2, 9728, 9728, 0, 9728, 2 if ops else None, asked=9392),
            reading(None, 9216, 9728, 512, 9728, asked=8992),
        ),
        level=level,
    )

    for rows in (Ledger(trace).calls, *((Ledger(trace).ops,) if ops else ())):
        assert [(e.call, e.workspace, e.allocated_bytes, e.retained_bytes) for e in rows] == [
            (0, False, 512, 400),
            (0, True, 8192, 8192),
            (1, False, 512, 0),
            (2, False, 0, 0),
        ]
        assert sum(e.net_bytes for e in rows) == 9216 - 512
    lines = Ledger(trace).by_line
    assert [(line.workspace, line.allocated_bytes) for line in lines] == [
        (False, 512),
        (True, 8192),
        (False, 512),
        (False, 0),
    ]


def test_a_buffer_that_a_call_gives_back_again_is_no_workspace():
    trace = Trace(
        calls=(call(0), call(1)),
        readings=(
            reading(0, 0, 0, 0, 0, asked=0),
            reading(1, 512, 512, 0, 512, asked=400),
            reading(None, 0, 512, 512, 512, asked=0),
        ),
    )

    assert [entry.workspace for entry in Ledger(trace).calls] == [False, False]


def test_counters_that_the_watched_code_set_back_still_sum_to_the_change():
    trace = Trace(
        calls=(call(0), call(1)),
        readings=(
            reading(0, 1000, 5000, 4000, 9000),
            reading(1, 1600, 0, 0, 1600),
            reading(None, 1500, 300, 400, 1800),
        ),
    )

    rows = Ledger(trace).calls

    assert [(e.allocated_bytes, e.freed_bytes, e.exact_peak) for e in rows] == [(600, 0, False), (300, 400, True)]
    assert sum(e.net_bytes for e in rows) == 1500 - 1000
