"""What happened to which memory, storage by storage: the data of the timeline.

A reader asks of a tensor: who made it, which views share its memory, who wrote it, who keeps it for backward, until
when did it live. All tensors on one storage share the answer, so a lane is a storage. Facts come from the trace alone;
what it does not say (a death nobody saw, a version nobody read) is None here, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from inplace_magic.analysis.bindings import Bindings
from inplace_magic.analysis.effects import Effect, effects_of
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.rebindings import rebindings
from inplace_magic.analysis.story import Story
from inplace_magic.trace import CallEvent, Callsite, SavedTensor, Storage, TensorMetadata

MarkKind = Literal["created", "viewed", "mutated", "reshaped", "rebound", "unseen", "raised"]
"""``created``: the storage came to be. ``viewed``: another tensor on it. ``mutated``: a write. ``reshaped``: other
shape, strides or storage of the same tensor, data untouched. ``rebound``: a name left for another tensor. ``unseen``: a
write that no call made; the mark stands at the call before which it was noticed. ``raised``: a call that wanted to
write."""

End = Literal["freed", "died", "kept", "unknown"]
"""How a saved tensor's keeping ended: backward freed it; its node died; it is kept at the end of the watch; or
the watch cannot tell (a backward failed on its way)."""


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
    key: str = ""
    """The vertex of the graph that it made; empty when it has none."""
    name: str = ""
    """Of a rebinding: the name."""
    to: str = ""
    """Of a rebinding: the lane that the name went to."""
    site: Callsite | None = None


@dataclass(frozen=True, slots=True)
class Keeping:
    """A tensor that an autograd node keeps for backward, from the saving call on."""

    call: int
    node: str
    """As PyTorch names it: ``SigmoidBackward0``."""
    name: str
    """The node's own name for what it keeps: ``result``."""
    version: int | None
    tensor: int | None
    reads: tuple[int, ...] = ()
    """The backwards that went through the node without an error."""
    until: int | None = None
    """Index of the call that freed it, or before which it died, or that failed; None: to the end of the watch."""
    end: End = "unknown"
    key: str = ""
    """The vertex of the version that was saved."""


@dataclass(frozen=True, slots=True)
class LaneName:
    """A name by which the user's code reached a tensor of the lane."""

    name: str
    tensor: int
    since: int | None = None
    """Index of the call whose result it was bound to; None when that is not known."""
    until: int | None = None
    """Index of the call after which it pointed elsewhere."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One storage, or one tensor without a storage of its own (sparse, functorch)."""

    key: str
    """``S4``; ``T7`` for a tensor without a storage."""
    storage: int | None
    nbytes: int | None = None
    device: str = ""
    names: tuple[LaneName, ...] = ()
    tensors: tuple[int, ...] = ()
    """Serial numbers of the tensors that were seen on it, in that order."""
    marks: tuple[Mark, ...] = ()
    """In the order of time."""
    kept: tuple[Keeping, ...] = ()
    first: int | None = None
    """Index of the call that made it; None when it existed before the watch, or before its making was seen."""
    ended: int | None = None
    """How many calls had begun when it died; None when that was not seen."""
    alive: bool = False
    """Known to live at the end of the watch."""
    last: int = 0
    """Index of the last call that anything of it was seen at."""


@dataclass(slots=True)
class _Lane:
    marks: list[Mark] = field(default_factory=list)
    kept: list[Keeping] = field(default_factory=list)
    names: list[LaneName] = field(default_factory=list)
    tensors: dict[int, None] = field(default_factory=dict)
    last: int = 0
    nbytes: int | None = None


def lanes_of(story: Story, bindings: Bindings, graph: AutogradGraph, kept: dict[SavedTensor, int]) -> tuple[Lane, ...]:
    """The lanes of a trace in the order in which their storages were first met; those that nothing happened to are in.

    Args:
        story: the trace.
        bindings: its names.
        graph: its graph, for the keys of vertices.
        kept: what :func:`tensors_of_saved` gives for it.
    """
    return _Builder(story, bindings, graph, kept).lanes()


