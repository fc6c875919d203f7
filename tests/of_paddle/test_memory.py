"""Memory of Paddle's tensors: from its own counters, which know what no tensor shows."""

from __future__ import annotations

import paddle
import pytest

import inplace_magic

MILLION = 1000 * 1000


def test_the_counters_of_the_cpu_are_read_around_each_call() -> None:
    before = paddle.base.core.host_memory_stat_current_value("Allocated", 0)
    with inplace_magic.watch() as w:
        x = paddle.ones([1000, 1000])
        y = x.reshape([MILLION])
        del x, y
        z = paddle.ones([8])
    assert w.report is not None
    in_use = {reading.call: reading.allocated_bytes - before for reading in w.report.trace.readings}
    made, view = (call.index for call in w.report.calls[:2])
    assert in_use[made] == 0
    assert in_use[view] == 4 * MILLION
    assert w.report.trace.readings[-1].allocated_bytes - before < MILLION
    assert w.report.trace.readings[-1].peak_bytes >= 4 * MILLION
    assert z.shape == [8]


def test_a_line_is_billed_what_paddle_allocated_for_it() -> None:
    with inplace_magic.watch() as w:
        x = paddle.ones([1000, 1000])
        x.scale_(2.0)
        y = paddle.exp(x)
    assert w.report is not None
    rows = w.report.to_frame("lines").dropna(subset="line").to_dict("records")  # what dies meanwhile is no line's
    assert [row["allocated_bytes"] for row in rows] == [4 * MILLION, 0, 4 * MILLION]
    assert {row["device"] for row in rows} == {"cpu"}
    assert y.shape == [1000, 1000]


def test_a_clone_that_a_write_in_place_keeps_is_known() -> None:
    x = paddle.ones([1000, 1000])
    x.stop_gradient = False
    with inplace_magic.watch() as w:
        h = x * 2.0
        h.square_()
    assert w.report is not None
    (note,) = (finding for finding in w.report.hazards if finding.code == "in-place-saved-nothing")
    assert note.nbytes == 4 * MILLION
    assert h.shape == [1000, 1000]


@pytest.mark.skipif(not paddle.is_compiled_with_cuda(), reason="This Paddle computes on the CPU alone.")
def test_the_allocator_of_a_gpu_is_asked() -> None:
    x = paddle.ones([1000, 1000]).cuda()
    with inplace_magic.watch() as w:
        y = x * 2.0
    assert w.report is not None
    readings = [reading for reading in w.report.trace.readings if reading.device.startswith("gpu")]
    assert readings[-1].allocated_bytes - readings[0].allocated_bytes >= 4 * MILLION
    assert y.shape == [1000, 1000]
