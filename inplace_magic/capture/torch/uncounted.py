"""Functions that write tensors without moving a version counter: which of their arguments they write. The tables of
known liars live here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

from inplace_magic.capture.torch.arguments import Arguments, Keywords

_RUNNING_STATISTICS: dict[Any, tuple[tuple[int, int], int | None, str]] = {
    # function: (positions of running mean and variance, position of the flag that lets them be updated)
    F.batch_norm: ((1, 2), 5, "training"),
    F.instance_norm: ((1, 2), 5, "use_input_stats"),
    torch.batch_norm: ((3, 4), 5, "training"),
    torch.instance_norm: ((3, 4), 5, "use_input_stats"),
    torch.native_batch_norm: ((3, 4), 5, "training"),
    torch._native_batch_norm_legit: ((3, 4), 5, "training"),
    torch.ops.aten._batch_norm_with_update: ((3, 4), None, "training"),
}
"""They write running statistics that no schema announces and no version counts."""

_FUSED_OPTIMIZERS = frozenset(
    name for name in dir(torch) if name.startswith("_fused_") and name.endswith(("adam_", "adamw_", "sgd_", "adagrad_"))
)
"""They write their tensor lists without moving a version; measured on 2.13."""

_OF_PYTHON = frozenset(getattr(torch.Tensor, name) for name in ("apply_", "map_", "map2_"))
"""They write what a Python function gives for each element, and move no version; measured on 2.13."""

_STATISTICS = ("running_mean", "running_var")
_FUSED_ORDER = {
    "_fused_adam_": ("self", "grads", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"),
    "_fused_adamw_": ("self", "grads", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"),
    "_fused_sgd_": ("self", "grads", "momentum_buffer_list"),
    "_fused_adagrad_": ("self", "grads", "state_sums"),
}
"""The leading tensor lists in the order of their schemas (aten/src/ATen/native/native_functions.yaml)."""


_WRITTEN_LISTS = ("self", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs", "momentum_buffer_list", "state_sums")


def uncounted_writes(func: Any, bare: str) -> Callable[[Arguments, Keywords], list[torch.Tensor]] | None:
    """What finds, among the arguments of a call, the tensors that it writes without moving a version.

    Args:
        func: the torch function.
        bare: its name.

    Returns:
        None for a function that is not known to do so.
    """
    try:
        statistics = _RUNNING_STATISTICS.get(func)
        of_python = func in _OF_PYTHON
    except TypeError:  # it cannot be hashed, so it is none of torch's
        return None
    if statistics is not None:
        return partial(_running_statistics, *statistics)
    if of_python:
        return _first
    if bare in _FUSED_OPTIMIZERS and getattr(torch, bare, None) is func:
        return partial(_optimizer_lists, _FUSED_ORDER.get(bare, ()))
    return None


def _first(args: Arguments, kwargs: Keywords) -> list[torch.Tensor]:
    return list(args[:1])


def _running_statistics(
    positions: tuple[int, int], flag_position: int | None, flag: str, args: Arguments, kwargs: Keywords
) -> list[torch.Tensor]:
    if flag_position is None:
        training = True  # this spelling has no other mode
    elif len(args) > flag_position:
        training = args[flag_position]
    else:
        training = kwargs.get(flag, flag == "use_input_stats")
    if not training:
        return []
    found = [args[i] if len(args) > i else kwargs.get(name) for i, name in zip(positions, _STATISTICS, strict=True)]
    return [tensor for tensor in found if isinstance(tensor, torch.Tensor)]


def _optimizer_lists(order: tuple[str, ...], args: Arguments, kwargs: Keywords) -> list[torch.Tensor]:
    by_name = dict(zip(order, args, strict=False)) | dict(kwargs)
    lists = [by_name.get(name) for name in _WRITTEN_LISTS]
    return [tensor for entry in lists if isinstance(entry, (list, tuple)) for tensor in entry]