class _Builder:
    """Walks the calls once."""

    def __init__(self, story: Story, bindings: Bindings, graph: AutogradGraph, kept: dict[SavedTensor, int]) -> None:
        self.story = story
        self.bindings = bindings
        self.tensor_of = kept
        self.found: dict[str, _Lane] = {}
        self.lane_of: dict[int, str] = {}
        self.by_counter: dict[int, str] = {}
        self.vertices = {
            (vertex.made_by, vertex.tensor): vertex.key
            for vertex in graph.tensors
            if vertex.made_by is not None and vertex.origin in ("created", "viewed", "mutated", "reshaped")
        }
        self.saved_vertices = {(edge.target, edge.name): edge.source for edge in graph.edges if edge.kind == "saved"}
        self.drawn = {vertex.key for vertex in graph.calls}

    def lanes(self) -> tuple[Lane, ...]:
        trace = self.story.trace
        rebound: dict[int, list[tuple[str, int, int]]] = {}
        for row in rebindings(trace, self.bindings):
            rebound.setdefault(row.call, []).append((row.name, row.before, row.after))
        for call in trace.calls:
            self.add_call(call)
            for name, before, after in rebound.get(call.index, ()):
                self.add_rebinding(call, name, before, after)
        for unseen in trace.unseen:
            counted = self.by_counter.get(unseen.counter)
            if counted is not None:
                mark = Mark(
                    unseen.noticed, "unseen", None, unseen.version_before, unseen.version_after, site=unseen.callsite
                )
                self.found[counted].marks.append(mark)
        for foreign in trace.foreign:
            mark = Mark(foreign.noticed, "unseen", site=foreign.callsite)
            self.found.setdefault(f"S{foreign.storage}", _Lane()).marks.append(mark)
        storages = {f"S{storage.storage}": storage for storage in trace.storages}
        for key, storage in storages.items():
            lane = self.found.get(key)
            born = storage.born
            if born is not None and lane is not None and not any(mark.kind == "created" for mark in lane.marks):
                where = self.story.calls.get(born)
                lane.marks.append(Mark(born, "created", site=where.callsite if where is not None else None))
        for saved in trace.saved:
            self.add_saved(saved)
        self.add_names()
        return tuple(self.lane(key, found, storages.get(key)) for key, found in self.found.items())

    def see(self, facts: TensorMetadata, call: int) -> str:
        key = f"T{facts.tensor}" if facts.storage is None else f"S{facts.storage}"
        lane = self.found.setdefault(key, _Lane())
        lane.tensors[facts.tensor] = None
        lane.last = max(lane.last, call)
        if lane.nbytes is None:
            lane.nbytes = facts.nbytes
        self.lane_of[facts.tensor] = key
        if facts.counter is not None:
            self.by_counter[facts.counter] = key
        return key

    def add_call(self, call: CallEvent) -> None:
        for facts in call.inputs:
            self.see(facts, call.index)
        for row in effects_of(call):
            self.add_effect(call, row)
        if call.error is not None and not call.mutations and call.kind == "in-place" and call.inputs:
            lane = self.found[self.see(call.inputs[0], call.index)]
            written = call.inputs[0]
            lane.marks.append(Mark(call.index, "raised", written.tensor, written.version, None, site=call.callsite))

    def add_effect(self, call: CallEvent, row: Effect) -> None:
        facts = row.after or row.before
        old = self.lane_of.get(row.tensor)
        if facts is not None:
            key = self.see(facts, call.index)
        elif row.mutation is not None and row.mutation.storage is not None:
            key = f"S{row.mutation.storage}"
            self.found.setdefault(key, _Lane()).tensors[row.tensor] = None
        else:
            key = old or f"T{row.tensor}"
            self.found.setdefault(key, _Lane()).tensors[row.tensor] = None
        lane = self.found[key]
        lane.last = max(lane.last, call.index)
        if row.kind == "returned":
            return
        vertex = self.vertices.get((call.index, row.tensor), "")
        mark = Mark(
            call.index,
            row.kind,
            row.tensor,
            row.version_before,
            row.version_after,
            vertex,
            site=call.callsite,
        )
        lane.marks.append(mark)
        if row.kind == "reshaped" and old is not None and old != key:
            self.found[old].marks.append(
                Mark(call.index, "reshaped", row.tensor, row.version_before, None, vertex, to=key, site=call.callsite)
            )

    def add_rebinding(self, call: CallEvent, name: str, before: int, after: int) -> None:
        old, new = self.lane_of.get(before), self.lane_of.get(after)
        if old is None or new is None:
            return
        vertex = self.vertices.get((call.index, after), "")
        mark = Mark(call.index, "rebound", before, name=name, to=new, key=vertex, site=call.callsite)
        self.found[old].marks.append(mark)
        self.found[old].names.append(LaneName(name, before, None, call.index))
        self.found[new].names.append(LaneName(name, after, call.index))

    def add_saved(self, saved: SavedTensor) -> None:
        node = self.story.nodes.get(saved.node)
        if saved.storage is None or node is None:
            return
        maker, _ = self.story.saver_site(node)
        if maker is None:
            return
        lane = self.found.get(f"S{saved.storage}")
        if lane is None:
            lane = self.found[f"S{saved.storage}"] = _Lane(nbytes=saved.nbytes)
        until, end = self._end(saved.node)
        vertex = self.saved_vertices.get((f"C{node.call}", f"{node.name}.{saved.name}"), "")
        reads = tuple(self.story.ran_through.get(saved.node, ()))
        keeping = Keeping(
            maker.index,
            node.name,
            saved.name,
            saved.version,
            self.tensor_of.get(saved),
            tuple(read for read in reads if until is None or read <= until),
            until,
            end,
            vertex,
        )
        lane.kept.append(keeping)
        lane.last = max(lane.last, maker.index, *reads)

    def _end(self, number: int) -> tuple[int | None, End]:
        """When, and how, a node let go of what it kept."""
        node = self.story.nodes[number]
        if node.pending:
            return None, "kept"
        for run in self.story.ran_through.get(number, ()):
            if not self.story.backwards[run].retain_graph:
                return run, "freed"
        failed = self._failed.get(number)
        if failed is not None:
            return failed, "unknown"
        return (node.ended, "died") if node.ended is not None else (None, "unknown")

    @property
    def _failed(self) -> dict[int, int]:
        """The first failed backward that came, or would have come, through each node."""
        if not hasattr(self, "_failed_runs"):
            self._failed_runs: dict[int, int] = {}
            for index, backward in self.story.backwards.items():
                call = self.story.calls.get(index)
                if call is not None and call.error is not None:
                    for number in self.story.reached(backward.roots):
                        self._failed_runs.setdefault(number, index)
        return self._failed_runs

    def add_names(self) -> None:
        for lane in self.found.values():
            known = {name.name for name in lane.names}
            for tensor in lane.tensors:
                name = self.bindings.name(tensor)
                if name is not None and name not in known:
                    known.add(name)
                    lane.names.append(LaneName(name, tensor))

    def lane(self, key: str, found: _Lane, storage: Storage | None) -> Lane:
        born = storage.born if storage is not None else None
        created = next((mark.call for mark in found.marks if mark.kind == "created"), None)
        return Lane(
            key=key,
            storage=int(key[1:]) if key.startswith("S") else None,
            nbytes=storage.nbytes if storage is not None else found.nbytes,
            device=storage.device if storage is not None else "",
            names=_in_order(found.names),
            tensors=tuple(found.tensors),
            marks=tuple(sorted(found.marks, key=lambda mark: mark.call)),
            kept=tuple(sorted(found.kept, key=lambda keeping: keeping.call)),
            first=created if created is not None else born,
            ended=storage.ended if storage is not None else None,
            alive=storage is not None and storage.ended is None,
            last=found.last,
        )


def _in_order(names: Iterable[LaneName]) -> tuple[LaneName, ...]:
    """One entry for each name: rebinding may have told both when it came and when it went."""
    merged: dict[tuple[str, int], LaneName] = {}
    for name in names:
        known = merged.get((name.name, name.tensor))
        if known is None:
            merged[name.name, name.tensor] = name
        else:
            since = known.since if known.since is not None else name.since
            until = name.until if name.until is not None else known.until
            merged[name.name, name.tensor] = LaneName(name.name, name.tensor, since, until)
    return tuple(merged.values())
