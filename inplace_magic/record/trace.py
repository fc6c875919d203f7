"""The record of one watched block: plain frozen data, no torch objects, no behaviour.

Capture writes a :class:`Trace`, everything else reads one. A trace can be saved, sent to a colleague and opened again
on a machine without the model, so it holds only numbers, strings and tuples. Standard library only.

Serial numbers are the identities: tensor 3 is shown as ``T3``, storage 2 as ``S2``. Python's ``id`` and ``data_ptr``
are kept as facts to show, never as keys, because the allocator gives the same address to several tensors in turn.
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
    LoopStatement,
    MethodOf,
    ModuleName,
    SourceText,
    TensorName,
)
from inplace_magic.record.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that one watch recorded."""

    calls: tuple[CallEvent, ...] = ()
    discarded: int = 0
    """How many further calls ran and were recorded, and discarded again to limit memory."""
    nodes: tuple[AutogradNode, ...] = ()
    saved: tuple[SavedTensor, ...] = ()
    storages: tuple[Storage, ...] = ()
    readings: tuple[MemoryReading, ...] = ()
    """In the order of time; the last one of each device was read at the end of the watch."""
    backwards: tuple[Backward, ...] = ()
    idle_steps: tuple[IdleStep, ...] = ()
    registrations: tuple[Registration, ...] = ()
    """Of parameters that replaced others, stand in several modules, or lie where something with a history lay."""
    ops: tuple[OpEvent, ...] = ()
    unseen: tuple[UnseenWrite, ...] = ()
    foreign: tuple[ForeignWrite, ...] = ()
    aliases: tuple[AliasStatement, ...] = ()
    bindings: tuple[Binding, ...] = ()
    """Those that no call tells, as it does of its result (``Callsite.targets``), oldest first."""
    methods: tuple[MethodOf, ...] = ()
    """Of the first writes of each place that lies in a method."""
    holdings: tuple[Holding, ...] = ()
    """Of the first passes of each line that writes, and of those that read what it wrote, oldest first."""
    loops: tuple[LoopStatement, ...] = ()
    """Where `kept_by_hooks` says anything: the loops that may be over it."""
    hooked_modules: tuple[str, ...] = ()
    """Paths, from the user's namespace, of modules that carry a forward hook."""
    hooked_calls: tuple[int, ...] = ()
    """Indices of calls whose output a forward hook of the layer kept, and no other hook can have kept, before another
    layer, inside the same line of the user's, wrote it in place."""
    kept_by_hooks: tuple[KeptByHook, ...] = ()
    inplace_modules: tuple[InplaceModule, ...] = ()
    names: tuple[TensorName, ...] = ()
    local_names: tuple[LocalName, ...] = ()
    module_names: tuple[ModuleName, ...] = ()
    blindness: tuple[str, ...] = ()
    """Sentences on what this watch could not observe."""
    threads_started: int = 0
    """Python threads that can run the user's code and that the watched code started, at least; a watch sees none of
    their calls."""
    processes_started: int = 0
    """Processes that run Python and that the watched code started, at least."""
    faults: tuple[str, ...] = ()
    """Faults of our own, contained; each asks to be reported."""
    error: str | None = None
    """What the watched block raised, as ``RuntimeError: text``."""
    refusal: Refusal | None = None
    """What autograd refused, where that is why the block ended."""
    answer: Answer | None = None
    """What the error left tells of its cause, where it is of autograd and nothing was refused that a rule is about."""
    level: str = "calls"
    framework: Literal["torch", "paddle"] = "torch"
    """Whose tensors these are."""
    torch_version: str = ""
    """Of PyTorch; empty for a trace of another framework."""
    framework_version: str = ""
    """Of a framework that is not PyTorch."""
    cell: int | None = None
    source: tuple[str, ...] = field(default=())
    """The watched cell's lines, the magic line first; empty for ``with watch():``."""
    sources: tuple[SourceText, ...] = ()
    """The other files and cells whose lines stand in the calls, as long as their text is what ran."""

    @property
    def ran(self) -> int:
        """How many calls ran: the recorded ones, those for which one of these stands, and the discarded ones."""
        return sum([call.passes for call in self.calls]) + self.discarded
