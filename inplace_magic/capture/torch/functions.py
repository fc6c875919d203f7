"""What is known of a torch function before it is called, cached by function."""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable
from types import CodeType, FunctionType, MethodDescriptorType
from typing import Any

import torch
from torch.nn import functional as F

from inplace_magic.capture.torch import describe_memory
from inplace_magic.capture.torch.arguments import Arguments, Keywords
from inplace_magic.capture.torch.dropped import OF_BYTES, READERS
from inplace_magic.capture.torch.traits import traits_of
from inplace_magic.capture.torch.uncounted import uncounted_writes
from inplace_magic.record.traits import Trait

METADATA_ONLY = frozenset(
    (
        *("resize_", "resize_as_", "resize_as_sparse_", "transpose_", "t_", "swapaxes_", "swapdims_", "squeeze_"),
        *("unsqueeze_", "set_", "as_strided_", "detach_", "requires_grad_", "rename_", "align_as_", "share_memory_"),
        *("retain_grad", "data.__set__", "requires_grad.__set__", "names.__set__", "_cudnn_rnn_flatten_weight"),
    )
)
"""They change shape, strides, storage or flags of a tensor and leave its data alone, yet most of them move its version:
`transpose_` and `unsqueeze_` do, see torch/csrc/autograd (ADInplaceOrView)."""

INPLACE_DUNDERS = frozenset(
    (
        *("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__"),
        *("__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__", "__idiv__", "__imatmul__"),
    )
)

TENSOR_GETTERS = frozenset(("data", "T", "mT", "H", "mH", "real", "imag"))
"""Properties that make a tensor. The others (`shape`, `requires_grad`, `grad`, …) only look, and are not recorded as
calls."""

QUESTIONS = frozenset(
    (
        *("dim", "numel", "size", "stride", "storage_offset", "element_size"),
        *("is_complex", "is_floating_point", "is_contiguous", "is_signed", "get_device"),
    )
)
"""Functions that tell what a tensor looks like and do nothing else; with nothing but the tensor they cannot fail."""

VALUE = "item"
"""Tells the value of a tensor of one element: optimizers ask for it as often as they have parameters, and more."""

EXPORTERS = frozenset(("numpy", "__array__", "__dlpack__", "to_dlpack"))
"""Functions that hand the memory of a tensor to somebody outside torch."""


class FunctionFacts:
    """One torch function, as far as it can be known before the call."""

    def __init__(self, func: Any) -> None:
        self.func = func
        self.foreign = _is_foreign(func)
        if isinstance(func, torch._ops.OpOverload):
            func = func.overloadpacket  # `aten.mul_.Tensor` is named, and known, as `aten.mul_`
        owner = getattr(func, "__self__", None)
        bare = getattr(func, "__name__", "") or type(func).__name__
        accessor = bare in ("__get__", "__set__", "__delete__")
        self.attribute: str = getattr(owner, "__name__", "") if accessor else bare
        self.key = f"{self.attribute}.{bare}" if accessor else bare
        self.is_getter = bare == "__get__"
        self.name = _display_name(func, self.attribute, bare)
        self.is_look = self.is_getter and self.attribute not in TENSOR_GETTERS
        self.cannot_warn = self.attribute not in ("grad", "names")  # `grad` warns for a tensor that is no leaf
        self.ignored = func is torch._C._set_grad_enabled or self.name.startswith("profiler.") or self.is_look
        self.metadata_only = self.key in METADATA_ONLY
        self.keeps_layout = not self.metadata_only and "resize" not in bare
        self.exports = self.attribute in EXPORTERS
        self.predicts_write = (bare.endswith("_") and not bare.startswith("__")) or bare in INPLACE_DUNDERS
        self.aliases_data = self.key == "data.__get__"
        self.sets_item = self.key == "__setitem__"
        self.runs_backward = runs_backward(func)
        self.code = func.__code__ if isinstance(func, FunctionType) else None
        self.inplace_position = _position(func, "inplace") if isinstance(func, FunctionType) else None
        self.may_write = self.predicts_write or self.inplace_position is not None
        self.renews_rows = isinstance(func, FunctionType) and bare in ("embedding", "embedding_bag")
        self.passes = not (self.may_write or self.runs_backward or self.renews_rows)
        self.uncounted = uncounted_writes(func, bare)
        self.asks_value = bare == VALUE
        self.asks = (self.asks_value or bare in QUESTIONS) and isinstance(
            func, (MethodDescriptorType, types.BuiltinFunctionType)
        )
        self.dropped = READERS.get(bare) if hasattr(func, "__objclass__") or type(func) in _BUILT_IN else None
        self.repeats = (
            isinstance(func, MethodDescriptorType)
            and self.predicts_write
            and self.keeps_layout
            and self.uncounted is None
            and (self.dropped is None or self.dropped in OF_BYTES)
        )
        self.traits: tuple[Trait, ...] = traits_of(self.name)
        if self.inplace_position is not None:
            self.traits = (*self.traits, "takes a flag")
        if bare == "_lazy_clone":
            describe_memory.expect_copy_on_write()

    def announced_writes(self, args: Arguments, kwargs: Keywords) -> Arguments:
        """Return the arguments that the call announces to write: by a trailing underscore, ``inplace=True``, ``out=``
        or an augmented assignment. They may be tensors or lists of tensors."""
        if kwargs:
            out = kwargs.get("out")
            if out is not None:
                return (out,)
            if kwargs.get("inplace") is True:
                return args[:1] or (kwargs.get("input"),)
        position = self.inplace_position
        if self.predicts_write or (position is not None and len(args) > position and args[position] is True):
            return args[:1] or (kwargs.get("input", kwargs.get("self")),)
        return ()


