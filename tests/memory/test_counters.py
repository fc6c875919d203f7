"""What is made of the counters of CUDA's allocators, and of a program that sets them back."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from builders import site
from capture.watching import LEVELS
from memory.allocator import Allocator

import inplace_magic
from inplace_magic.analysis.memory.ledger import Ledger
from inplace_magic.capture.torch.memory import CudaMemory, MemoryMeter
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> Allocator:
    made = Allocator()
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: made.backend, raising=False)
    monkeypatch.setattr(torch.cuda.memory, "memory_stats_as_nested_dict", made.stats)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    return made


def entries(meter: MemoryMeter, count: int) -> list[Any]:
    calls = tuple(CallEvent(index, "torch.f", "ordinary", site(1, ("f()",))) for index in range(count))
    return list(Ledger(Trace(calls=calls, readings=tuple(meter.readings))).calls)


def test_a_device_has_rows_although_its_totals_were_set_back_before(allocator: Allocator) -> None:
    allocator.allocate(1 << 20, for_tensor=False)
    allocator.reset_accumulated()
    meter = MemoryMeter([CudaMemory()])
    meter.read(0)
    allocator.allocate(512, for_tensor=False)
    meter.read(1)
    allocator.allocate(2 << 20, for_tensor=False)
    meter.read(None)

    assert [(e.call, e.allocated_bytes) for e in entries(meter, 2)] == [(0, 512), (1, 2 << 20)]


def test_rows_sum_to_the_change_where_totals_come_by_the_same_numbers_again(allocator: Allocator) -> None:
    meter = MemoryMeter([CudaMemory()])
    allocator.allocate(512, for_tensor=False)
    meter.read(0)
    allocator.reset_accumulated()
    allocator.allocate(512, for_tensor=False)
    meter.read(1)
    meter.read(None)

    (row,) = entries(meter, 2)
    assert (row.call, row.net_bytes, row.exact_peak) == (0, 512, False)


def test_what_goes_after_the_totals_are_set_back_and_nothing_is_left_has_a_row(allocator: Allocator) -> None:
    allocator.allocate(512, for_tensor=False)
    meter = MemoryMeter([CudaMemory()])
    meter.read(0)
    allocator.free(512, for_tensor=False)
    allocator.reset_accumulated()
    allocator.empty_cache()
    meter.read(None)

    assert [(e.freed_bytes, e.net_bytes) for e in entries(meter, 1)] == [(512, -512)]


def test_a_peak_is_exact_after_the_program_set_an_older_one_back(allocator: Allocator) -> None:
    allocator.allocate(1 << 20, for_tensor=False)
    allocator.free(1 << 20, for_tensor=False)
    meter = MemoryMeter([CudaMemory()])
    meter.read(0)
    allocator.reset_peak()
    meter.read(1)
    allocator.allocate(1024, for_tensor=False)
    allocator.free(512, for_tensor=False)
    meter.read(None)

    assert [(e.call, e.peak_bytes, e.exact_peak) for e in entries(meter, 2)] == [(1, 1024, True)]


def test_each_device_has_rows_of_its_own_and_one_that_is_not_used_has_none(allocator: Allocator) -> None:
    meter = MemoryMeter([CudaMemory()])
    allocator.allocate(512, 1, for_tensor=False)
    meter.read(0)
    allocator.allocate(1024, 1, for_tensor=False)
    meter.read(None)

    assert [(e.device, e.allocated_bytes) for e in entries(meter, 1)] == [("cuda:1", 1024)]


@pytest.mark.parametrize("backend", ["cudaMallocAsync", "pluggable"])
def test_an_allocator_without_totals_is_not_asked_for_them(allocator: Allocator, backend: str) -> None:
    allocator.backend = backend
    allocator.allocate(512, for_tensor=False)

    assert CudaMemory().read() == ()


@pytest.mark.parametrize("level", LEVELS)
def test_calls_in_a_row_are_brief_on_a_gpu_too_and_their_memory_is_that_of_their_line(
    allocator: Allocator, level: Any
) -> None:
    x = torch.zeros(3)
    with inplace_magic.watch(level=level) as watch:
        for _ in range(500):
            x.add_(1), allocator.allocate(512, for_tensor=False), x.dim()
        x.mul_(2)
        for _ in range(500):
            x.add_(1), allocator.allocate(512, for_tensor=False)
    calls = watch.report.trace.calls
    billed = {row.call: row.net_bytes for row in Ledger(watch.report.trace).calls if row.device.startswith("cuda")}

    assert [(call.name, call.passes) for call in calls[-2:]] == [("Tensor.add_", 1), ("Tensor.add_", 437)]
    assert (
        sum(billed.get(call.index, 0) for call in calls if call.callsite.line == calls[-1].callsite.line) == 500 * 512
    )
    assert sum(billed.values()) == 1000 * 512
