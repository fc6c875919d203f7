"""Which of the values that autograd saved were other ones when backward read them.

Beside a copy of everything that is saved stands the saved memory itself; when backward asks for it, both are compared.
So a write is told by what it did, whoever made it: PyTorch, NumPy, a kernel that does not count. As :mod:`.oracle`,
this is a run of its own on copies, never a watch of the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.autograd.graph import saved_tensors_hooks

from inplace_magic.capture.torch import describe_memory
from inplace_magic.rerun.oracle import copy_of
from inplace_magic.rerun.outcome import same_bits


@dataclass(frozen=True, slots=True)
class ChangedSave:
    """A saved tensor whose values were other ones when backward read them."""

    number: int
    """How many tensors had been saved before it."""
    call: int
    """How many calls had begun when it was saved."""
    address: int | None
    """Where its elements lie."""
    shape: tuple[int, ...]


@dataclass(slots=True)
class Saves:
    """What was found while the block ran."""

    count: int = 0
    changed: dict[int, ChangedSave] = field(default_factory=dict)


_Packed = tuple[ChangedSave, torch.Tensor, torch.Tensor]


@contextmanager
def saves_compared(begun: Callable[[], int] | None = None, copied: Collection[int] = ()) -> Iterator[Saves]:
    """While the block runs, on this thread, autograd keeps what it would keep, and what of it was changed is noted."""
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
