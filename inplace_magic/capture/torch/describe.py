"""Live tensors and storages -> plain facts. Total: a fact that cannot be had is None, and nothing here raises.

Each use of a private attribute of torch's objects, here and in the files beside, says what breaks if it vanishes.

Reading must not run anybody's code: property reads of a tensor subclass would call its ``__torch_function__``, and
sizes of a wrapper subclass can call its ``__torch_dispatch__``. Hence plain tensors take the fast path, all others the
careful one, with subclass overrides switched off and sizes left unknown where they may be computed by Python code.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from inplace_magic.capture.torch.layouts import LAYOUTS, Layout, shared
from inplace_magic.record.events import Number

T = TypeVar("T")

PLAIN_TYPES = frozenset((torch.Tensor, torch.nn.Parameter))
"""Types whose properties are read by no code but torch's own."""
_STRIDED = torch.strided
_NO_SUBCLASS_CODE = torch._C.DisableTorchFunctionSubclass
"""If it vanishes: reads of tensor subclasses would run their ``__torch_function__``; use the public
``torch._C.DisableTorchFunctionSubclass`` successor."""
tracing: Callable[[], Any] = getattr(torch._C, "_get_tracing_state", lambda: None)
"""Something while ``torch.jit.trace`` runs, else None. If it vanishes: a trace that begins elsewhere than at the doors
of :mod:`.doors` sees our reads."""
_DEFAULT_DISPATCH = torch._C._disabled_torch_dispatch_impl
"""If it vanishes: wrapper subclasses cannot be told from plain ones, so sizes of all subclasses become unknown."""


_WITH_STORAGES = frozenset(("cpu", "cuda", "mps", "xpu", "meta"))
"""Kinds of devices whose tensors are known to answer."""
_is_functional: Callable[[torch.Tensor], bool] = getattr(torch, "_is_functional_tensor", lambda tensor: False)
"""Whether it is a wrapper by which PyTorch functionalizes. If the function vanishes: one that was asked for its storage
refuses to grow."""
_is_wrapped: Callable[[torch.Tensor], bool] = getattr(
    getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", lambda tensor: False
)
"""Whether it stands for another one under ``torch.func``, and has no memory of its own. If it vanishes: each such
tensor is asked and raises, which takes 30 µs."""
_shares_lazily: Callable[[torch.Tensor], bool] = getattr(torch._C, "_is_cow_tensor", lambda tensor: False)
"""Whether it is copy-on-write and has no memory of its own so far."""
_address_only: Callable[[torch.Tensor], int] | None = getattr(torch._C, "_data_address", None)
"""If one of the two vanishes: copy-on-write tensors (``torch._lazy_clone``) are made real by being looked at."""


class _CopyOnWrite:
    """Whether this process was seen to have copy-on-write tensors; of storages alone it cannot be told."""

    seen = False


class _Wrapped:
    """Whether this process was seen to run ``torch.func``; to ask each tensor would cost what it saves there."""

    seen = False


def expect_copy_on_write() -> None:
    """From now on, storages are only asked in ways that do not make them real."""
    _CopyOnWrite.seen = True


