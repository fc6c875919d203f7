"""Compare the bytes of tensors without copying them."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch

PLAIN_TENSORS = (torch.Tensor, torch.nn.Parameter)
_BYTES_AT_ONCE = 1 << 24


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
