"""What can happen to a storage at one call, and which of its writes went past autograd's check."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.story import Story
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite

MarkKind = Literal["created", "viewed", "mutated", "uncounted", "unseen", "reshaped", "moved", "rebound", "raised"]
"""``created``: the storage came to be. ``viewed``: another tensor on it. ``mutated``: a write. ``uncounted``: a write
that moved no version counter, or only another one than that of a tensor kept for backward. ``unseen``: a write that no
call made; the mark stands at the call before which it was noticed. ``reshaped``: other shape or strides of the same
tensor, data untouched. ``moved``: a tensor that from here on has other memory. ``rebound``: a name that from here on is
another tensor. ``raised``: a call that wanted to change the tensor and was refused."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened to a storage at one call."""

    call: int
    kind: MarkKind
    tensor: int | None = None
    before: int | None = None
    """Version before it."""
    after: int | None = None
    """Version after it; None when unknown or when there is none."""
    counter: int | None = None
    """The version counter that `before` and `after` are of."""
    key: str = ""
    """The vertex of the graph that it made; empty when it has none."""
    site: Callsite | None = None
    name: str = ""
    """``rebound``: the name."""
    passes: int = 1
    """As :attr:`.CallEvent.passes`."""

    @property
    def is_write(self) -> bool:
        """True if data was written, or seen to be."""
        return self.kind in ("mutated", "uncounted", "unseen")


def judged(marks: list[Mark], kept: list[Keeping]) -> list[Mark]:
    """Return the marks, with a write marked as uncounted if it did not move the version of a tensor that autograd kept
    then.

    A weight that every step reads and the optimizer writes has as many marks as keepings, so these are not held against
    each other: of the keepings that began before a write, it is enough to know the one of each counter that lasts
    longest.

    Args:
        marks: of one lane; the writes among them in the order of time.
        kept: the lane's keepings, in the order in which they began.
    """
    found: list[Mark] = []
    waiting = deque(keeping for keeping in kept if keeping.counter is not None)
    longest: dict[int | None, float] = {}
    """By counter: until when something on it was kept."""
    for mark in marks:
        if mark.kind != "mutated" or mark.counter is None:
            found.append(mark)
            continue
        while waiting and waiting[0].call < mark.call:
            keeping = waiting.popleft()
            longest[keeping.counter] = max(longest.get(keeping.counter, -1.0), keeping.unbroken_until)
        longest = {counter: until for counter, until in longest.items() if until >= mark.call}
        found.append(replace(mark, kind="uncounted") if longest.keys() - {mark.counter} else mark)
    return found


End = Literal["freed", "died", "kept", "unknown"]
"""How a keeping ended. ``freed``: backward went through the node and let go. ``died``: the node did. ``kept``: not
before the end of the watch. ``unknown``: a backward failed somewhere on its way, or nothing told."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What one autograd node keeps of one storage."""

    call: int
    """Index of the call that saved it."""
    node: str
    """As PyTorch names it: ``SigmoidBackward0``."""
    names: tuple[str, ...]
    """The node's own names for what it keeps: ``result``."""
    version: int | None
    counter: int | None = None
    reads: tuple[int, ...] = ()
    """Indexes of the backwards that went through the node without an error while it kept this."""
    until: int | None = None
    """``freed``, ``unknown``: index of the backward that freed it, or that failed. ``died``: how many calls had begun.
    None: to the end of the watch, or nobody knows."""
    end: End = "unknown"
    key: str = ""
    """The vertex of the graph for the version that was saved; empty when it has none."""

    @property
    def unbroken_until(self) -> float:
        """Index of the call up to which it was certainly kept."""
        if self.until is None:
            return float("inf") if self.end == "kept" else self.call
        return self.until


_keeping = filled(Keeping)


def keepings_of(story: Story, graph: AutogradGraph) -> dict[int, list[Keeping]]:
    """Return the keepings of every storage, in the order in which they began; `graph` has the keys of vertices."""
    vertices = {(target, name): source for source, target, kind, name in graph.edges if kind == "saved"}
    failed = _failed(story)
    found: dict[tuple[int, int], Keeping] = {}
    for saved in story.trace.saved:
        node = story.nodes.get(saved.node)
        if saved.storage is None or node is None:
            continue
        maker, _ = story.saver_site(node)
        if maker is None:
            continue
        slot = saved.storage, node.node
        known = found.get(slot)
        if known is not None:
            found[slot] = replace(known, names=(*known.names, saved.name))
            continue
        until, end = _end(story, node, failed)
        runs = story.ran_through.get(node.node, ())
        found[slot] = _keeping(
            maker.index,
            node.name,
            (saved.name,),
            saved.version,
            saved.counter,
            tuple([run for run in runs if until is None or run <= until]),
            until,
            end,
            vertices.get((f"C{node.call}", f"{node.name}.{saved.name}"), ""),
        )
    by_storage = grouped((storage, keeping) for (storage, _), keeping in found.items())
    for keepings in by_storage.values():
        keepings.sort(key=lambda keeping: keeping.call)
    return by_storage


def _end(story: Story, node: AutogradNode, failed: dict[int, int]) -> tuple[int | None, End]:
    if node.pending:
        return None, "kept"
    for run in story.ran_through.get(node.node, ()):
        if not story.backwards[run].retain_graph:
            return run, "freed"
    if node.node in failed:
        return failed[node.node], "unknown"
    return (node.ended, "died") if node.ended is not None else (None, "unknown")


def _failed(story: Story) -> dict[int, int]:
    """For each node, the first backward that could come to it and raised: how far it came, nobody knows."""
    failed = [call.index for call in story.failed if call.index in story.backwards]
    return {number: index for index in reversed(failed) for number in story.reached_by(index)}
