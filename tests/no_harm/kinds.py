"""Which kind a call has, told from the tensors themselves in an unwatched run: the judge of what a report says."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from no_harm.snapshots import memory_bytes, storage_key, tensor_bits, tensors_of


@dataclass(frozen=True)
class _Before:
    tensor: torch.Tensor
    version: int | None
    storage: int | None
    geometry: Any
    bits: Any


def look(inputs: Any) -> list[_Before]:
    """The inputs as they are before a call."""
    return [
        _Before(tensor, _version(tensor), storage_key(tensor), _geometry(tensor), _memory(tensor))
        for _, tensor in tensors_of(inputs)
    ]


def expected_kinds(before: list[_Before], outputs: Any) -> tuple[frozenset[str], str]:
    """The kinds that are true of a call that has just returned, and why.

    More than one only where what happened leaves it open: a version that moved although neither data nor geometry did
    (``x.mul_(1)``, but also ``x.transpose_(0, 0)``), and tensors without a storage.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # looking at sparse tensors warns; the program did not
        return _expected(before, outputs)


def _expected(before: list[_Before], outputs: Any) -> tuple[frozenset[str], str]:
    wrote = [b for b in before if storage_key(b.tensor) == b.storage and _rewritten(b.bits, _memory(b.tensor))]
    moved = [b for b in before if _version(b.tensor) != b.version]
    reshaped = [b for b in before if _geometry(b.tensor) != b.geometry or storage_key(b.tensor) != b.storage]
    if wrote:
        return frozenset({"in-place"}), "an input's memory changed"
    if reshaped:
        return frozenset({"metadata"}), "an input's shape, strides, storage or flags changed, its memory did not"
    if moved:
        return frozenset({"in-place", "metadata"}), "an input's version moved"
    produced = [tensor for _, tensor in tensors_of(outputs)]
    if not produced:
        return frozenset({"query"}), "no tensor came out and nothing was written"
    inputs = {id(b.tensor) for b in before}
    storages = {b.storage for b in before if b.storage is not None}
    shared = [t for t in produced if id(t) in inputs or storage_key(t) in storages]
    if any(id(t) in inputs for t in shared):
        # `resize_` to the same size, `contiguous` of what is contiguous
        return frozenset({"view", "metadata"}), "an output is an input, unchanged"
    if shared:
        return frozenset({"view"}), "an output shares the storage of an input"
    if any(storage_key(t) is None for t in produced) and any(b.storage is None for b in before):
        return frozenset({"view", "ordinary"}), "tensors without a storage: sharing cannot be told"
    return frozenset({"ordinary"}), "every output has memory of its own"


def _version(tensor: torch.Tensor) -> int | None:
    return None if tensor.is_inference() else tensor._version


def _geometry(tensor: torch.Tensor) -> Any:
    try:
        return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.requires_grad
    except (RuntimeError, NotImplementedError):
        return tuple(tensor.shape), None, None, tensor.requires_grad


def _memory(tensor: torch.Tensor) -> Any:
    """The whole storage: `transpose_` reorders a tensor's elements without touching its memory."""
    try:
        storage = tensor.untyped_storage()
        return None if storage.device.type == "meta" else memory_bytes(storage.data_ptr(), storage.nbytes())
    except (RuntimeError, NotImplementedError):
        return tensor_bits(tensor)


def _rewritten(old: Any, new: Any) -> bool:
    """Whether memory that existed before has other contents; growth, as by `resize_`, is no write."""
    common = min(len(old), len(new)) if isinstance(old, bytes) and isinstance(new, bytes) else None
    return bool(old[:common] != new[:common]) if common is not None else bool(old != new)
