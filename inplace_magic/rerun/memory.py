"""The memory of copies: how much they take, how much is free, and whether a tensor still has the bytes of another."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.language import _
from inplace_magic.rerun.settings import cuda_is_used

PLAIN_TENSORS = (torch.Tensor, torch.nn.Parameter)
_BYTES_AT_ONCE = 1 << 24
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


@dataclass(frozen=True, slots=True)
class Digest:
    """What two tensors with the same bits have in common."""

    dtype: torch.dtype
    shape: torch.Size
    device: torch.device
    bits: bytes


def digest(tensor: torch.Tensor) -> bytes:
    """Return a digest of the values of a plain tensor, in their order, whatever its strides."""
    found = hashlib.blake2b(digest_size=32)
    for piece in _pieces(tensor):
        here = piece.cpu()
        found.update((ctypes.c_char * here.numel()).from_address(here.data_ptr()))
    return found.digest()


def same_content(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True if two plain tensors of one layout have the same bytes; False if unknown."""
    if type(one) not in PLAIN_TENSORS or type(other) not in PLAIN_TENSORS:
        return False
    if {one.layout, other.layout} != {torch.strided} or (one.dtype, one.device) != (other.dtype, other.device):
        return False
    alike = (one.shape, one.stride(), one.is_conj(), one.is_neg()) == (
        *(other.shape, other.stride(), other.is_conj(), other.is_neg()),
    )
    if not alike or one.is_conj() or one.is_neg() or one.is_meta or not one.is_contiguous():
        return False
    return all(torch.equal(first, second) for first, second in zip(_pieces(one), _pieces(other), strict=True))


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the bytes of a tensor's values, in pieces."""
    if tensor.numel():
        flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        yield from torch.split(flat.view(torch.uint8), _BYTES_AT_ONCE)
