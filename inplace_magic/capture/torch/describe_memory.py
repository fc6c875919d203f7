"""Where the values of live tensors and storages lie, and the values. Total, as :mod:`.describe`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from inplace_magic.capture.torch.describe import (
    NO_SUBCLASS_CODE,
    PLAIN_TYPES,
    WITH_STORAGES,
    Wrapped,
    attempt,
    has_own_sizes,
    is_functional,
    is_wrapped,
    storage,
)
from inplace_magic.capture.torch.layouts import Layout
from inplace_magic.record.events import Number

_shares_lazily: Callable[[torch.Tensor], bool] = getattr(torch._C, "_is_cow_tensor", lambda tensor: False)
"""Whether it is copy-on-write and has no memory of its own so far."""


_address_only: Callable[[torch.Tensor], int] | None = getattr(torch._C, "_data_address", None)
"""If one of the two vanishes: copy-on-write tensors (``torch._lazy_clone``) are made real by being looked at."""


_users: Callable[[int], int] = getattr(torch._C, "_storage_Use_Count", lambda cdata: 1)
"""How many hold a storage, by its ``_cdata``. In older PyTorch (2.8; not in 2.13) its Python object can be there when
nobody does: ``torch.multiprocessing`` keeps a weak reference of C++'s to each storage of a loader's batch. If it
vanishes from such a PyTorch: that one is asked for its address, which frees it once more, with a warning."""


class _CopyOnWrite:
    """Whether this process was seen to have copy-on-write tensors; of storages alone it cannot be told."""

    seen = False


def expect_copy_on_write() -> None:
    """From now on, storages are only asked in ways that do not make them real."""
    _CopyOnWrite.seen = True


def pointer(tensor: torch.Tensor) -> int | None:
    """``data_ptr()``, which would give a copy-on-write tensor memory of its own; that one is asked for the address of
    what it shares."""
    try:
        if type(tensor) in PLAIN_TYPES:
            if not (tensor.is_cpu or tensor.device.type in WITH_STORAGES):
                return None
            if Wrapped.seen and is_wrapped(tensor) and not is_functional(tensor):
                return None
            return _shared_address(tensor) if _shares_lazily(tensor) else tensor.data_ptr()
        with NO_SUBCLASS_CODE():
            if not (has_own_sizes(type(tensor)) and tensor.device.type in WITH_STORAGES):
                return None
            return _shared_address(tensor) if _shares_lazily(tensor) else tensor.data_ptr()
    except Exception:  # sparse, functorch and fake tensors have none
        return None


def _shared_address(tensor: torch.Tensor) -> int | None:
    expect_copy_on_write()
    return _address_only(tensor) if _address_only is not None else None


def own_memory(tensor: torch.Tensor, nbytes: int) -> int:
    """The address of a CPU tensor's first element, where so many bytes from there on are the tensor's own; else 0.

    The answer of ``data_ptr()`` alone proves nothing: a functional tensor has no memory and answers with its offset."""
    try:
        if Wrapped.seen and is_wrapped(tensor):
            return 0
        if type(tensor) in PLAIN_TYPES and not _shares_lazily(tensor) and not is_functional(tensor):
            untyped: Any = tensor.untyped_storage()  # the rest below in one breath, as this runs at every call
            address, begin = tensor.data_ptr(), untyped.data_ptr()
            return address if 0 < begin <= address and address + nbytes <= begin + untyped.nbytes() else 0
        untyped = storage(tensor) if has_own_sizes(type(tensor)) else None
        if untyped is None:
            return 0
        address = pointer(tensor) or 0  # first: it notices a copy-on-write tensor, whose storage must not be asked
        begin = storage_address(untyped) or 0
        return address if 0 < begin <= address and address + nbytes <= begin + untyped.nbytes() else 0
    except Exception:  # a storage without memory
        return 0


def values(tensor: torch.Tensor, layout: Layout, limit: int, known: Any = None) -> Any:
    """The elements of a small plain tensor in CPU memory, as nested lists or (a letter of ``struct`` and raw memory) as
    bytes; else None. Reading a CUDA tensor would wait for the device, so that is never done here.

    Args:
        tensor: the live tensor.
        layout: what it looks like.
        limit: up to how many elements are read.
        known: its storage, where that is known: to prove once more that the memory is its own costs twice as much.
    """
    if layout.numel is None or layout.numel > limit or type(tensor) not in PLAIN_TYPES:
        return None
    try:
        if layout.letter is not None and not tensor.is_neg():
            nbytes = layout.span or 0
            address = own_memory(tensor, nbytes) if known is None else memory_in_use(known, layout.begin, nbytes)
            if address:
                return layout.letter + layout.memory_at(address).raw  # one object instead of one for each element
        if layout.device is None or layout.device.type != "cpu" or layout.strides is None:
            return None
        if layout.numel and not own_memory(tensor, 1):
            return None
        if tensor.is_complex() or tensor.is_quantized:
            return None
        return tensor.tolist()
    except (RuntimeError, NotImplementedError):
        return None


def flat(nested: Any) -> tuple[Number, ...] | None:
    """The numbers that :func:`values` gave, in row-major order."""
    if nested is None:
        return None
    if isinstance(nested, bytes):
        return _unpacking(nested[0], len(nested) - 1)(nested, 1)
    if not isinstance(nested, list):
        return (nested,)
    return tuple(number for item in nested for number in flat(item) or ())


@lru_cache(maxsize=1024)
def _unpacking(letter: int, nbytes: int) -> Callable[[bytes, int], tuple[Number, ...]]:
    """What reads so many bytes of elements: a program has few sizes, and thousands of writes."""
    code = chr(letter)
    return struct.Struct(f"={nbytes // struct.calcsize('=' + code)}{code}").unpack_from


def storage_address(untyped: Any) -> int | None:
    """Address of a storage's memory; None or 0 where there is none."""
    try:
        if not _users(untyped._cdata):
            return None
        return _address_by_tensor(untyped) if _CopyOnWrite.seen else untyped.data_ptr()
    except Exception:  # as in `attempt`, which costs more; this runs for every saved tensor
        return None


