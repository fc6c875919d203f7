"""Functions that write tensors without moving a version counter: which of their arguments they write, and whether they
did.

Most announce it: their schemas mark arguments as written that they do not give back, and only what is given back is
counted (``_fused_adam_``, ``_amp_update_scale_``, the observers of quantization). Of an operator that a library
defines (``torch.library``) PyTorch counts nothing by itself, whatever it gives back. The kernels of batch norm
announce nothing. Whether such a call writes may hang on a flag, or on the value of a tensor: a fused step under a
``GradScaler`` writes only where ``found_inf`` is 0. On a device nobody can know that without waiting for it, so the
answer is then that it may have written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.arguments import Arguments, Keywords, tensors_in

_TORCHS = "aten"
_OF_STATISTICS = frozenset(
    (
        *("batch_norm", "instance_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"),
        *("_native_batch_norm_legit", "_batch_norm_impl_index", "batch_norm_update_stats"),
        *("batch_norm_gather_stats", "batch_norm_gather_stats_with_counts"),
    )
)
"""They write running statistics that no schema announces."""
_STATISTICS = ("running_mean", "running_var")

_OF_PYTHON = frozenset(getattr(torch.Tensor, name) for name in ("apply_", "map_", "map2_"))
"""They write what a Python function gives for each element, and move no version; measured on 2.13."""

_NOT_WRITTEN = frozenset(("record_stream", "retain_grad", "set_data", "seed"))
"""They announce a write, and write no values."""
_ONLY_RAISED = {"_amp_foreach_non_finite_check_and_unscale_": "found_inf"}
"""Arguments that stay as they are unless something was found; they are counted if not."""

_FLAGS = ("training", "use_input_stats")
"""Where such an argument is false, nothing is written."""
_WRITES_AT = {"found_inf": 0, "observer_on": 1}
"""Tensors of one element, and the value at which a call writes."""
_UNSCALES = "grad_scale"
"""Where a fused step is given it, it writes its gradients too."""


class Uncounted(NamedTuple):
    """What a call writes without moving a version."""

    tensors: list[torch.Tensor]
    certain: bool = True
    """False: it may have left them as they were, which only a device knows."""


NOTHING = Uncounted([])


class _Signature(NamedTuple):
    """The parameters of a function in their order, with the values of those that may be left out, and the written."""

    parameters: dict[str, Any]
    written: tuple[str, ...]

    def uncounted(self, args: Arguments, kwargs: Keywords) -> Uncounted:
        """What a call with these arguments writes."""
        given = {**self.parameters, **dict(zip(self.parameters, args, strict=False)), **kwargs}
        if not all([given.get(flag, True) for flag in _FLAGS]):
            return NOTHING
        certain = True
        for name, value in _WRITES_AT.items():
            if given.get(name) is not None:
                found = _number(given[name])
                if found is not None and found != value:
                    return NOTHING
                certain = certain and found is not None
        unscales = given.get(_UNSCALES) is not None
        written = [given.get(name) for name in self.written if name != "grads" or unscales]
        return Uncounted(tensors_in(written, []), certain)


def uncounted_writes(func: Any, bare: str) -> Callable[[Arguments, Keywords], Uncounted] | None:
    """What finds, among the arguments of a call, the tensors that it writes without moving a version.

    Returns:
        None for a function that is not known to do so.
    """
    if isinstance(func, FunctionType):
        own: Any = getattr(F, bare, None)
        if bare not in _OF_STATISTICS or own is not func:
            return None
        named = inspect.signature(own).parameters.values()
        parameters = {each.name: None if each.default is each.empty else each.default for each in named}
        return _Signature(parameters, _STATISTICS).uncounted
    try:
        of_python = func in _OF_PYTHON
    except TypeError:  # it cannot be hashed, so it is none of torch's
        return None
    if of_python:
        return lambda args, kwargs: Uncounted(list(args[:1]))
    if isinstance(func, torch._ops.OpOverload):
        func = func.overloadpacket
        bare = func.__name__
    library = _library(func, bare)
    if library is None or bare.startswith("_foreach_") or bare in _NOT_WRITTEN:
        return None
    signature = _announced(library, bare)
    return None if signature is None else signature.uncounted


def _library(func: Any, bare: str) -> str | None:
    """Return who defines an operator, such as ``aten``; None of a function that is none."""
    if isinstance(func, torch._ops.OpOverloadPacket):
        return str(func).partition(".")[0]
    own = any([getattr(owner, bare, None) is func for owner in (torch, torch.Tensor, torch._C._nn)])
    return _TORCHS if own else None


def _announced(library: str, bare: str) -> _Signature | None:
    """By the schemas of an operator. Private; if that vanishes, such writes go unseen."""
    schemas_of: Any = getattr(torch._C, "_jit_get_schemas_for_operator", None)
    parameters: dict[str, Any] = {}
    written: list[dict[str, None]] = []
    for schema in () if schemas_of is None else schemas_of(f"{library}::{bare}"):
        if not _takes_tensors(schema):
            continue
        returned = schema.returns if library == _TORCHS else ()
        given_back = {name for each in returned if each.alias_info for name in each.alias_info.before_set}
        parameters = {each.name: each.default_value for each in schema.arguments} | parameters
        own = [each for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write]
        written.append({each.name: None for each in own if given_back.isdisjoint(each.alias_info.before_set)})
    if bare in _OF_STATISTICS:
        return _Signature(parameters, _STATISTICS)
    agreed = [name for name in written[0] if all([name in each for each in written])] if written else []
    certain = [name for name in agreed if name != _ONLY_RAISED.get(bare)]
    return _Signature(parameters, tuple(certain)) if certain else None


def _takes_tensors(schema: Any) -> bool:
    """True if it is one of a function's, and neither of its ``out=`` nor of TorchScript's lists."""
    if any([each.is_out for each in schema.arguments]):
        return False
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    try:
        return bool(torch._C._dispatch_has_kernel(name))
    except RuntimeError:  # the dispatcher does not have it
        return False


def _number(tensor: Any) -> Any:
    """Return the one element of a tensor in the CPU's memory; None of any other."""
    if not isinstance(tensor, torch.Tensor):
        return None
    found = describe_memory.flat(describe_memory.values(tensor, describe.layout(tensor), 1))
    return found[0] if found else None
