"""Memory: the blocks behind tensors, and what allocators said of themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resize:
    """Another size of a storage, by ``resize_`` or an ``out=`` that did not fit: one block goes, another comes."""

    nbytes: int
    call: int | None = None
    """Index of the call that did it; None when no call was seen to."""
    op: int | None = None
    """Level ``ops``: position in ``Trace.ops`` of the operator that did it."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A block of memory behind tensors, counted once however many views it has."""

    storage: int
    nbytes: int
    device: str
    born: int | None = None
    """Index of the call that made it; None when it existed before the watch."""
    ended: int | None = None
    """How many calls had begun when it died; None while it lives at the end of the watch."""
    born_op: int | None = None
    """Level ``ops``: position in ``Trace.ops`` of the operator that made it; None when none was seen to.
    Without `born`, the operator ran outside any call, as ``torch.ops.aten.add.Tensor(x, 1)`` does."""
    ended_op: int | None = None
    """Level ``ops``: how many operators had run when it died; None while it lives at the end of the watch."""
    foreign: bool = False
    """The memory belongs to NumPy or other code outside torch, so torch neither allocates nor frees it."""
    follows: int | None = None
    """The block that this one is once more: one of NumPy's that was written and died, with the same bytes at the same
    address. None where nothing is known."""
    resizes: tuple[Resize, ...] = ()
    """Its later sizes, in the order of time."""


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """An accelerator's own account of its memory, read as a call began, or as a call inside another one ended.

    Whatever happens until the next reading of the device is billed to ``call``. The two totals only ever grow, so
    their differences are what was allocated and freed in between, each block counted. Paddle's allocators have none:
    of their readings the difference is known, and the peak where it rose.
    """

    call: int | None
    """Index of the innermost call that ran on from here; None when no call did."""
    device: str
    allocated_bytes: int
    """In use by tensors and library workspaces, rounded up by the allocator: ``torch.cuda.memory_allocated()``."""
    reserved_bytes: int
    """Held by the allocator, in use or not: ``torch.cuda.memory_reserved()``."""
    peak_bytes: int
    """The most in use since the peak was last reset, by whomever."""
    allocated_total: int | None = None
    freed_total: int | None = None
    requested_bytes: int | None = None
    """Asked for by tensors and libraries, before the allocator rounded it up; None where it does not count that."""
    op: int | None = None
    """Position in ``Trace.ops`` of the operator that ran on from here; None when no operator had begun in the call."""
