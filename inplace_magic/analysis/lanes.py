"""What happened to which memory, storage by storage: the data of the timeline.

A reader asks of a tensor: who made it, which views share its memory, who wrote it, who keeps it for backward, until
when did it live. All tensors on one storage share the answer, so a lane is a storage. Facts come from the trace alone;
what it does not say (a death that nobody saw, a version that nobody read) is None here, never a guess.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from operator import attrgetter

from inplace_magic.analysis.effects import Effect
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.marks import Keeping, Mark, judged, keepings_of
from inplace_magic.analysis.naming.known import Rebinding
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite

_CALL = attrgetter("call")


@dataclass(frozen=True, slots=True)
class LaneName:
    """A name by which the user's code reached a tensor of the lane."""

    name: str
    until: Callsite | None = None
    """The line after which it was another tensor."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One storage; or one tensor without a storage of its own (sparse, functorch)."""

    key: str
    """``S4``; ``T7`` for a tensor without a storage."""
    storage: int | None
    nbytes: int | None = None
    names: tuple[LaneName, ...] = ()
    tensors: tuple[int, ...] = ()
    """Serial numbers of the tensors that were seen on it, in that order."""
    marks: tuple[Mark, ...] = ()
    """In the order of time."""
    kept: tuple[Keeping, ...] = ()
    first: int | None = None
    """Index of the call that made it; None when it existed before the watch, or nobody saw it being made."""
    ended: int | None = None
    """How many calls had begun when it died; None when that was not seen."""
    alive: bool = False
    """Known to live at the end of the watch."""
    last: int = 0
    """Index of the last call at which it was seen."""


_lane = filled(Lane)
_mark = filled(Mark)


@dataclass(slots=True)
class _Lane:
    marks: list[Mark] = field(default_factory=list)
    tensors: dict[int, None] = field(default_factory=dict)
    left: dict[str, Callsite | None] = field(default_factory=dict)
    """Names that went to another tensor, and where."""
    last: int = 0
    nbytes: int | None = None


def lanes_of(story: Story, graph: AutogradGraph) -> tuple[Lane, ...]:
    """Return the lanes of a trace, in the order in which their storages were first met; `graph` has the keys of
    vertices."""
    return _Builder(story, graph).lanes(keepings_of(story, graph))