_RUN_BACKWARD = frozenset(
    (
        (torch._tensor.__file__, "backward"),
        (torch.autograd.__file__, "backward"),
        (torch.autograd.__file__, "grad"),
    )
)
"""By file and name of their code, since others may stand under torch's names for them."""
_TORCH_FOLDER = os.path.join(os.path.dirname(torch.__file__), "")

FACTS: dict[Any, FunctionFacts] = {}
"""All functions of torch's met so far."""


def facts_of(func: Any) -> FunctionFacts:
    """Return the facts of a function, computed once; of one that is not torch's each time, since keeping it would keep
    alive what it holds."""
    facts = FACTS.get(func)
    if facts is None:
        facts = FunctionFacts(func)
        if not facts.foreign:
            FACTS[func] = facts
    return facts


def runs_backward(func: Any) -> bool:
    """True if the engine calls the user's Python code while this runs: hooks, custom ``backward``, checkpoint's
    recomputation."""
    code = func.__code__ if isinstance(func, FunctionType) else None
    return code is not None and (code.co_filename, code.co_name) in _RUN_BACKWARD


def is_torchs(code: CodeType) -> bool:
    """True if a piece of code is written in torch's own files."""
    return code.co_filename.startswith(_TORCH_FOLDER)


def _is_foreign(func: Any) -> bool:
    if isinstance(func, type):  # ``torch.device("cpu")`` comes this way too
        return not func.__module__.startswith("torch")
    return not is_torchs(func.__code__) if isinstance(func, FunctionType) else not isinstance(func, _BUILT_IN)


class _Module:
    """A module of torch's with one attribute replaced."""

    def __init__(self, module: Any, name: str, value: Any) -> None:
        self._module = module
        setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def without_override_check(func: FunctionType) -> FunctionType:
    """Return the same function, without its first lines' question whether an override is active.

    A function mode is off inside its own handler, so the user's code that the engine runs would go unseen. It must be
    entered again for the time of the call; but then the function's own check would find it and call the handler once
    more, without end. Hence this copy: same code, defaults and file positions, with only the two checks answered
    "no". The globals are copied at each call, so whatever the user has replaced in torch's modules is honoured.

    ``Tensor.backward`` calls ``torch.autograd.backward``; its copy calls the copy of that. So the engine stands as deep
    in the stack as it does unwatched, and a warning of a hook with a ``stacklevel`` finds the user's line.
    """
    scope = {**func.__globals__, "has_torch_function": _no_override, "has_torch_function_unary": _no_override}
    inner: Any = torch.autograd.backward
    replaced = not isinstance(inner, FunctionType) or inner.__code__.co_filename != torch.autograd.__file__
    if func.__code__.co_filename == torch._tensor.__file__ and not replaced:
        within = _Module(torch.autograd, "backward", without_override_check(inner))
        scope["torch"] = _Module(torch, "autograd", within)
    copy = FunctionType(func.__code__, scope, func.__name__, func.__defaults__, func.__closure__)
    copy.__kwdefaults__ = func.__kwdefaults__
    return copy


def _no_override(*_: Any) -> bool:
    return False


def _position(func: Callable[..., Any], parameter: str) -> int | None:
    try:
        names = list(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return None
    return names.index(parameter) if parameter in names else None


def _display_name(func: Any, attribute: str, bare: str) -> str:
    """As a reader would write it: ``torch.sigmoid``, ``Tensor.add_``, ``F.relu``, ``Tensor.data``."""
    if bare == "__get__":
        return f"Tensor.{attribute}"
    if bare in ("__set__", "__delete__"):
        return f"Tensor.{attribute} ="
    module = getattr(func, "__module__", None) or ""
    if isinstance(module, str) and module in ("torch.nn.functional", "torch._C._nn"):
        return f"F.{bare.removeprefix('_')}" if bare.startswith("_") and hasattr(F, bare[1:]) else f"F.{bare}"
    if hasattr(func, "__objclass__") or module == "torch._tensor":
        return f"Tensor.{bare}"
    if module.startswith("torch._ops"):
        return str(func).replace("::", ".")
    if module.startswith(("torch._C._linalg", "torch.linalg")):
        return f"torch.linalg.{bare.removeprefix('linalg_')}"
    if module.startswith("torch.autograd"):
        return f"torch.autograd.{bare}"
    return f"torch.{bare}"


_BUILT_IN = (
    *(types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType),
    *(MethodDescriptorType, types.ClassMethodDescriptorType),
    *(torch._ops.OpOverload, torch._ops.OpOverloadPacket, torch._ops.HigherOrderOperator),
)
