"""The gradients that a program's forward means: copy everything as autograd saves it.

Then no later write reaches the saved tensors, and PyTorch's version check passes. So a program that raises "modified by
an inplace operation" runs to its end, and one with silently wrong gradients gets the right ones, without a fix and
without a rule. The copies go through ``torch.autograd.graph.saved_tensors_hooks``
(https://docs.pytorch.org/docs/stable/autograd.html#hooks-for-saved-tensors): a run of its own, never a watch.

What it does not reach: what a custom ``Function`` keeps on ``ctx`` without ``save_for_backward``, and what hooks of the
program's own pack, such as those of ``torch.utils.checkpoint``, whose recomputation reads its inputs later.

With :func:`saves_compared` the saved memory stays beside its copy, and both are compared when backward reads it. So a
write shows by its effect, whether by PyTorch, NumPy or a kernel that does not count it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.autograd.graph import saved_tensors_hooks

from inplace_magic.capture.torch import describe_memory
from inplace_magic.rerun.outcome import same_bits
from inplace_magic.rerun.settings import attributes_set


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

    with attributes_set(saved_tensors_hooks, __enter__=noting), copying:
        yield reach


def copy_of(saved: torch.Tensor) -> torch.Tensor:
    """Return a copy in the same layout, expanded dimensions included: with other strides a kernel may add in another
    order."""
    plain = saved.detach()
    if plain.layout != torch.strided or not plain.numel() or type(plain) is not torch.Tensor:
        return plain.clone()
    copied = plain.clone()
    if copied.stride() == plain.stride():
        return copied
    extent = 1 + sum((size - 1) * stride for size, stride in zip(plain.shape, plain.stride(), strict=True))
    memory = plain.as_strided((extent,), (1,)).clone()
    return memory.as_strided(plain.shape, plain.stride(), 0)


@dataclass(frozen=True, slots=True)
class ChangedSave:
    """A saved tensor whose values had changed when backward read them."""

    number: int
    """How many tensors had been saved before it."""
    call: int
    """How many calls had begun when it was saved."""
    address: int | None
    """Where its elements lie."""
    shape: tuple[int, ...]


@dataclass(slots=True)
class Saves:
    """The findings of the block."""

    count: int = 0
    changed: dict[int, ChangedSave] = field(default_factory=dict)


_Packed = tuple[ChangedSave, torch.Tensor, torch.Tensor]


@contextmanager
def saves_compared(begun: Callable[[], int] | None = None, copied: Collection[int] = ()) -> Iterator[Saves]:
    """In this block, on this thread, autograd saves as usual, and changes of saved tensors are noted."""
    saves = Saves()

    def pack(saved: torch.Tensor) -> _Packed:
        with torch._C.DisableTorchFunction():  # no call of the program's
            number, saves.count = saves.count, saves.count + 1
            entry = ChangedSave(number, begun() if begun else 0, describe_memory.pointer(saved), tuple(saved.shape))
            return entry, copy_of(saved), saved.detach()

    def unpack(packed: _Packed) -> torch.Tensor:
        entry, copy, memory = packed
        with torch._C.DisableTorchFunction():
            if not same_bits([copy], [memory]):
                saves.changed[entry.number] = entry
        return copy if entry.number in copied else memory

    with saved_tensors_hooks(pack, unpack):
        yield saves
