"""What is made of the counters of CUDA's allocators, and of a program that sets them back."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from builders import site

from inplace_magic.analysis.memory.ledger import Ledger
from inplace_magic.capture.torch.memory import CudaMemory, MemoryMeter
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace


class Allocator:
    """Counts as ``c10/cuda/CUDACachingAllocator.cpp`` does, for as many devices as were asked for."""

    def __init__(self, devices: int = 1) -> None:
        self.devices = [{"current": 0, "peak": 0, "allocated": 0, "freed": 0} for _ in range(devices)]
        self.reserved = [dict(each) for each in self.devices]
        self.backend = "native"

    def allocate(self, nbytes: int, device: int = 0, *, segment: bool = False) -> None:
        for counts in (self.devices[device], *((self.reserved[device],) if segment else ())):
            counts["current"] += nbytes
            counts["allocated"] += nbytes
            counts["peak"] = max(counts["peak"], counts["current"])

    def free(self, nbytes: int, device: int = 0) -> None:
        self.devices[device]["current"] -= nbytes
        self.devices[device]["freed"] += nbytes

    def reset_accumulated(self, device: int = 0) -> None:
        for counts in (self.devices[device], self.reserved[device]):
            counts["allocated"] = counts["freed"] = 0

    def reset_peak(self, device: int = 0) -> None:
        for counts in (self.devices[device], self.reserved[device]):
            counts["peak"] = counts["current"]

    def stats(self, device: int) -> dict[str, Any]:
        used, reserved = dict(self.devices[device]), dict(self.reserved[device])
        return {
            "allocated_bytes": {"all": used},
            "requested_bytes": {"all": dict.fromkeys(used, 0)},  # with no tensors in sight, all would be a workspace
            "active_bytes": {"all": used},
            "reserved_bytes": {"all": reserved},
        }


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> Allocator:
    made = Allocator(2)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: made.backend)
    monkeypatch.setattr(torch.cuda.memory, "memory_stats_as_nested_dict", made.stats)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    return made


def entries(meter: MemoryMeter, count: int) -> list[Any]:
    calls = tuple(CallEvent(index, "torch.f", "ordinary", site(1, ("f()",))) for index in range(count))
    return list(Ledger(Trace(calls=calls, readings=tuple(meter.readings))).calls)


def test_a_device_has_rows_although_its_totals_were_set_back_before(allocator: Allocator) -> None:
    allocator.allocate(1 << 20, segment=True)
    allocator.reset_accumulated()
    meter = MemoryMeter([CudaMemory()])
    meter.read(0)
    allocator.allocate(512)
    meter.read(1)
    allocator.allocate(2 << 20, segment=True)
    meter.read(None)

    assert [(e.call, e.allocated_bytes) for e in entries(meter, 2)] == [(0, 512), (1, 2 << 20)]


def test_rows_sum_to_the_change_where_totals_come_by_the_same_numbers_again(allocator: Allocator) -> None:
    meter = MemoryMeter([CudaMemory()])
    allocator.allocate(512, segment=True)
    meter.read(0)
    allocator.reset_accumulated()
    allocator.allocate(512)
    meter.read(1)
    meter.read(None)

    (row,) = entries(meter, 2)
    assert (row.call, row.net_bytes, row.exact_peak) == (0, 512, False)


def test_what_goes_after_the_totals_are_set_back_and_nothing_is_left_has_a_row(allocator: Allocator) -> None:
    allocator.allocate(512, segment=True)
    meter = MemoryMeter([CudaMemory()])
    meter.read(0)
    allocator.free(512)
    allocator.reset_accumulated()
    allocator.reserved[0]["current"] = 0  # as `empty_cache()` does
    meter.read(None)

    assert [(e.freed_bytes, e.net_bytes) for e in entries(meter, 1)] == [(512, -512)]


def test_a_peak_is_exact_after_the_program_set_an_older_one_back(allocator: Allocator) -> None:
    allocator.allocate(1 << 20, segment=True)
    allocator.free(1 << 20)
    meter = MemoryMeter([CudaMemory()])
    meter.read(0)
    allocator.reset_peak()
    meter.read(1)
    allocator.allocate(1024)
    allocator.free(512)
    meter.read(None)

    assert [(e.call, e.peak_bytes, e.exact_peak) for e in entries(meter, 2)] == [(1, 1024, True)]


def test_each_device_has_rows_of_its_own_and_one_that_is_not_used_has_none(allocator: Allocator) -> None:
    meter = MemoryMeter([CudaMemory()])
    allocator.allocate(512, 1, segment=True)
    meter.read(0)
    allocator.allocate(1024, 1)
    meter.read(None)

    assert [(e.device, e.allocated_bytes) for e in entries(meter, 1)] == [("cuda:1", 1024)]


@pytest.mark.parametrize("backend", ["cudaMallocAsync", "pluggable"])
def test_an_allocator_without_totals_is_not_asked_for_them(allocator: Allocator, backend: str) -> None:
    allocator.backend = backend
    allocator.allocate(512, segment=True)

    assert CudaMemory().read() == ()