def memory_in(untyped: Any, begin: int, nbytes: int) -> int:
    """As :func:`memory_in_use`, of a storage that nobody may hold any more."""
    try:
        return memory_in_use(untyped, begin, nbytes) if _users(untyped._cdata) else 0
    except Exception:  # as in `attempt`
        return 0


def memory_in_use(untyped: Any, begin: int, nbytes: int) -> int:
    """The address of the byte `begin` of a storage that a live tensor has, where so many from there on are its own;
    else 0."""
    try:
        address = _address_by_tensor(untyped) if _CopyOnWrite.seen else untyped.data_ptr()
        return address + begin if address and begin + nbytes <= untyped.nbytes() else 0
    except Exception:  # as in `attempt`, which costs more; this runs for every saved tensor
        return 0


def _address_by_tensor(untyped: Any) -> int | None:
    """As ``untyped.data_ptr()``, which makes a copy-on-write storage real: a tensor on it can be asked without. If
    ``_DisableTorchDispatch`` vanishes: the address is unknown."""
    with NO_SUBCLASS_CODE(), torch._C._DisableTorchDispatch():
        return pointer(torch.empty(0, dtype=torch.uint8, device=untyped.device).set_(untyped))


def storage_size(untyped: Any) -> int | None:
    """Bytes of a storage now; None where they are symbolic."""
    nbytes = attempt(untyped.nbytes)
    return nbytes if type(nbytes) is int else None


def storage_facts(untyped: Any) -> tuple[int, torch.device | None, bool]:
    """(bytes, device, whether torch may resize it) of a storage. Torch may not where the memory belongs to somebody
    else (NumPy, DLPack, a file)."""
    try:
        nbytes = untyped.nbytes()
        if type(nbytes) is not int:  # a symbol of a shape environment, which would note every comparison
            nbytes = 0
        return nbytes, untyped.device, untyped.resizable() is not False
    except Exception:  # as in `attempt`, which costs more; this runs for every new storage
        return storage_size(untyped) or 0, attempt(lambda: untyped.device), attempt(untyped.resizable) is not False
