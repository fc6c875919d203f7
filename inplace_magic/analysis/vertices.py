"""What a graph is made of: versions of tensors, calls, and the arrows between them.

A tensor that is written in place is one object before and after, and a drawing with one node per tensor would show a
call that reads and makes the same node: a loop, in which nobody sees the order. So the vertices are *versions*:
``y.add_(1)`` reads ``T1@v0`` and makes ``T1@v1``, and a node of autograd that keeps ``T1@v0`` points visibly at what is
no longer there. PyTorch does not count every write (BatchNorm's running statistics, fused optimizers); such a write
makes the vertex ``T1@v0+1``: version 0 and one uncounted write.

Pure data: no drawing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from inplace_magic.analysis.effects import EffectKind
from inplace_magic.analysis.tree.module_names import Room
from inplace_magic.record.events import CallEvent, Kind, TensorMetadata
from inplace_magic.record.filled import filled
from inplace_magic.record.places import Callsite

EdgeKind = Literal["data", "saved", "view"]
"""``data``: a tensor into a call, or out of it. ``saved``: a tensor version to the call whose autograd node keeps it.
``view``: two tensors that share a storage, from the older one to the newer one."""
Origin = EffectKind | Literal["given", "inside", "shared", "unseen"]
"""How a version came to be. ``given``: it existed before the watch. ``inside``: its memory was made inside a call that
did not give it out, as ``backward`` makes gradients. ``shared``: written through another tensor that shares its memory,
so no call names this one. ``unseen``: it was there, but the watch did not see who wrote it."""


@dataclass(frozen=True, slots=True)
class TensorVertex:
    """One version of one tensor."""

    key: str
    """``T4@v0``."""
    tensor: int
    version: int | None
    origin: Origin
    made_by: int | None = None
    """Index of the call that made or wrote it; None when that was before the watch."""
    name: str = ""
    facts: TensorMetadata | None = None
    version_before: int | None = None
    """For a version that a write made: the version before it."""

    @property
    def mutated(self) -> bool:
        """True if this version came from a write into an existing tensor."""
        return self.origin in ("mutated", "shared", "unseen")

    @property
    def is_trainable(self) -> bool:
        """As :attr:`.TensorMetadata.is_trainable`; not where no facts are known."""
        return self.facts is not None and self.facts.is_trainable

    @property
    def is_variable(self) -> bool:
        """True if it was given by a variable of the reader's, as a batch is, and not by a module."""
        return self.origin == "given" and self.name.isidentifier() and not self.is_trainable


@dataclass(frozen=True, slots=True)
class CallVertex:
    """One call."""

    key: str
    """``C4``."""
    call: int
    name: str
    kind: Kind
    nodes: tuple[str, ...] = ()
    """The autograd nodes that the call made, as PyTorch names them; not those of leaves."""
    site: Callsite | None = None
    error: str | None = None
    modules: tuple[str, ...] = ()
    """As :attr:`.CallEvent.modules`."""
    parameters: tuple[str, ...] = ()
    """Names of the named parameters that it reads, e.g. ``model.layer1[0].conv1.weight``."""
    rooms: tuple[Room | None, ...] = ()
    """As :meth:`.ModuleNames.running` gives them for `modules`."""
    passes: int = 1
    """As :attr:`.CallEvent.passes`."""


_vertex = filled(CallVertex)


def vertex_of(
    call: CallEvent, nodes: tuple[str, ...] = (), parameters: tuple[str, ...] = (), rooms: tuple[Room | None, ...] = ()
) -> CallVertex:
    """Return the vertex of a call."""
    about = f"C{call.index}", call.index, call.name, call.kind
    return _vertex(*about, nodes, call.callsite, call.error, call.modules, parameters, rooms, call.passes)


class Edge(NamedTuple):
    """An arrow between two vertices, named by their keys. A tuple, because a long watch has the most of these."""

    source: str
    target: str
    kind: EdgeKind
    name: str = ""
    """For ``saved``: what the autograd node calls it, e.g. ``SigmoidBackward0.result``."""