def _try(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Exception:  # describing is total: sparse, functorch, fake and inference tensors each refuse other facts
        return None


def _carefully(tensor: torch.Tensor, attribute: str) -> Any:
    with _NO_SUBCLASS_CODE():
        return _try(lambda: getattr(tensor, attribute))


def version(tensor: torch.Tensor) -> int | None:
    """``_version``; None for inference tensors, which do not count."""
    try:
        if type(tensor) in PLAIN_TYPES:
            return tensor._version
        with _NO_SUBCLASS_CODE():
            return tensor._version
    except RuntimeError:
        return None


def storage(tensor: torch.Tensor) -> Any:
    """The storage object, None where there is none (functorch wrappers); of a sparse tensor that of its values. Torch
    keeps one Python object per storage for the storage's whole life, so a weak reference to it tells when the memory
    goes. Never asked on devices of other kinds: a lazy tensor asked inside any dispatch mode ends the process."""
    try:
        if type(tensor) in PLAIN_TYPES:
            if _is_functional(tensor) or (_Wrapped.seen and _is_wrapped(tensor)):  # the first could not be resized
                return None
            return tensor.untyped_storage() if tensor.is_cpu or tensor.device.type in _WITH_STORAGES else None
        with _NO_SUBCLASS_CODE():
            return tensor.untyped_storage() if tensor.device.type in _WITH_STORAGES else None
    except Exception:  # NotImplementedError, RuntimeError and whatever a subclass's storage says
        _Wrapped.seen = _Wrapped.seen or bool(_try(lambda: _is_wrapped(tensor)))
        return _try(lambda: _storage_of_values(tensor)) if type(tensor) in PLAIN_TYPES else None


def _storage_of_values(tensor: torch.Tensor) -> Any:
    """What a write through ``values()`` writes, and what ``torch.sparse_coo_tensor`` keeps of what it is given; None
    for a tensor that is not sparse. If ``_values`` vanishes: sparse tensors have no memory that anybody knows of."""
    if tensor.layout is _STRIDED or _is_wrapped(tensor) or tensor.device.type not in _WITH_STORAGES:
        return None
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
        values = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
        return values.untyped_storage()


def base(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor that this one is a differentiable view of. If ``_base`` vanishes: views made before the watch lose
    their tie to the version counter of their base."""
    return tensor._base if type(tensor) in PLAIN_TYPES else _carefully(tensor, "_base")


def is_view(tensor: torch.Tensor) -> bool:
    """Whether autograd takes the tensor for a view, whose ``grad_fn`` may be computed when it is read. If ``_is_view``
    vanishes: ``_base is not None`` says the same."""
    if type(tensor) in PLAIN_TYPES:
        return tensor._is_view()
    with _NO_SUBCLASS_CODE():
        return bool(_try(lambda: tensor._is_view()))


def is_leaf(tensor: torch.Tensor) -> bool:
    """Whether no node made the tensor, told without giving its node a Python object; not to be asked of a view, where
    it would compute the ``grad_fn``."""
    return tensor.is_leaf if type(tensor) in PLAIN_TYPES else bool(_carefully(tensor, "is_leaf"))


def grad_fn(tensor: torch.Tensor) -> Any:
    """``grad_fn``; None also where reading it raises (a multi-output view whose base was written)."""
    try:
        if type(tensor) in PLAIN_TYPES:
            return tensor.grad_fn
        with _NO_SUBCLASS_CODE():
            return tensor.grad_fn
    except RuntimeError:
        return None


def layout(tensor: torch.Tensor) -> Layout:
    """What the tensor looks like; unknown facts are None."""
    kind = type(tensor)
    if kind in PLAIN_TYPES and tensor.layout is _STRIDED:
        try:
            facts = (
                tensor.shape,
                tensor.stride(),
                tensor.storage_offset(),
                tensor.dtype,
                tensor.device,
                tensor._is_view(),
                kind,
            )
            known = LAYOUTS.get(facts)
            return known if known is not None else shared(facts)
        except TypeError:  # a symbolic size refuses to be hashed
            return shared(facts)
        except (RuntimeError, NotImplementedError):
            pass  # sparse and functorch tensors have no strides or data pointer: read what there is, one by one
    return _careful_layout(tensor)


def _careful_layout(tensor: torch.Tensor) -> Layout:
    kind = type(tensor)
    with _NO_SUBCLASS_CODE():
        own_sizes = has_own_sizes(kind)
        strided = own_sizes and _try(lambda: tensor.layout) is _STRIDED  # sparse tensors answer zeros
        return shared(
            (
                _try(lambda: tuple(int(size) for size in tensor.shape)) if own_sizes else None,
                _try(lambda: tuple(int(step) for step in tensor.stride())) if strided else None,
                _try(lambda: int(tensor.storage_offset())) if strided else None,
                _try(lambda: tensor.dtype),
                _try(lambda: tensor.device),
                bool(_try(lambda: tensor._is_view())),
                kind.__name__,  # not the class, which may be the user's
            )
        )


def has_own_sizes(kind: type) -> bool:
    """Whether tensors of a class have sizes and memory of their own; those of a class that dispatches itself need
    not."""
    return getattr(kind, "__torch_dispatch__", _DEFAULT_DISPATCH) is _DEFAULT_DISPATCH


def pointer(tensor: torch.Tensor) -> int | None:
    """``data_ptr()``, which would give a copy-on-write tensor memory of its own; that one is asked for the address of
    what it shares."""
    try:
        if type(tensor) in PLAIN_TYPES:
            if not (tensor.is_cpu or tensor.device.type in _WITH_STORAGES):
                return None
            if _Wrapped.seen and _is_wrapped(tensor) and not _is_functional(tensor):
                return None
            return _shared_address(tensor) if _shares_lazily(tensor) else tensor.data_ptr()
        with _NO_SUBCLASS_CODE():
            if not (has_own_sizes(type(tensor)) and tensor.device.type in _WITH_STORAGES):
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
        if _Wrapped.seen and _is_wrapped(tensor):
            return 0
        if type(tensor) in PLAIN_TYPES and not _shares_lazily(tensor) and not _is_functional(tensor):
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


def gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    """``grad`` of a plain leaf; None for any other tensor, where reading it would warn."""
    if type(tensor) not in PLAIN_TYPES or tensor._is_view() or not tensor.is_leaf:
        return None  # of a view even `is_leaf` would compute its `grad_fn`
    return tensor.grad


def requires_grad(tensor: torch.Tensor) -> bool:
    """Whether autograd follows the tensor."""
    return tensor.requires_grad if type(tensor) in PLAIN_TYPES else bool(_carefully(tensor, "requires_grad"))


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
            address = own_memory(tensor, nbytes) if known is None else memory_in(known, layout.begin, nbytes)
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


def error_text(error: BaseException) -> str:
    """``RuntimeError: text``; an exception whose text cannot be had is told by its type alone."""
    text = _try(lambda: str(error))
    return f"{type(error).__name__}: {text}" if text is not None else type(error).__name__


def flat(nested: Any) -> tuple[Number, ...] | None:
    """The numbers that :func:`values` gave, in row-major order."""
    if nested is None:
        return None
    if isinstance(nested, bytes):
        letter = chr(nested[0])
        return struct.unpack(f"={(len(nested) - 1) // struct.calcsize('=' + letter)}{letter}", nested[1:])
    if not isinstance(nested, list):
        return (nested,)
    return tuple(number for item in nested for number in flat(item) or ())


def storage_address(untyped: Any) -> int | None:
    """Address of a storage's memory; None or 0 where there is none."""
    try:
        return _address_by_tensor(untyped) if _CopyOnWrite.seen else untyped.data_ptr()
    except Exception:  # as in `_try`, which costs more; this runs for every saved tensor
        return None


def memory_in(untyped: Any, begin: int, nbytes: int) -> int:
    """The address of the byte `begin` of a storage, where so many from there on are its own; else 0."""
    try:
        address = _address_by_tensor(untyped) if _CopyOnWrite.seen else untyped.data_ptr()
        return address + begin if address and begin + nbytes <= untyped.nbytes() else 0
    except Exception:  # as in `_try`, which costs more; this runs for every saved tensor
        return 0


def _address_by_tensor(untyped: Any) -> int | None:
    """As ``untyped.data_ptr()``, which makes a copy-on-write storage real: a tensor on it can be asked without. If
    ``_DisableTorchDispatch`` vanishes: the address is unknown."""
    with _NO_SUBCLASS_CODE(), torch._C._DisableTorchDispatch():
        return pointer(torch.empty(0, dtype=torch.uint8, device=untyped.device).set_(untyped))


def storage_size(untyped: Any) -> int | None:
    """Bytes of a storage now; None where they are symbolic."""
    nbytes = _try(untyped.nbytes)
    return nbytes if type(nbytes) is int else None


def storage_facts(untyped: Any) -> tuple[int, torch.device | None, bool]:
    """(bytes, device, whether torch may resize it) of a storage. Torch may not where the memory belongs to somebody
    else (NumPy, DLPack, a file)."""
    try:
        nbytes = untyped.nbytes()
        if type(nbytes) is not int:  # a symbol of a shape environment, which would note every comparison
            nbytes = 0
        return nbytes, untyped.device, untyped.resizable() is not False
    except Exception:  # as in `_try`, which costs more; this runs for every new storage
        return storage_size(untyped) or 0, _try(lambda: untyped.device), _try(untyped.resizable) is not False


def in_backward() -> bool:
    """Whether the autograd engine runs on this thread. If ``_current_graph_task_id`` vanishes: operators of backward
    are billed to no direction, and a comparison's table calls them forward."""
    return bool(_try(lambda: torch._C._current_graph_task_id() != -1))


def tensor_hooks(tensor: torch.Tensor) -> dict[str, Any]:
    """The hooks that hang on the tensor itself, by the attribute that holds them; a copy of it would have none. If the
    attributes vanish: a second run goes without such hooks and cannot say so."""
    with _NO_SUBCLASS_CODE():
        found = {
            name: _try(lambda name=name: getattr(tensor, name))  # type: ignore[misc]
            for name in ("_backward_hooks", "_post_accumulate_grad_hooks")
        }
    return {name: hooks for name, hooks in found.items() if hooks}
