"""Where the values of live tensors and storages lie, and the values. Total, as :mod:`.describe`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.describe import PLAIN_TYPES, WITH_STORAGES, Wrapped, is_functional, is_wrapped
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


_CPU = torch.device("cpu")


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
        with describe.NO_SUBCLASS_CODE():
            if not (describe.has_own_sizes(type(tensor)) and tensor.device.type in WITH_STORAGES):
                return None
            return _shared_address(tensor) if _shares_lazily(tensor) else tensor.data_ptr()
    except Exception:  # sparse, functorch and fake tensors have none
        return None


def _shared_address(tensor: torch.Tensor) -> int | None:
    expect_copy_on_write()
    return _address_only(tensor) if _address_only is not None else None


def _looks_like(tensor: torch.Tensor, seen: Layout) -> bool:
    """True if a strided tensor still lies in its storage as it did: another thread may have moved it, and no version
    tells. A quarter of what a new look costs."""
    return (
        tensor.dtype is seen.dtype
        and tensor.shape == seen.shape
        and tensor.stride() == seen.strides
        and tensor.storage_offset() == seen.offset
    )


def values(tensor: torch.Tensor, seen: Layout, limit: int, *, passing: bool = False) -> Any:
    """Return the elements of a small plain tensor in CPU memory, as nested lists or (a letter of ``struct`` and raw
    memory) as bytes; else None. Reading a CUDA tensor would wait for the device, so that is never done here.

    Args:
        tensor: the live tensor, whose :func:`pointer` was asked before.
        seen: what it looked like when last looked at; if it was large, it is not looked at again.
        passing: it is a gradient whose storage must not get a Python object.
    """
    if seen.numel is None or seen.numel > limit or type(tensor) not in PLAIN_TYPES:
        return None
    try:
        now = seen if _looks_like(tensor, seen) else describe.layout(tensor)
        if passing:
            return tensor.tolist() if tensor.is_cpu and now.numel is not None and now.numel <= limit else None
        untyped = describe.storage(tensor)
        if untyped is None or now.numel is None or now.numel > limit:
            return None
        if now.letter is not None and not tensor.is_neg():
            address = settled_memory(untyped, now.begin, now.span or 0)
            if address:
                return now.letter + now.memory_at(address).raw  # one object instead of one for each element
        if untyped.device != _CPU or now.strides is None:
            return None
        if now.numel and not settled_memory(untyped, now.begin, 1):
            return None
        if tensor.is_complex() or tensor.is_quantized:
            return None
        return tensor.tolist()
    except (RuntimeError, NotImplementedError):
        return None


def flat(nested: Any) -> tuple[Number, ...] | None:
    """Return the numbers that :func:`values` gave, in row-major order."""
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
    """Return the address of the byte `begin` of a storage that a live tensor has, where so many from there on are its
    own and lie in CPU memory; else 0. All raw memory is read at an address from here, so the storage itself is asked
    now."""
    try:
        if untyped.device != _CPU or begin + nbytes > untyped.nbytes():
            return 0
        address = _address_by_tensor(untyped) if _CopyOnWrite.seen else untyped.data_ptr()
        return address + begin if address else 0
    except Exception:  # as in `attempt`, which costs more; this runs for every saved tensor
        return 0


def settled_memory(untyped: Any, begin: int, nbytes: int) -> int:
    """As :func:`memory_in_use`; 0 as well for pinned memory, into which a device may still be copying."""
    if untyped.resizable() is False and is_pinned(untyped):
        return 0
    return memory_in_use(untyped, begin, nbytes)


def is_pinned(untyped: Any) -> bool:
    """True if a storage is page-locked for copies to and from a CUDA device. Nobody is asked before the program has
    begun to use CUDA, nor about memory that torch may resize, which pinned memory is not."""
    try:
        if untyped.resizable() is not False or not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            return False
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return torch.empty(0, dtype=torch.uint8, device=untyped.device).set_(untyped).is_pinned()
    except Exception:  # as in `attempt`, which costs more
        return False


def _address_by_tensor(untyped: Any) -> int | None:
    """As ``untyped.data_ptr()``, which makes a copy-on-write storage real: a tensor on it can be asked without. If
    ``_DisableTorchDispatch`` vanishes: the address is unknown."""
    with describe.NO_SUBCLASS_CODE(), torch._C._DisableTorchDispatch():
        return pointer(torch.empty(0, dtype=torch.uint8, device=untyped.device).set_(untyped))


def storage_size(untyped: Any) -> int | None:
    """Bytes of a storage now; None where they are symbolic."""
    nbytes = describe.attempt(untyped.nbytes)
    return nbytes if type(nbytes) is int else None


def storage_facts(untyped: Any) -> tuple[int, torch.device | None, bool]:
    """(bytes, device, whether torch may resize it) of a storage. Torch may not where the memory belongs to somebody
    else (NumPy, DLPack, a file), nor where it is pinned."""
    try:
        nbytes = untyped.nbytes()
        if type(nbytes) is not int:  # a symbol of a shape environment, which would note every comparison
            nbytes = 0
        return nbytes, untyped.device, untyped.resizable() is not False
    except Exception:  # as in `attempt`, which costs more; this runs for every new storage
        resizable = describe.attempt(untyped.resizable) is not False
        return storage_size(untyped) or 0, describe.attempt(lambda: untyped.device), resizable
