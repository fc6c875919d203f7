"""The chart of live bytes: what it tells, and that it stays small."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

from builders import sigmoid_report, site, tensor

from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline.chart import Chart, memory_charts
from inplace_magic.report import Report

LINES = ("x = f()", "x.add_(1)")


def memory_chart(reading: Reading) -> Chart:
    (chart,) = memory_charts(reading)
    return chart


def long_trace(count: int) -> Trace:
    """Every other call is in-place; storage 500 is the largest."""
    return Trace(
        calls=tuple(
            CallEvent(i, "torch.f", "in-place" if i % 2 else "ordinary", site(1 + i % 2, LINES), outputs=(tensor(i),))
            for i in range(count)
        ),
        storages=tuple(Storage(i, 10**6 if i == 500 else 1000 + i, "cpu", i, i + 3) for i in range(count)),
        cell=7,
    )


def test_the_peak_has_its_line_and_its_tensors_in_words_too():
    chart = memory_chart(Reading(sigmoid_report()))

    text = "".join(ET.fromstring(chart.svg).itertext())
    assert "peak 248 B, line 7" in text
    assert (
        "Peak on cpu: 248 B at line 7, in `Tensor.sum`; the largest alive then: T1 features (160 B)" in chart.sentence
    )


def test_a_long_watch_has_a_small_picture_that_still_shows_its_highest_point():
    for count in (1_000, 20_000):
        chart = memory_chart(Reading(Report(long_trace(count))))

        text = "".join(ET.fromstring(chart.svg).itertext())
        assert len(chart.svg) < 6_000
        assert "peak 979.5 KiB" in text
        assert "in-place calls, one or several" in text


def test_of_a_short_watch_every_in_place_call_has_a_mark_of_its_own():
    chart = memory_chart(Reading(Report(long_trace(60))))

    assert chart.svg.count("l4 8h-8z") == 30 + 1, "30 calls and the legend"


def test_what_lives_at_the_peak_is_named_by_its_tensor_its_keeper_or_its_maker():
    given, out = tensor(1), tensor(2)
    trace = Trace(
        calls=(
            CallEvent(0, "F.silu", "in-place", site(1, LINES), (given,), (given,), mutated=(given,)),
            CallEvent(1, "torch.f", "ordinary", site(2, LINES), (given,), (out,)),
        ),
        nodes=(AutogradNode(1, "SiluBackward0", call=0),),
        saved=(SavedTensor(1, "self", 5, nbytes=4000),),
        storages=(
            Storage(1, 8000, "cpu"),
            Storage(5, 4000, "cpu", 0),
            Storage(6, 2000, "cpu", 0),
            Storage(2, 32, "cpu", 1),
        ),
        cell=7,
    )

    assert memory_chart(Reading(Report(trace))).sentence.endswith(
        "the largest alive then: T1 x (7.8 KiB), what SiluBackward0 keeps (3.9 KiB), made inside `F.silu` (2.0 KiB), "
        "of 4."
    )


def test_the_same_watch_gives_the_same_bytes():
    assert memory_chart(Reading(sigmoid_report())).svg == memory_chart(Reading(sigmoid_report())).svg


def test_there_is_no_chart_of_nothing():
    assert memory_charts(Reading(Report(Trace()))) == []
    assert memory_charts(Reading(Report(replace(long_trace(1000), storages=())))) == []
