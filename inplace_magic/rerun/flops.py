"""MACs and element operations of a run, by module and operator.

Matrix products and convolutions are counted by PyTorch's own ``torch.utils.flop_counter``. It knows no in-place
products, no attention and no LSTM of the CPU, and it counts every elementwise operator as nothing, so two variants
that differ in those would get wrong figures: the formulas it lacks are added through its ``custom_mapping``, and
elements are counted here, in a column of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from inplace_magic.capture.torch import describe
from inplace_magic.record.outcomes import Cost


@dataclass(slots=True)
class Counts:
    """What a counted run left."""

    costs: dict[tuple[str, str, str, bool], list[int]] = field(default_factory=dict)
    uncounted: dict[str, int] = field(default_factory=dict)
    parameter_count: int = 0
    """Elements of the parameters of all modules that ran, each counted once; known when the block has ended."""

    def rows(self) -> tuple[Cost, ...]:
        """Return the costs, in the order in which they first came up."""
        return tuple(Cost(*key, *values) for key, values in self.costs.items() if values[1] or values[2])


@contextmanager
def counting() -> Iterator[Counts]:
    """Counts what runs in the block, on this thread."""
    counts = Counts()
    modules: list[tuple[torch.nn.Module, str]] = []

    def enter(module: torch.nn.Module, _args: Any) -> None:
        outer = modules[-1] if modules else None
        own = "" if outer is None else next((n for n, child in outer[0].named_modules() if child is module), "")
        cls = type(module).__name__
        modules.append((module, cls if outer is None else f"{outer[1]}.{own or cls}"))
        held.update((id(parameter), parameter) for parameter in module.parameters())

    def leave(module: torch.nn.Module, _args: Any, _out: Any) -> None:
        while modules and modules.pop()[0] is not module:
            pass

    hooks = (register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True))
    held: dict[int, torch.nn.Parameter] = {}
    try:
        with _Tally(counts, modules):
            yield counts
    finally:
        counts.parameter_count = sum(parameter.numel() for parameter in held.values())
        for hook in hooks:
            hook.remove()


def _formulas() -> dict[Any, Any]:
    """PyTorch's formulas and ours, by operator.

    The counter itself is not entered: it follows modules by hooks on their inputs' gradients, which raise where the
    code calls ``torch.autograd.grad`` (seen with a gradient penalty, torch 2.13).
    """
    packets = {getattr(torch.ops.aten, name, None): formula for name, formula in FORMULAS.items()}
    known = {packet: formula for packet, formula in packets.items() if packet is not None}
    return FlopCounterMode(display=False, custom_mapping=known).flop_registry


class _Tally(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves __init_subclass__ untyped
    """Bills what each operator computed to the module whose forward runs."""

    def __init__(self, counts: Counts, modules: list[tuple[torch.nn.Module, str]]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._counts = counts
        self._formulas = _formulas()
        self._modules = modules

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        with self:  # in inference mode composite operators come here whole
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        out = func(*args, **kwargs)
        formula = self._formulas.get(func._overloadpacket)
        self._bill(func, args, out, formula(*args, **kwargs, out_val=out) // 2 if formula is not None else 0)
        return out

    def _bill(self, func: Any, args: Any, out: Any, macs: int) -> None:
        name = func._schema.name.removeprefix("aten::")
        name = name if name.startswith("__") else name.rstrip("_")
        elements = element_operations(func, name, args, out)
        if elements is None and not macs:
            self._counts.uncounted[name] = self._counts.uncounted.get(name, 0) + 1
            return
        backward = describe.in_backward()
        module, path = self._modules[-1] if self._modules and not backward else (None, "")
        key = (path, "" if module is None else type(module).__name__, name, backward)
        row = self._counts.costs.setdefault(key, [0, 0, 0])
        row[0] += 1
        row[1] += macs
        row[2] += elements or 0


Sizes = tuple[int, ...]


def _product(a: Sizes, b: Sizes) -> int:
    """FLOPs of a matrix product, batched or with a vector."""
    return 2 * prod(a) * (b[-1] if len(b) > 1 else 1)


def _attention(query: Sizes, key: Sizes, products: int) -> int:
    """FLOPs of matrix products that have, or take, the scores of attention.

    Args:
        products: the summed inner or outer sizes of all of them.
    """
    return 2 * prod(query[:-1]) * key[-2] * products


def _lstm(x: Sizes, weight: Sizes, recurrent: Sizes) -> int:
    return 2 * prod(x[:-1]) * (prod(weight) + prod(recurrent))


FORMULAS: dict[str, Callable[..., int]] = {
    **dict.fromkeys(
        ("addmm_", "baddbmm_", "addbmm", "addbmm_", "addmv", "addmv_", "_addmm_activation"),
        lambda _self, a, b, *_, **__: _product(a, b),
    ),
    **dict.fromkeys(("mv", "dot", "vdot"), lambda a, b, *_, **__: _product(a, b)),
    **dict.fromkeys(("addr", "addr_"), lambda _self, a, b, *_, **__: 2 * prod(a) * prod(b)),
    "_scaled_dot_product_flash_attention_for_cpu": lambda query, key, value, *_, **__: _attention(
        query, key, query[-1] + value[-1]
    ),
    # five products: the scores again, then those for value, scores, query and key
    "_scaled_dot_product_flash_attention_for_cpu_backward": lambda _grad, query, key, value, *_, **__: _attention(
        query, key, 3 * query[-1] + 2 * value[-1]
    ),
    "mkldnn_rnn_layer": lambda x, weight, recurrent, *_, **__: _lstm(x, weight, recurrent),
    "mkldnn_rnn_layer_backward": lambda x, weight, recurrent, *_, **__: 2 * _lstm(x, weight, recurrent),
}
"""What ``torch.utils.flop_counter`` of torch 2.13 counts as nothing, measured; two FLOPs per MAC as there."""

ADDS_BIAS = {
    **dict.fromkeys(("convolution", "_convolution", "mkldnn_convolution", "cudnn_convolution"), 2),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv", "addr", "_addmm_activation"), 0),
}
"""Operators that add a tensor to what they computed, and at which argument."""
ELEMENTWISE = frozenset(  # words of a table, so written as words
    """
    hardswish rrelu_with_noise native_dropout _softmax _log_softmax native_batch_norm _native_batch_norm_legit
    _native_batch_norm_legit_no_training _batch_norm_with_update _batch_norm_no_update native_layer_norm
    native_group_norm cudnn_batch_norm _fused_rms_norm avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d
    _adaptive_avg_pool3d max_pool2d_with_indices max_pool3d_with_indices cumsum cumprod softplus prelu _prelu_kernel
    upsample_nearest2d upsample_bilinear2d _softmax_backward_data
    _log_softmax_backward_data glu _safe_softmax threshold _amp_foreach_non_finite_check_and_unscale
    _amp_update_scale log_sigmoid_forward elu celu selu hardtanh leaky_relu mish hardsigmoid relu6 softshrink hardshrink
    """.split()  # noqa: SIM905  a hundred quoted lines would hide it
)
"""One operation per element of the first result, though PyTorch, or an older one that is supported, does not tag them
pointwise. So does the backward of each of them."""
REDUCTIONS = frozenset(
    (
        *("sum", "mean", "var_mean", "linalg_vector_norm", "_is_all_true", "mse_loss", "smooth_l1_loss", "huber_loss"),
        *("binary_cross_entropy", "nll_loss_forward", "nll_loss2d_forward"),
    )
)
"""One operation per element of the first argument, besides those that PyTorch tags as reductions."""
LOSSES = ("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nll_loss", "nll_loss2d")
MOVES = frozenset(  # words of a table, so written as words
    """
    empty empty_like empty_strided new_empty new_empty_strided zeros ones full zeros_like ones_like full_like fill
    zero arange eye linspace scalar_tensor lift_fresh copy clone _to_copy cat stack embedding index_select gather
    scatter index index_put _index_put_impl masked_select constant_pad_nd reflection_pad1d reflection_pad2d
    reflection_pad3d replication_pad1d replication_pad2d replication_pad3d repeat roll flip uniform normal bernoulli
    random randperm randint rand randn rand_like randn_like multinomial set resize nonzero sort topk argmax argmin
    split_with_sizes_copy _local_scalar_dense item equal new_zeros new_ones new_full select_backward slice_backward
    reflection_pad2d_backward constant_pad_nd_backward embedding_dense_backward _efficientzerotensor resolve_conj
    is_same_size profiler::_record_function_enter_new profiler::_record_function_exit unsafe_split _unsafe_view
    _reshape_alias triu tril im2col col2im exponential log_normal
    """.split()  # noqa: SIM905  a hundred quoted lines would hide it
)
"""What moves, makes or picks data and computes nothing on it."""


def _tags(func: Any, name: str) -> set[str]:
    """Return names of the operator's tags and, since some in-place operators lack theirs, of its twin that is not."""
    twin = getattr(getattr(torch.ops.aten, name, None), func._overloadname, func)
    return {str(tag).rsplit(".", 1)[-1] for tag in (*func.tags, *twin.tags)}


