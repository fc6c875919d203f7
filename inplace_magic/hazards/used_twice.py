"""Two backwards through one graph: the one that PyTorch refused, and what the record tells of the one before it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.stepped import Carried, carried_on
from inplace_magic.language import _
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent


@dataclass(frozen=True)
class Twice:
    """The refused backward, and what the record tells of the one before it."""

    story: Story
    second: CallEvent

    @cached_property
    def reached(self) -> set[int]:
        """The nodes to which it can come, without those of leaves, which save nothing."""
        found = self._through(self.second.index)
        return {number for number in found if self.story.nodes[number].variable is None}

    def _through(self, index: int) -> set[int]:
        backward = self.story.backwards[index]
        found = self.story.reached(backward.roots)
        return found if backward.inputs is None else self.story.leading_to(set(backward.inputs), found)

    @cached_property
    def first(self) -> tuple[CallEvent, AutogradNode] | None:
        """The backward that freed the graph, and the first freed node that the second one meets (the engine goes from
        the youngest to the oldest); one that failed on its way only where none else came there."""
        story = self.story
        earlier = [
            index
            for index, backward in story.backwards.items()
            if index < self.second.index and index in story.calls and not backward.retain_graph
        ]
        saving = {saved.node for saved in story.saved}
        for failed in (False, True):
            by_node: dict[int, int] = {}
            for index in sorted(earlier):
                if (story.calls[index].error is not None) == failed:
                    for number in self._through(index) & self.reached:
                        by_node.setdefault(number, index)
            used = [story.nodes[number] for number in (by_node.keys() & saving) or by_node]
            if used:
                node = max(used, key=lambda node: (node.sequence or 0, -node.node))
                return story.calls[by_node[node.node]], node
        return None

    @cached_property
    def old(self) -> set[int]:
        """The nodes that were used up; where the first backward is not known, those from before the watch."""
        if self.first is not None:
            return self._through(self.first[0].index) & self.reached
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
            reader = story.calls.get(story.nodes[number].call or -1)
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
