"""Whether there is room for copies: how much memory they take, and how much is free."""

from __future__ import annotations

import os
from collections.abc import Iterable

import torch

from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.language import _
from inplace_magic.rerun.settings import cuda_is_used

GIB = 1024**3
SHARE = 0.5
"""Share of free memory above which copies are announced."""


def too_little_room(tensors: Iterable[torch.Tensor], *, copies: int = 1) -> str:
    """Return a sentence if copies of these tensors take more than half of the free memory; empty otherwise or if
    unknown."""
    needed: dict[torch.device, dict[int, int]] = {}
    for tensor in tensors:
        storage = describe.storage(tensor)
        if address := describe_memory.storage_address(storage):
            needed.setdefault(tensor.device, {})[address] = storage.nbytes()
    for device, sizes in needed.items():
        free, wanted = free_bytes(device), copies * sum(sizes.values())
        if free is not None and wanted > SHARE * free:
            return _(
                "inplace_magic: the copies for a second run take {needed:.1f} GiB, over half of the {free:.1f} GiB "
                "that are free on the {device}."
            ).format(needed=wanted / GIB, free=free / GIB, device=str(device).upper())
    return ""


def free_bytes(device: torch.device) -> int | None:
    """Return the memory that is free on a device; None where that is not known. On a GPU, or the part of one that is
    this process's (MIG), what the driver has left beside other processes, and what PyTorch's allocator holds in
    reserve."""
    if device.type == "cuda" and cuda_is_used():
        return int(torch.cuda.mem_get_info(device)[0]) + _in_reserve(device)
    if device.type != "cpu":
        return None
    try:
        with open("/proc/meminfo", encoding="ascii") as facts:  # Linux
            lines = dict(line.split(":", 1) for line in facts)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows; macOS has no such name
        return None


def _in_reserve(device: torch.device) -> int:
    """Return the bytes that the caching allocator can give at once: no tensor is on them, and no stream uses them."""
    try:
        counts = torch.cuda.memory_stats(device)
    except RuntimeError:  # an allocator of the program's own (`CUDAPluggableAllocator`) counts nothing
        return 0
    in_use = (counts.get(f"{kind}_bytes.all.current", 0) for kind in ("active", "allocated"))  # the driver's has one
    return max(0, int(counts.get("reserved_bytes.all.current", 0) - max(in_use)))
