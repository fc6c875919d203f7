"""The gradients that a program's own forward means: everything that autograd saves is copied as it is saved.

Then no later write reaches what backward needs, and PyTorch's version check has nothing to look at, so a program that
raises "modified by an inplace operation" runs to its end, and one that goes wrong in silence gets it right. It needs no
fix and no rule. The copies go through ``torch.autograd.graph.saved_tensors_hooks``
(https://docs.pytorch.org/docs/stable/autograd.html#hooks-for-saved-tensors): a run of its own, never a watch.

What it does not reach: what a custom ``Function`` keeps on ``ctx`` without ``save_for_backward``, and what hooks of the
program's own pack, such as those of ``torch.utils.checkpoint``, whose recomputation reads its inputs later.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks


@dataclass(slots=True)
class Reach:
    """How far the copies reached."""

    own_hooks: bool = False
    """Whether the program entered saved-tensor hooks of its own, which then packed instead of these."""


@contextmanager
def saved_values_copied() -> Iterator[Reach]:
    """While the block runs, autograd keeps copies; on this thread."""
    reach, enter = Reach(), saved_tensors_hooks.__enter__
    copying = saved_tensors_hooks(copy_of, lambda packed: packed)

    def noting(self: saved_tensors_hooks) -> None:
        if self is not copying:
            reach.own_hooks = True
        return enter(self)

    saved_tensors_hooks.__enter__ = noting  # type: ignore[method-assign]  # put back below
    try:
        with copying:
            yield reach
    finally:
        saved_tensors_hooks.__enter__ = enter  # type: ignore[method-assign]


@contextmanager
def graphs_kept() -> Iterator[None]:
    """While the block runs, no backward frees its graph, so that one may be gone through again with what it saved."""
    grad, backward = torch.autograd.grad, torch.autograd.backward

    def keeping(function: Any, place: int) -> Any:
        def kept(*args: Any, **kwargs: Any) -> Any:
            if len(args) > place:
                return function(*args[:place], True, *args[place + 1 :], **kwargs)
            return function(*args, **{**kwargs, "retain_graph": True})

        return kept

    torch.autograd.grad, torch.autograd.backward = keeping(grad, 3), keeping(backward, 2)
    try:
        yield
    finally:
        torch.autograd.grad, torch.autograd.backward = grad, backward


def copy_of(saved: torch.Tensor) -> torch.Tensor:
    """A copy in the same layout, expanded dimensions included: with other strides a kernel may add in another order."""
    plain = saved.detach()
    if plain.layout != torch.strided or not plain.numel() or type(plain) is not torch.Tensor:
        return plain.clone()
    copied = plain.clone()
    if copied.stride() == plain.stride():
        return copied
    extent = 1 + sum((size - 1) * stride for size, stride in zip(plain.shape, plain.stride(), strict=True))
    memory = plain.as_strided((extent,), (1,)).clone()
    return memory.as_strided(plain.shape, plain.stride(), 0)
