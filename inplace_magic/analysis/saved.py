"""Which tensor of the user's code a saved tensor is, and what its saving costs.

Autograd has no Python object for an output that it keeps (``SigmoidBackward0.result``), only its version counter and
layout. Views of one base share a counter, so of the tensors on that counter the one with the same layout is meant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.filled import filled
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace

if TYPE_CHECKING:
    from inplace_magic.analysis.story import Story

Origin = Literal["leaf", "input", "output", "clone of the input", "made for backward", "unknown"]
"""What a node keeps: a leaf such as a parameter, another input of its call, the call's output, a clone that autograd
made of what an in-place call was about to overwrite, or something that only backward needs (a mask, indices,
statistics)."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One saved tensor with what is known around it."""

    saved: SavedTensor
    tensor: int | None
    """Serial number of the tensor behind it, where one was in sight."""
    node: AutogradNode | None
    call: CallEvent | None
    """The call that made the node."""
    storage: Storage | None
    first: bool
    """Whether this is the first to keep the storage; summing the bytes of these counts nothing twice."""
    keepers: Mapping[str, int]
    """The names of all nodes that keep the storage, and how many of each; one mapping for all that is saved of it."""

    @property
    def origin(self) -> Origin:
        """What of the call it is."""
        return _origin(self.saved, self.call, self.storage.born if self.storage is not None else None)

    @property
    def storage_bytes(self) -> int | None:
        """Bytes of the whole storage that the saving keeps alive; a view may be much smaller."""
        return self.storage.nbytes if self.storage is not None else None

    @property
    def also_kept_by(self) -> dict[str, int]:
        """The same of the other nodes."""
        own = self.node.name if self.node is not None else None
        others = {name: count - (name == own) for name, count in self.keepers.items()}
        return {name: count for name, count in others.items() if count}


_kept = filled(Kept)


Layout = tuple[int | None, tuple[int, ...] | None, tuple[int, ...] | None, int | None]


def tensors_of_saved(trace: Trace) -> tuple[int | None, ...]:
    """For each of ``trace.saved`` the serial number of the tensor behind it; None where no tensor in sight is."""
    same_layout: dict[Layout, int] = {}
    for call in trace.calls:
        for facts in (*call.inputs, *call.outputs, *call.mutated):
            if facts.counter is not None:
                same_layout.setdefault((facts.counter, facts.shape, facts.strides, facts.offset), facts.tensor)
    behind = ((saved.tensor, (saved.counter, saved.shape, saved.strides, saved.offset)) for saved in trace.saved)
    return tuple([same_layout.get(layout) if tensor is None else tensor for tensor, layout in behind])


def kept_for_backward(story: Story) -> tuple[Kept, ...]:
    """Return every saved tensor with its node, its call, and who else keeps its memory; in the order of the nodes."""
    trace, nodes, calls, storages = story.trace, story.nodes, story.calls, story.storages
    keepers: defaultdict[int | None, Counter[str]] = defaultdict(Counter)
    for storage_of, number in dict.fromkeys((saved.storage, saved.node) for saved in trace.saved):
        if storage_of is not None and number in nodes:
            keepers[storage_of][nodes[number].name] += 1
    found: list[Kept] = []
    met: set[int | None] = {None}
    for saved, tensor in zip(trace.saved, story.saved_tensors, strict=True):
        node = nodes.get(saved.node)
        call = calls.get(node.call) if node is not None else None
        storage = storages.get(saved.storage) if saved.storage is not None else None
        first = saved.storage not in met
        found.append(_kept(saved, tensor, node, call, storage, first, keepers.get(saved.storage, {})))
        met.add(saved.storage)
    return tuple(found)


def _origin(saved: SavedTensor, call: CallEvent | None, born: int | None) -> Origin:
    if call is None or saved.storage is None:
        return "unknown"
    given = _on(saved, call.inputs)
    if given is not None:
        return "leaf" if given.is_trainable else "input"
    if _on(saved, (*call.outputs, *call.mutated)) is not None:
        return "output"
    if born != call.index:
        return "unknown"
    same = any((facts.shape, facts.dtype) == (saved.shape, saved.dtype) for facts in call.mutated)
    return "clone of the input" if same and saved.role == "first input" else "made for backward"


def _on(saved: SavedTensor, candidates: Iterable[TensorMetadata]) -> TensorMetadata | None:
    return next((facts for facts in candidates if facts.storage == saved.storage), None)


def told_by_the_call(
    saved: SavedTensor, nodes: Mapping[int | None, AutogradNode], calls: Mapping[int | None, CallEvent]
) -> SavedTensor:
    """Return the saved tensor with its counter, where the call that made the node has just one that fits."""
    if saved.counter is not None or saved.storage is not None or saved.hooked or saved.version is None:
        return saved
    call = calls.get(nodes[saved.node].call)
    if call is None or saved.shape is None:
        return saved
    listed = call.outputs if saved.role == "result" else call.inputs
    like = saved.shape, saved.dtype, saved.version
    without = (meta for meta in listed if meta.storage is None)
    fitting = {meta.tensor: meta for meta in without if (meta.shape, meta.dtype, meta.version) == like}
    if len(fitting) != 1:
        return saved
    (meta,) = fitting.values()
    return replace(saved, counter=meta.counter, tensor=meta.tensor)
