"""What a watch recorded on a GPU, told where there is none: the card's own figures, and the findings of the CPU."""

from __future__ import annotations

import html
from typing import Any

import pytest
import torch
from memory.allocator import Allocator
from memory.recorded import FOLDER, recorded, recorded_report
from memory.two_devices import report_on_two_devices
from stored import stored

from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline.chart import memory_charts
from inplace_magic.report import Report

CARDS = [path.name.removesuffix(".json.xz") for path in FOLDER.glob("*.json.xz")]
REPORTS = [(card, name) for card in CARDS for name in recorded(card)["reports"]]
NOT_ON_A_GPU = "program_silent_from_numpy_buffer_rescaled"
"""What it writes is memory of NumPy's: moved to the device, the tensor shares none."""


def beginning(*names: str) -> list[tuple[str, str]]:
    return [(card, name) for card, name in REPORTS if name.startswith(names)]


def alarms(report: Report) -> list[tuple[str, int | None]]:
    serious = [hazard for hazard in report.hazards if hazard.severity != "info"]
    return [(hazard.code, hazard.mutation.line if hazard.mutation else None) for hazard in serious]


def test_a_recording_names_card_driver_and_torch() -> None:
    assert CARDS
    assert all(recorded(card)[fact] for card in CARDS for fact in ("device", "driver", "torch"))


@pytest.mark.parametrize(("card", "name"), beginning("lines_"))
def test_each_lines_net_bytes_are_those_that_the_allocator_itself_told(card: str, name: str) -> None:
    told = recorded(card)["figures"]["lines"]
    frame = recorded_report(card, name).to_frame("lines")
    frame = frame[frame["device"] == "cuda:0"]

    net = dict(zip(frame["code"], frame["net_bytes"], strict=True))
    assert [net[line] for line in told["code"]] == told["bytes"]


@pytest.mark.parametrize(("card", "name"), beginning("step_", "graph_", "lstm_moved_"))
def test_healthy_training_on_a_gpu_is_accused_of_nothing(card: str, name: str) -> None:
    assert alarms(recorded_report(card, name)) == []


@pytest.mark.parametrize(
    ("card", "name"), [each for each in beginning("program_") if not each[1].startswith(NOT_ON_A_GPU)]
)
def test_the_findings_on_a_gpu_are_those_of_the_same_program_on_the_cpu(card: str, name: str) -> None:
    """There the program is a file; a stored one is a cell, whose first line is the magic's."""
    program = name.removeprefix("program_").rpartition("_")[0]
    in_a_cell = [(code, None if line is None else line - 1) for code, line in alarms(stored(program))]

    assert alarms(recorded_report(card, name)) == in_a_cell


@pytest.mark.parametrize(("card", "name"), REPORTS)
def test_the_rows_of_a_gpu_sum_to_the_change_that_its_allocator_told(card: str, name: str) -> None:
    report = recorded_report(card, name)
    own = [reading for reading in report.trace.readings if reading.device == "cuda:0"]
    change = own[-1].allocated_bytes - own[0].allocated_bytes if own else 0

    for view in ("lines", "memory", *(("ops",) if report.trace.ops else ())):
        frame = report.to_frame(view)
        assert frame[frame["device"] == "cuda:0"]["net_bytes"].sum() == change, view


def test_memory_of_no_tensor_is_named_where_it_is_most_of_a_peak() -> None:
    report = recorded_report("h200", "step_lstm_ops")

    for told in (report.to_text(), report.to_html()):
        assert "memory of no tensor in sight: 97.1 MiB" in told


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch) -> Report:
    allocator = Allocator(2)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: allocator.backend, raising=False)
    monkeypatch.setattr(torch.cuda.memory, "memory_stats_as_nested_dict", allocator.stats)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    return report_on_two_devices(allocator)


def rows_of(report: Report, device: str) -> list[tuple[Any, ...]]:
    frame = report.to_frame("memory")
    own = frame[frame["device"] == device]
    columns = ("line", "allocated_bytes", "freed_bytes", "peak_bytes", "peak_exact")
    return [tuple(row) for row in own[list(columns)].itertuples(index=False)]


def test_each_of_two_devices_has_rows_of_its_own_in_blocks_of_512_bytes(two_devices: Report) -> None:
    assert rows_of(two_devices, "cuda:0") == [
        (1, 3996160, 0, 3996160, True),
        (2, 40448, 0, 4036608, True),
        (3, 40448, 0, 37631488, True),
        (3, 32 << 20, 0, 37631488, True),
        (4, 0, 0, 37631488, True),
        (10, 0, 3996160, 37631488, True),
    ]


def test_a_peak_that_the_program_set_back_is_exact_afterwards(two_devices: Report) -> None:
    assert rows_of(two_devices, "cuda:1") == [
        (5, 40448, 0, 40448, True),
        (6, 6040576, 6000128, 6040576, True),
        (8, 44544, 40448, 121344, True),
    ]


def test_text_page_and_charts_tell_both_devices_apart(two_devices: Report) -> None:
    text, page = two_devices.to_text(), html.unescape(two_devices.to_html())
    charts = memory_charts(Reading(two_devices))

    for told in (text, page):
        assert "memory of no tensor in sight" in told
        assert told.index("Peak on cuda:0: 35.9 MiB at line 3") < told.index("Peak on cuda:1: 5.8 MiB at line 6")
    assert page.index(">Device<") < page.index(">Allocated<")
    for device, spare in (("cuda:0", "3.9 MiB"), ("cuda:1", "5.9 MiB")):
        assert f"{device}: the allocator's own account" in page
        assert f"It holds {spare} more in reserve" in page
    assert [chart.sentence.split(" over ")[0] for chart in charts] == ["Live bytes on cuda:0", "Live bytes on cuda:1"]
    assert "Peak on cuda:1" not in charts[0].sentence


def test_of_a_device_without_an_account_it_is_said_what_is_not_in_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    allocator = Allocator(2)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "cudaMallocAsync", raising=False)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    report = report_on_two_devices(allocator)

    assert rows_of(report, "cuda:0")[0] == (1, 3996000, 0, 3996000, False)
    for told in (report.to_text(), report.to_html()):
        assert told.count("its allocator has no counters") == 2
