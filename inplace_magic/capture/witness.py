"""Values where versions lie: NumPy, DLPack, ctypes and fused kernels write memory without telling a version counter.

Two witnesses, both digests of raw CPU memory, both only read:

* memory that somebody outside torch can reach (a storage that torch cannot resize: ``from_numpy``, ``from_dlpack``,
``frombuffer``,
  a memory map; or one handed out by ``Tensor.numpy``) is digested at every call's beginning and end, so that a
  foreign write is bracketed between two of the user's lines;
* small saved tensors are digested when they are saved and again when a backward begins.

A digest costs about 1 µs per KiB. CUDA memory is never read here: that would wait for the device.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from inplace_magic.capture import describe
from inplace_magic.capture.records import StorageRecord

SAVED_LIMIT = 4096
"""Bytes up to which a saved tensor is digested unless ``check_values`` asks for all."""
SHARED_LIMIT = 65536
"""Bytes up to which memory shared with NumPy and the like is digested unless ``check_values`` asks for all."""
EXPORTERS = frozenset(("numpy", "__array__", "__dlpack__", "to_dlpack"))
"""Functions that hand the memory of a tensor to somebody outside torch."""


def digest_bytes(pointer: int, nbytes: int) -> int:
    """A digest of raw memory, comparable within this process only."""
    return hash(ctypes.string_at(pointer, nbytes))


def dense_span(static: describe.Static) -> tuple[int, int] | None:
    """(address, bytes) of a CPU tensor that fills one stretch of memory without gaps; None for any other."""
    shape, strides, _, dtype, device, pointer, *_ = static
    if shape is None or strides is None or dtype is None or device is None or device.type != "cpu" or not pointer:
        return None
    elements = 1
    for size, stride in sorted(zip(shape, strides, strict=True), key=lambda pair: pair[1]):
        if size == 1:
            continue
        if stride != elements:
            return None
        elements *= size
    return pointer, elements * dtype.itemsize


class SharedMemory:
    """The storages that somebody outside torch can write.

    Args:
        check_values: digest them whatever their size.
    """

    def __init__(self, check_values: bool) -> None:
        self._limit = None if check_values else SHARED_LIMIT
        self._digests: dict[StorageRecord, int] = {}
        self.too_large: dict[int, StorageRecord] = {}

    def __bool__(self) -> bool:
        return bool(self._digests)

    def add(self, record: StorageRecord) -> None:
        """Begins to watch a storage; CPU only."""
        if record in self._digests or record.device is None or record.device.type != "cpu":
            return
        if self._limit is not None and record.nbytes > self._limit:
            self.too_large[record.serial] = record
            return
        digest = self._digest(record)
        if digest is not None:
            self._digests[record] = digest

    def changed(self) -> list[StorageRecord]:
        """The storages whose content is another than when it was last looked at."""
        found = []
        for record, before in list(self._digests.items()):
            now = self._digest(record)
            if now is None:
                del self._digests[record]
            elif now != before:
                self._digests[record] = now
                found.append(record)
        return found

    @staticmethod
    def _digest(record: StorageRecord) -> int | None:
        untyped: Any = record.ref()
        if untyped is None:
            return None
        try:
            return digest_bytes(untyped.data_ptr(), untyped.nbytes())
        except RuntimeError:
            return None


def saved_digest(data: torch.Tensor, static: describe.Static, check_values: bool) -> tuple[int, int, int] | None:
    """(offset in the storage, bytes, digest) of a saved tensor; None where it is too large, not dense or not in CPU
    memory."""
    span = dense_span(static)
    if span is None or span[1] == 0 or (span[1] > SAVED_LIMIT and not check_values):
        return None
    untyped = describe.storage(data)
    if untyped is None:
        return None
    return span[0] - untyped.data_ptr(), span[1], digest_bytes(*span)


def still_equal(record: StorageRecord, witness: tuple[int, int, int]) -> bool:
    """Whether the memory holds what the digest was taken of; True as well where it is gone."""
    untyped: Any = record.ref()
    offset, nbytes, digest = witness
    if untyped is None or untyped.nbytes() < offset + nbytes:
        return True
    return digest_bytes(untyped.data_ptr() + offset, nbytes) == digest