def element_operations(func: Any, name: str, args: Any, out: Any) -> int | None:
    """Operations of one per element; None for an operator that is not known to compute none."""
    if name in MOVES or any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns):
        return 0
    if name in ADDS_BIAS:
        added = args[ADDS_BIAS[name]] if len(args) > ADDS_BIAS[name] else None
        return _numel(out) if added is not None else 0
    tags = _tags(func, name)
    if "pointwise" in tags or name in ELEMENTWISE or name.startswith(("_foreach_", "_fused_")) or _is_backward(name):
        return _numel(out) or _numel(args[0] if args else None)
    if "reduction" in tags or name in REDUCTIONS:
        return _numel(args[0] if args else None)
    return None


def _is_backward(name: str) -> bool:
    """True if it is the backward of an operator with one operation per element."""
    forward = name.removesuffix("_backward")
    if forward == name:
        return False
    packet = getattr(torch.ops.aten, forward, None)
    tagged = packet is not None and any(
        str(tag) == "Tag.pointwise" for overload in packet.overloads() for tag in getattr(packet, overload).tags
    )
    return tagged or forward in ELEMENTWISE or forward in LOSSES


def _numel(value: Any) -> int:
    """Elements of a tensor, or of the first tensor of a result; of a list of tensors, all."""
    if isinstance(value, torch.Tensor):
        return value.numel()
    if isinstance(value, list):
        return sum(_numel(item) for item in value)
    return _numel(value[0]) if isinstance(value, tuple) and value else 0
