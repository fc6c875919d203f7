"""The record of one watched block: plain frozen data, no torch objects, no behaviour.

Capture writes a :class:`Trace`, everything else reads one. A trace can be saved, sent to a colleague and opened on a
machine without the model, so it has only numbers, strings and tuples. Standard library only.

Serial numbers are the identities: tensor 3 is shown as ``T3``, storage 2 as ``S2``. Python's ``id`` and ``data_ptr``
are facts to show, never keys, because the allocator reuses addresses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from inplace_magic.record.answer import Answer
from inplace_magic.record.autograd import AutogradNode, Backward, IdleStep, Registration, SavedTensor
from inplace_magic.record.events import CallEvent, ForeignWrite, OpEvent, UnseenWrite
from inplace_magic.record.memory import MemoryReading, Storage
from inplace_magic.record.names import (
    AliasStatement,
    Binding,
    Holding,
    InplaceModule,
    KeptByHook,
    LocalName,
    MethodOf,
    ModuleName,
    SourceText,
    TensorName,
)
from inplace_magic.record.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of one watch."""

    calls: tuple[CallEvent, ...] = ()
    discarded: int = 0
    """Number of recorded calls that were discarded again to limit memory."""
    nodes: tuple[AutogradNode, ...] = ()
    saved: tuple[SavedTensor, ...] = ()
    storages: tuple[Storage, ...] = ()
    readings: tuple[MemoryReading, ...] = ()
    """In order of time; the last reading of each device is from the end of the watch."""
    backwards: tuple[Backward, ...] = ()
    idle_steps: tuple[IdleStep, ...] = ()
    registrations: tuple[Registration, ...] = ()
    """Registrations of parameters that replaced others, or lie on memory that had a history."""
    ops: tuple[OpEvent, ...] = ()
    unseen: tuple[UnseenWrite, ...] = ()
    foreign: tuple[ForeignWrite, ...] = ()
    aliases: tuple[AliasStatement, ...] = ()
    bindings: tuple[Binding, ...] = ()
    """Bindings that no call's ``Callsite.targets`` has, oldest first."""
    methods: tuple[MethodOf, ...] = ()
    """For the first writes of each place in a method."""
    holdings: tuple[Holding, ...] = ()
    """For the first passes of each writing line, and of lines that read its tensor, oldest first."""
    hooked_modules: tuple[str, ...] = ()
    """Paths, from the user's namespace, of modules that carry a forward hook."""
    kept_by_hooks: tuple[KeptByHook, ...] = ()
    inplace_modules: tuple[InplaceModule, ...] = ()
    names: tuple[TensorName, ...] = ()
    local_names: tuple[LocalName, ...] = ()
    module_names: tuple[ModuleName, ...] = ()
    blindness: tuple[str, ...] = ()
    """Sentences on what this watch could not see."""
    threads_started: int = 0
    """At least so many Python threads were started by the watched code and can run user code; a watch sees none of
    their calls."""
    faults: tuple[str, ...] = ()
    """Internal errors, which did not reach the program; each asks to be reported."""
    error: str | None = None
    """Exception of the watched block, as ``RuntimeError: text``."""
    refusal: Refusal | None = None
    """Autograd's refusal, if it ended the block."""
    answer: Answer | None = None
    """The answer to an autograd error that no rule covers."""
    level: str = "calls"
    framework: Literal["torch", "paddle"] = "torch"
    """Framework of the tensors."""
    torch_version: str = ""
    """PyTorch's version; empty for another framework."""
    framework_version: str = ""
    """Version of a framework other than PyTorch."""
    cell: int | None = None
    source: tuple[str, ...] = field(default=())
    """The watched cell's lines, the magic line first; empty for ``with watch():``."""
    sources: tuple[SourceText, ...] = ()
    """Other files and cells with recorded lines, if their text is what ran."""

    @property
    def ran(self) -> int:
        """Number of calls that ran: recorded, repeated and discarded ones."""
        return sum([call.passes for call in self.calls]) + self.discarded
