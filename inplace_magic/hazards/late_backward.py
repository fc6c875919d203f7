"""A backward that comes too late: a step had moved what its graph saved, or another backward had freed the graph.

Told from the record. Of a step: the leaves that the backward fills, those that were stepped, whether another backward
had filled them, and the tensors from before the step that lead a younger loss to them. Of a graph that was used up: the
backward before, and the tensors by which the second one came to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.language import _
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite, where_they_part


@dataclass(frozen=True)
class Carried:
    """A tensor from before the step that was read after it, on the way to the loss of the later backward."""

    tensor: int
    name: str | None
    reader: Callsite | None
    made: CallEvent | None
    """The call that gave it; None where the watch did not see it."""
    recurrent: bool
    """True if it comes from the line that reads it, of an earlier pass."""


@dataclass(frozen=True)
class Stepped:
    """A step, the backward that came too late for it, and what lies between."""

    story: Story
    wrote: CallEvent
    leaves: frozenset[int]
    """The leaves that the line stepped."""
    backward: CallEvent | None
    """None where none ran, or was tried, after the step."""
    filled: frozenset[int]
    """The leaves to whose ``.grad`` that backward adds."""
    saver: CallEvent | None
    """The first call that saved what was stepped and through which that backward goes."""
    savers: tuple[CallEvent, ...] = ()
    """All of them."""

    @property
    def in_common(self) -> frozenset[int]:
        """The leaves that were stepped and that the backward fills as well."""
        return self.leaves & self.filled

    @property
    def step_has_gradients(self) -> bool:
        """True if another backward had filled these leaves for the step. The same line in an earlier pass is no other:
        then the step stands too early in its loop."""
        own = self.backward.callsite if self.backward is not None else None
        ran = (self.story.calls[at] for at in self.story.backwards_run if at < self.wrote.index)
        others = (call for call in ran if own is None or call.callsite != own)
        return any(filled_by(self.story, call) & (self.in_common or self.leaves) for call in others)

    def carried(self) -> list[Carried]:
        """Return tensors from before the step that lead a loss computed after it to the stepped leaves. None where the
        loss is older than the step."""
        story, since = self.story, self.wrote.index
        if self.backward is None or self.saver is None:
            return []
        roots = story.backwards[self.backward.index].roots
        if not all(_since(story, root) > since for root in roots):
            return []
        reached = story.reached(roots)
        savers = {call.index for call in _savers(story, self.wrote, self.leaves, reached)}
        made = (story.nodes[number] for number in reached)
        way = story.descendants({node.node for node in made if node.variable is None and node.call in savers}) & reached
        found: dict[int, Carried] = {}
        for number in sorted(way):
            reader = story.calls.get(story.nodes[number].call)
            if reader is None or reader.index <= since:
                continue
            for meta in reader.inputs:
                if meta.node in way and meta.node is not None and _since(story, meta.node) < since:
                    carried = carried_on(story, reader, meta)
                    recurrent = carried.recurrent and not self._in_one_pass(carried.reader, carried.made)
                    found.setdefault(meta.tensor, replace(carried, recurrent=recurrent))
        return list(found.values())

    def _in_one_pass(self, line: Callsite | None, made: CallEvent | None) -> bool:
        """True if what a line reads was made by another line above the step, and the step stands above the line."""
        wrote, origin = self.wrote.callsite, made.callsite if made is not None else None
        if line is None or wrote is None or origin is None:
            return False
        first, middle, last = where_they_part(origin.chain, wrote.chain, line.chain)
        return first.line < middle.line < last.line and first.same_function(middle) and middle.same_function(last)


def carried_on(story: Story, reader: CallEvent, meta: TensorMetadata) -> Carried:
    """Return what a call reads of an earlier pass, or of before a step: `recurrent` where the same line made it."""
    behind = story.reached([meta.node] if meta.node is not None else [])
    calls = (story.calls.get(story.nodes[node].call) for node in behind)
    line = reader.callsite
    recurrent = line is not None and any(line.same_line(call.callsite) for call in calls if call is not None)
    made = story.innermost_new(meta.tensor, reader.index)
    return Carried(meta.tensor, story.bindings.name(meta.tensor), line, made, recurrent)


def stepped(story: Story, hazard: Hazard) -> Stepped | None:
    """Return the step of a finding; None where it is not about a leaf that requires grad."""
    wrote = story.calls.get(hazard.call)
    if wrote is None or hazard.tensor is None or hazard.saved_by is None:
        return None
    alike = (call for call in story.trace.calls if call.callsite == wrote.callsite)
    storages = {mutation.storage for call in alike for mutation in call.mutations}
    known = {meta.tensor: meta for call in story.trace.calls for meta in call.inputs if meta.storage in storages}
    leaves = frozenset(t for t, meta in known.items() if meta.storage is not None and meta.is_trainable)
    own = next((meta.storage for meta in wrote.mutated if meta.tensor == hazard.tensor), None)
    if own is None or not any(known[leaf].storage == own for leaf in leaves):
        return None
    backward = backward_after(story, hazard)
    filled = filled_by(story, backward) if backward is not None else frozenset()
    reached = story.reached_by(backward.index) if backward is not None else set()
    savers = tuple(call for call in _savers(story, wrote, leaves, reached) if call.callsite is not None)
    first = savers[0] if savers else story.calls.get(hazard.saved_call)
    return Stepped(story, wrote, leaves, backward, filled, first, savers)


def _savers(story: Story, wrote: CallEvent, leaves: frozenset[int], reached: set[int]) -> list[CallEvent]:
    """Return the calls whose graphs, among these nodes, the step outdated. What comes after them is to be computed
    again."""
    made = {story.nodes[node].call for node in reached if story.nodes[node].variable is None}
    found = (story.calls[call] for call in sorted(call for call in made if call is not None) if call in story.calls)
    return [call for call in found if call.index < wrote.index and call.got(leaves)]


def backward_after(story: Story, hazard: Hazard) -> CallEvent | None:
    """Return the first backward after the write that raised, or used what was saved."""
    wrote = hazard.call if hazard.call is not None else -1
    saving = {node.node for node in story.trace.nodes if node.call == hazard.saved_call and node.call is not None}
    for call in story.trace.calls:
        if call.index > wrote and call.index in story.backwards and call.callsite is not None:
            if hazard.raised and call.was_refused("saved tensor changed"):
                return call
            if not hazard.raised and not saving.isdisjoint(story.went_through(call.index)):
                return call
    return None


def filled_by(story: Story, call: CallEvent) -> frozenset[int]:
    """Return the leaves to whose ``.grad`` a backward adds; none of ``torch.autograd.grad``."""
    if call.index not in story.backwards or call.does("gives gradients"):
        return frozenset()
    leaves = (story.nodes[node].variable for node in story.would_go_through(call.index))
    return frozenset(leaf for leaf in leaves if leaf is not None)


def _since(story: Story, node: int) -> int:
    """Return the index of the call that made a node; one before all where that is not known."""
    made = story.nodes[node].call
    return made if made is not None else -1


@dataclass(frozen=True)
class Twice:
    """The refused backward, and what the record tells of the one before it."""

    story: Story
    second: CallEvent

    @cached_property
    def reached(self) -> set[int]:
        """The nodes to which it can come, without those of leaves, which save nothing."""
        found = self.story.would_go_through(self.second.index)
        return {number for number in found if self.story.nodes[number].variable is None}

    @cached_property
    def first(self) -> tuple[CallEvent, AutogradNode] | None:
        """The backward that freed the graph, and the first freed node that the second one meets (the engine goes from
        the youngest to the oldest); one that failed on its way only where none else came there."""
        story = self.story
        ran = (index for index in story.backwards if index < self.second.index and index in story.calls)
        earlier = sorted(index for index in ran if not story.backwards[index].retain_graph)
        saving = {saved.node for saved in story.saved}
        for failed in (False, True):
            ended = [index for index in earlier if (story.calls[index].error is not None) == failed]
            by_node = {n: index for index in reversed(ended) for n in story.would_go_through(index) & self.reached}
            used = [story.nodes[number] for number in (by_node.keys() & saving) or by_node]
            if used:
                node = max(used, key=lambda node: (node.sequence or 0, -node.node))
                return story.calls[by_node[node.node]], node
        return None

    @cached_property
    def old(self) -> set[int]:
        """The nodes that were used up; where the first backward is not known, those from before the watch."""
        if self.first is not None:
            return self.story.would_go_through(self.first[0].index) & self.reached
        begun = next((call.sequence for call in self.story.trace.calls if call.sequence is not None), 0)
        return {n for n in self.reached if (self.story.nodes[n].sequence or 0) < begun}

    @cached_property
    def older(self) -> set[int]:
        """The nodes that were used up, and those from before that backward which lead to them: the last state of a
        recurrent layer, from which no loss had come."""
        if self.first is None:
            return self.old
        begun = self.first[0].index
        before = {n for n in self.reached - self.old if (self.story.nodes[n].call or begun) < begun}
        return self.old | {number for number in before if self.story.reached([number]) & self.old}

    @property
    def is_of_one_result(self) -> bool:
        """True if both backwards begin at the same result, or the second inside the graph of the first."""
        return set(self.story.backwards[self.second.index].roots) <= self.old

    @cached_property
    def joints(self) -> list[Carried]:
        """The tensors of the older graph from which the younger part of the second one goes on, as they were made."""
        return self._joints(self.old) or self._joints(self.older)

    def _joints(self, older: set[int]) -> list[Carried]:
        story = self.story
        found: dict[int, Carried] = {}
        for number in sorted(self.reached - older):
            reader = story.calls.get(story.nodes[number].call)
            for meta in reader.inputs if reader is not None else ():
                if meta.node in older and reader is not None and meta.node in story.nodes[number].next:
                    carried = carried_on(story, reader, meta)
                    later = self.first is not None and reader.index >= self.first[0].index
                    found.setdefault(meta.tensor, replace(carried, recurrent=later and carried.recurrent))
        return sorted(found.values(), key=lambda joint: joint.tensor)

    @property
    def stepped(self) -> CallEvent | None:
        """The first call between the two that wrote a leaf behind what was used up."""
        if self.first is None:
            return None
        leaves = {self.story.nodes[number].variable for number in self.story.reached(self.old)}
        metas = (meta for call in self.story.trace.calls for meta in call.inputs if meta.tensor in leaves)
        memory = {meta.storage for meta in metas if meta.storage is not None}
        between = (c for c in self.story.trace.calls if self.first[0].index < c.index < self.second.index)
        # through `.data`, too
        wrote = (c for c in between if any(m.tensor in leaves or m.storage in memory for m in c.mutations))
        return next((call for call in wrote if call.callsite is not None), None)

    @property
    def result(self) -> str:
        """The result of the second backward."""
        given = self.second.inputs
        found = self.story.bindings.written_name(self.second, given[0].tensor) if given else None
        return f"`{found}`" if found is not None else _("the result")

    @property
    def is_carried_on(self) -> bool:
        """True if each pass of a loop goes on from the state that the one before left."""
        return bool(self.joints) and all(joint.recurrent for joint in self.joints)
