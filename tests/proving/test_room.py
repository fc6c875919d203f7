"""What counts as free memory of a GPU, before copies are made for a second run."""

from __future__ import annotations

import pytest
import torch
from memory.allocator import Allocator

from inplace_magic.rerun import memory as room

GIB = 1 << 30
FREE = {0: 3 * GIB, 1: 5 * GIB}
"""What the driver has left of each, beside other processes; of a part of a card (MIG) it tells as of a whole one."""


def no_counts(_device: object) -> dict[str, int]:
    raise RuntimeError("the pluggable allocator does not yet support getDeviceStats")


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> Allocator:
    made = Allocator(2)

    def stats(device: torch.device) -> dict[str, int]:
        counts = made.stats(device.index)
        return {f"{name}.all.current": each["all"]["current"] for name, each in counts.items()}

    monkeypatch.setattr(room, "cuda_is_used", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (FREE[device.index], 8 * GIB))
    monkeypatch.setattr(torch.cuda, "memory_stats", stats)
    return made


def free(index: int) -> int | None:
    return room.free_bytes(torch.device("cuda", index))


def test_what_the_allocator_holds_in_reserve_is_free_and_what_tensors_use_is_not(allocator: Allocator) -> None:
    allocator.allocate(2 * GIB)
    allocator.allocate(GIB)
    assert free(0) == 3 * GIB
    allocator.free(2 * GIB)
    assert free(0) == 5 * GIB
    allocator.empty_cache()
    assert free(0) == 3 * GIB


def test_each_device_is_asked_for_its_own(allocator: Allocator) -> None:
    allocator.allocate(GIB, 1)
    allocator.free(GIB, 1)

    assert (free(0), free(1)) == (3 * GIB, 6 * GIB)


def test_of_an_allocator_that_does_not_count_the_driver_alone_is_asked(
    allocator: Allocator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "memory_stats", no_counts)

    assert free(1) == 5 * GIB


def test_what_another_stream_still_works_on_is_not_free(allocator: Allocator, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"reserved_bytes.all.current": GIB, "allocated_bytes.all.current": 0, "active_bytes.all.current": GIB}
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda _device: counts)

    assert free(0) == 3 * GIB
