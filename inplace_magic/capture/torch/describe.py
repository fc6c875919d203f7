"""Live tensors and storages -> plain facts. Total: a fact that cannot be had is None, and nothing here raises.

Each use of a private attribute of torch's objects, here and in the files beside, says what breaks if it vanishes.

Reading must not run anybody's code: property reads of a tensor subclass would call its ``__torch_function__``, and
sizes of a wrapper subclass can call its ``__torch_dispatch__``. Hence plain tensors take the fast path, all others the
careful one, with subclass overrides switched off and sizes left unknown where they may be computed by Python code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch

from inplace_magic.capture.torch.layouts import LAYOUTS, Layout, shared

T = TypeVar("T")

PLAIN_TYPES = frozenset((torch.Tensor, torch.nn.Parameter))
"""Types whose properties are read by no code but torch's own."""
_STRIDED = torch.strided
NO_SUBCLASS_CODE = torch._C.DisableTorchFunctionSubclass
"""If it vanishes: reads of tensor subclasses would run their ``__torch_function__``; use the public
``torch._C.DisableTorchFunctionSubclass`` successor."""
tracing: Callable[[], Any] = getattr(torch._C, "_get_tracing_state", lambda: None)
"""Something while ``torch.jit.trace`` runs, else None. If it vanishes: a trace that begins elsewhere than at the doors
of :mod:`.doors` sees our reads."""
_DEFAULT_DISPATCH = torch._C._disabled_torch_dispatch_impl
"""If it vanishes: wrapper subclasses cannot be told from plain ones, so sizes of all subclasses become unknown."""


WITH_STORAGES = frozenset(("cpu", "cuda", "mps", "xpu", "meta"))
"""Kinds of devices whose tensors are known to answer."""
is_functional: Callable[[torch.Tensor], bool] = getattr(torch, "_is_functional_tensor", lambda tensor: False)
"""Whether it is a wrapper by which PyTorch functionalizes. If the function vanishes: one that was asked for its storage
refuses to grow."""
_storage_address: Callable[[torch.Tensor], int | None] = getattr(torch._C, "_storage_address", lambda tensor: None)
users_of_storage: Callable[[int], int] = getattr(torch._C, "_storage_Use_Count", lambda storage: 2)
"""How many tensors have a storage, by its address, where it has no Python object. If it vanishes: never one alone."""
is_wrapped: Callable[[torch.Tensor], bool] = getattr(
    getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", lambda tensor: False
)
"""Whether it stands for another one under ``torch.func``, and has no memory of its own. If it vanishes: each such
tensor is asked and raises, which takes 30 µs."""


class Wrapped:
    """Whether this process was seen to run ``torch.func``; to ask each tensor would cost what it saves there."""

    seen = False


def attempt(read: Callable[[], T]) -> T | None:
    """What a read gives; None where it raises."""
    try:
        return read()
    except Exception:  # describing is total: sparse, functorch, fake and inference tensors each refuse other facts
        return None


def _carefully(tensor: torch.Tensor, attribute: str) -> Any:
    with NO_SUBCLASS_CODE():
        return attempt(lambda: getattr(tensor, attribute))


def version(tensor: torch.Tensor) -> int | None:
    """``_version``; None for inference tensors, which do not count."""
    try:
        if type(tensor) in PLAIN_TYPES:
            return tensor._version
        with NO_SUBCLASS_CODE():
            return tensor._version
    except RuntimeError:
        return None


def storage(tensor: torch.Tensor) -> Any:
    """Return the storage object, None where there is none (functorch wrappers); of a sparse tensor that of its
    values. Torch keeps one Python object per storage for the storage's whole life, so a weak reference to it tells
    when the memory goes. Never asked on devices of other kinds: a lazy tensor asked inside any dispatch mode ends
    the process."""
    try:
        if type(tensor) in PLAIN_TYPES:
            if is_functional(tensor) or (Wrapped.seen and is_wrapped(tensor)):  # the first could not be resized
                return None
            return tensor.untyped_storage() if tensor.is_cpu or tensor.device.type in WITH_STORAGES else None
        with NO_SUBCLASS_CODE():
            return tensor.untyped_storage() if tensor.device.type in WITH_STORAGES else None
    except Exception:  # NotImplementedError, RuntimeError and whatever a subclass's storage says
        Wrapped.seen = Wrapped.seen or bool(attempt(lambda: is_wrapped(tensor)))
        return attempt(lambda: _storage_of_values(tensor)) if type(tensor) in PLAIN_TYPES else None