class _Builder:
    """Walks the calls once."""

    def __init__(self, story: Story, graph: AutogradGraph) -> None:
        self.story = story
        self.bindings, self.effects = story.bindings, story.effects
        self.named = {*story.names, *self.bindings.namespace, *self.bindings.bound}
        """The tensors that have a name of any kind."""
        self.found = defaultdict[str, _Lane](_Lane)
        self.lane_of: dict[int, str] = {}
        self.by_counter: dict[int, str] = {}
        made = (vertex for vertex in graph.tensors if vertex.origin in ("created", "viewed", "mutated", "reshaped"))
        self.vertices = {(vertex.made_by, vertex.tensor): vertex.key for vertex in made if vertex.made_by is not None}

    def lanes(self, kept: dict[int, list[Keeping]]) -> tuple[Lane, ...]:
        trace = self.story.trace
        rebound = grouped((row.call, row) for row in self.story.rebindings)
        for call in trace.calls:
            self.add_call(call)
            for row in rebound.get(call.index, ()):
                self.add_rebinding(row, call.callsite)
        self.add_writes_from_outside()
        for storage, keepings in kept.items():
            lane = self.found[f"S{storage}"]
            for keeping in keepings:
                lane.last = max(lane.last, keeping.call, *keeping.reads)
        return tuple([self.frozen(key, lane, kept) for key, lane in self.found.items()])

    def see(self, facts: TensorMetadata, call: int) -> str:
        tensor, counter = facts.tensor, facts.counter
        key = f"T{tensor}" if facts.storage is None else f"S{facts.storage}"
        lane = self.found[key]
        lane.tensors[tensor] = None
        if call > lane.last:
            lane.last = call
        if lane.nbytes is None:
            lane.nbytes = facts.nbytes
        self.lane_of[tensor] = key
        if counter is not None:
            self.by_counter[counter] = key
        return key

    def add_call(self, call: CallEvent) -> None:
        for facts in call.inputs:
            self.see(facts, call.index)
        for row in self.effects[call.index]:
            if row.kind != "returned":
                self.add_effect(call, row)
        was_to_change = call.error is not None and (call.kind in ("in-place", "metadata") or call.name.endswith("_"))
        if was_to_change and not call.mutations and call.inputs:
            target = call.inputs[0]
            mark = Mark(call.index, "raised", target.tensor, target.version, None, target.counter, site=call.callsite)
            self.found[self.see(target, call.index)].marks.append(mark)
        if call.does("takes memory") and call.error is None and len(call.inputs) > 1:
            # The tensor takes the other one's memory; it is no output, and nothing was written.
            self.add_move(call, call.inputs[0], self.see(call.inputs[1], call.index))

    def add_effect(self, call: CallEvent, row: Effect) -> None:
        facts = row.after or row.before
        if facts is not None:
            old = self.lane_of.get(row.tensor)
            key = self.see(facts, call.index)
            if old is not None and old != key and row.before is not None:
                self.add_move(call, row.before, key)
                return
        else:
            written = row.mutation.storage if row.mutation is not None else None
            key = f"S{written}" if written is not None else self.lane_of.get(row.tensor, f"T{row.tensor}")
            self.found[key].tensors[row.tensor] = None
        counter = row.mutation.counter if row.mutation is not None else None
        if counter is None and facts is not None:
            counter = facts.counter
        uncounted = row.kind == "mutated" and row.version_before is not None and row.version_before == row.version_after
        mark = _mark(
            call.index,
            "uncounted" if uncounted else row.kind if row.kind != "returned" else "viewed",
            row.tensor,
            row.version_before,
            row.version_after,
            counter,
            self.vertices.get((call.index, row.tensor), ""),
            call.callsite,
            passes=call.passes,
        )
        lane = self.found[key]
        if call.index > lane.last:
            lane.last = call.index
        lane.marks.append(mark)

    def add_move(self, call: CallEvent, facts: TensorMetadata, key: str) -> None:
        old = f"T{facts.tensor}" if facts.storage is None else f"S{facts.storage}"
        vertex = self.vertices.get((call.index, facts.tensor), "")
        mark = Mark(call.index, "moved", facts.tensor, facts.version, None, facts.counter, vertex, call.callsite)
        for lane in dict.fromkeys((old, key)):
            self.found[lane].marks.append(mark)
        self.found[key].tensors[facts.tensor] = None
        self.lane_of[facts.tensor] = key

    def add_rebinding(self, row: Rebinding, site: Callsite | None) -> None:
        old, new = self.lane_of.get(row.before), self.lane_of.get(row.after)
        if old is None or new is None:
            return
        vertex = self.vertices.get((row.call, row.after), "")
        mark = Mark(row.call, "rebound", row.before, key=vertex, site=site, name=row.name)
        self.found[old].marks.append(mark)
        if new != old:
            self.found[old].left.setdefault(row.name, site)

    def add_writes_from_outside(self) -> None:
        for unseen in self.story.trace.unseen:
            key = self.by_counter.get(unseen.counter)
            if key is not None:
                before, after = unseen.version_before, unseen.version_after
                mark = Mark(unseen.noticed, "unseen", None, before, after, unseen.counter, site=unseen.callsite)
                self.found[key].marks.append(mark)
        for foreign in self.story.trace.foreign:
            mark = Mark(foreign.noticed, "unseen", site=foreign.callsite)
            self.found[f"S{foreign.storage}"].marks.append(mark)

    def frozen(self, key: str, lane: _Lane, keepings: dict[int, list[Keeping]]) -> Lane:
        number = int(key[1:]) if key[0] == "S" else None
        kept = keepings.get(number, []) if number is not None else []
        storage = self.story.storages.get(number) if number is not None else None
        born = storage.born if storage is not None else None
        ended = storage.ended if storage is not None else None
        marks = lane.marks
        if len(marks) == 1 and marks[0].kind == "created":  # most lanes: made once, and nothing else
            created: int | None = marks[0].call
        else:
            created = next((mark.call for mark in marks if mark.kind == "created"), None)
            # A name leaves a tensor after the call that gave it another one: what was dead before had lost it already.
            marks = [mark for mark in marks if mark.kind != "rebound" or ended is None or ended > mark.call]
            marks = judged(marks, kept) if kept else marks
            if created is None and born is not None:
                maker = self.story.calls.get(born)
                marks.append(_mark(born, "created", site=maker.callsite if maker is not None else None))
        return _lane(
            key,
            number,
            storage.nbytes if storage is not None else lane.nbytes,
            self.names(lane) if lane.left or not self.named.isdisjoint(lane.tensors) else (),
            tuple(lane.tensors),
            tuple(sorted(marks, key=_CALL) if len(marks) > 1 else marks),
            tuple(kept),
            created if created is not None else born,
            ended,
            storage is not None and ended is None,
            lane.last,
        )

    def names(self, lane: _Lane) -> tuple[LaneName, ...]:
        best = (self.bindings.name(tensor) for tensor in lane.tensors)
        others = (name for tensor in lane.tensors for name in self.story.names.get(tensor, ()))
        names = dict.fromkeys(name for name in (*best, *others) if name is not None)
        stays = [LaneName(name) for name in names if name not in lane.left]
        return (*stays, *(LaneName(name, site) for name, site in lane.left.items()))