def address_of_storage(tensor: torch.Tensor) -> int | None:
    """Return what tells a storage from all live ones, without giving it a Python object; None for all but strided plain
    tensors. If ``_storage_address`` vanishes: it is never told."""
    if type(tensor) not in PLAIN_TYPES or tensor.layout is not _STRIDED or tensor.device.type not in WITH_STORAGES:
        return None
    return None if is_functional(tensor) or is_wrapped(tensor) else attempt(lambda: _storage_address(tensor))


def _storage_of_values(tensor: torch.Tensor) -> Any:
    """What a write through ``values()`` writes, and what ``torch.sparse_coo_tensor`` keeps of what it is given; None
    for a tensor that is not sparse. If ``_values`` vanishes: sparse tensors have no memory that anybody knows of."""
    if tensor.layout is _STRIDED or is_wrapped(tensor) or tensor.device.type not in WITH_STORAGES:
        return None
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
        values = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
        return values.untyped_storage()


def base(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor that this one is a differentiable view of. If ``_base`` vanishes: views made before the watch
    lose their tie to the version counter of their base."""
    return tensor._base if type(tensor) in PLAIN_TYPES else _carefully(tensor, "_base")


def is_view(tensor: torch.Tensor) -> bool:
    """True if autograd takes the tensor for a view, whose ``grad_fn`` may be computed when it is read. If ``_is_view``
    vanishes: ``_base is not None`` says the same."""
    if type(tensor) in PLAIN_TYPES:
        return tensor._is_view()
    with NO_SUBCLASS_CODE():
        return bool(attempt(lambda: tensor._is_view()))


def is_leaf(tensor: torch.Tensor) -> bool:
    """True if no node made the tensor, told without giving its node a Python object; not to be asked of a view, where
    it would compute the ``grad_fn``."""
    return tensor.is_leaf if type(tensor) in PLAIN_TYPES else bool(_carefully(tensor, "is_leaf"))


def grad_fn(tensor: torch.Tensor) -> Any:
    """``grad_fn``; None also where reading it raises (a multi-output view whose base was written)."""
    try:
        if type(tensor) in PLAIN_TYPES:
            return tensor.grad_fn
        with NO_SUBCLASS_CODE():
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
    with NO_SUBCLASS_CODE():
        own_sizes = has_own_sizes(kind)
        strided = own_sizes and attempt(lambda: tensor.layout) is _STRIDED  # sparse tensors answer zeros
        return shared(
            (
                attempt(lambda: tuple(int(size) for size in tensor.shape)) if own_sizes else None,
                attempt(lambda: tuple(int(step) for step in tensor.stride())) if strided else None,
                attempt(lambda: int(tensor.storage_offset())) if strided else None,
                attempt(lambda: tensor.dtype),
                attempt(lambda: tensor.device),
                bool(attempt(lambda: tensor._is_view())),
                kind.__name__,  # not the class, which may be the user's
            )
        )


def has_own_sizes(kind: type) -> bool:
    """True if tensors of a class have sizes and memory of their own; those of a class that dispatches itself need
    not."""
    return getattr(kind, "__torch_dispatch__", _DEFAULT_DISPATCH) is _DEFAULT_DISPATCH


def gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    """``grad`` of a plain leaf; None for any other tensor, where reading it would warn."""
    if type(tensor) not in PLAIN_TYPES or tensor._is_view() or not tensor.is_leaf:
        return None  # of a view even `is_leaf` would compute its `grad_fn`
    return tensor.grad


def requires_grad(tensor: torch.Tensor) -> bool:
    """True if autograd follows the tensor."""
    return tensor.requires_grad if type(tensor) in PLAIN_TYPES else bool(_carefully(tensor, "requires_grad"))


def in_backward() -> bool:
    """True if the autograd engine runs on this thread. If ``_current_graph_task_id`` vanishes: operators of backward
    are billed to no direction, and a comparison's table calls them forward."""
    return bool(attempt(lambda: torch._C._current_graph_task_id() != -1))


def tensor_hooks(tensor: torch.Tensor) -> dict[str, Any]:
    """Return the hooks that hang on the tensor itself, by the attribute that holds them; a copy of it would have none.
    If the attributes vanish: a second run goes without such hooks and cannot say so."""
    with NO_SUBCLASS_CODE():
        found = {
            name: attempt(lambda name=name: getattr(tensor, name))  # type: ignore[misc]
            for name in ("_backward_hooks", "_post_accumulate_grad_hooks")
        }
    return {name: hooks for name, hooks in found.items() if hooks}
