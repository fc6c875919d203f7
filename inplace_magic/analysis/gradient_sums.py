"""The sums that backwards leave in gradients, and what became of each: a step was made by it, or nobody read it before
it was cleared."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent

_INDEX = attrgetter("index")
_STEPS = 4
"""So few steps say nothing of how often there is one."""


@dataclass(frozen=True)
class PartThrownAway:
    """A clearing between backwards of which every so many make one step."""

    backward: CallEvent
    clear: CallEvent
    step: CallEvent
    usual: int
    """Backwards from one step to the next."""
    left: int
    """Of these, those that the step was made by."""


@dataclass(frozen=True)
class _Sum:
    """What one backward or several left in the gradients."""

    backwards: tuple[int, ...]
    clear: CallEvent | None
    step: CallEvent | None


def part_thrown_away(uses: GradientUses, runs: list[int]) -> PartThrownAway | None:
    """What one line cleared before some of the steps, where all steps come after equally many backwards.

    Args:
        uses: of the gradients of a record.
        runs: of one backward, by call index.
    """
    periods: list[list[_Sum]] = [[]]
    for each in _sums(uses, runs):
        periods[-1].append(each)
        if each.step is not None:
            sizes = [sum(len(part.backwards) for part in period) for period in (periods[0], periods[-1])]
            if sizes[0] < 2 or sizes[0] != sizes[1]:
                return None
            periods.append([])
    whole = periods[:-1]
    cut = [period for period in whole if len(period) > 1]
    sites = {each.clear.callsite for period in cut for each in period if each.clear is not None}
    if len(whole) < _STEPS or not 2 <= len(cut) <= len(whole) - 2 or len(sites) != 1 or None in sites:
        return None
    thrown, stepped = cut[0][-2:]
    if thrown.clear is None or stepped.step is None:
        return None
    usual, left = sum(len(each.backwards) for each in cut[0]), len(stepped.backwards)
    return PartThrownAway(uses.story.calls[thrown.backwards[-1]], thrown.clear, stepped.step, usual, left)


def _sums(uses: GradientUses, runs: list[int]) -> Iterator[_Sum]:
    """Each sum in order, up to one that somebody has read, or of which it is not known."""
    story, begun = uses.story, list[int]()
    for index, until in pairwise([*runs, len(story.trace.calls)]):
        begun.append(index)
        filled = uses.of(index)
        if filled is None:
            return
        known = [clear for clear in filled.clears if clear is not None and clear.index < until]
        read = [use.index for use in filled.first if use is not None and use.index < until]
        if len(known) == len(filled.clears):
            yield _Sum(tuple(begun), min(known, key=_INDEX), None)
            begun = []
        elif read and not known:
            step = uses.first_step(filled, min(read), until)
            if step is None:
                return
            yield _Sum(tuple(begun), None, step)
            begun = []
        elif known or until == len(story.trace.calls):
            return  # left where they are


def _memories_of(story: Story, backward: int) -> set[int]:
    """The memories of the gradients that a backward made or added to."""
    return set(story.born_in.get(backward, ())) | {entry.storage for entry in story.backwards[backward].added_to}


def leaves_of(story: Story, backward: int) -> frozenset[int]:
    """The leaves that a backward came to."""
    nodes = (story.nodes[node] for node in story.executed[backward])
    return frozenset(node.variable for node in nodes if node.variable is not None)


def _is_hooked(story: Story, ran: set[int], leaves: frozenset[int]) -> bool:
    """Whether code of the user's may have seen the gradients while backward ran."""
    if ran & story.hooked_nodes or any(story.nodes[node].does("runs a module's hook") for node in ran):
        return True
    return any(call.got(leaves) for call in story.doing("registers hook"))


@dataclass(frozen=True)
class Filled:
    """The gradients that a backward filled: of each, the first call that got it, and the one that cleared it unread."""

    leaves: frozenset[int]
    first: tuple[CallEvent | None, ...]
    clears: tuple[CallEvent | None, ...]


class GradientUses:
    """Who got a gradient, and who moved the leaf, looked up and not searched: a long loop asks so of each pass."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._given: dict[int, Sequence[CallEvent]] = {}
        self._moves: dict[int, list[CallEvent]] = {}
        self._seen_elsewhere: dict[int, bool] = {}
        self._filled: dict[int, Filled | None] = {}

    def of(self, backward: int) -> Filled | None:
        """What became of the gradients of a backward; None where it is not known of each, or a hook may have seen
        them."""
        if backward not in self._filled:
            self._filled[backward] = self._of(backward)
        return self._filled[backward]

    def _of(self, backward: int) -> Filled | None:
        memories, leaves = _memories_of(self.story, backward), leaves_of(self.story, backward)
        if not leaves or len(memories) != len(leaves) or _is_hooked(self.story, self.story.executed[backward], leaves):
            return None
        first = {memory: self._first(memory, backward) for memory in memories}
        clears = [self._clears_unread(memory, backward, use, leaves) for memory, use in first.items()]
        return Filled(leaves, tuple(first.values()), tuple(clears))

    def first_step(self, filled: Filled, first: int, until: int) -> CallEvent | None:
        """The first call, of those from `first` to before `until`, that moved one of the leaves."""
        moves = (self._first_move(leaf, first, until) for leaf in filled.leaves)
        return min((move for move in moves if move is not None), key=_INDEX, default=None)

    def _first(self, memory: int, since: int) -> CallEvent | None:
        """The first call that got a gradient after a backward, but for what `zero_grad` asks of it before it clears
        it."""
        given = self._given_to(memory)
        place = bisect_right(given, since, key=_INDEX)
        while place < len(given) and given[place].kind == "metadata":
            place += 1
        return given[place] if place < len(given) else None

    def _first_move(self, leaf: int, first: int, until: int) -> CallEvent | None:
        """The first call, of those from `first` to before `until`, that moved a leaf, by whatever tensor on its
        memory."""
        if leaf not in self._moves:
            meta = self.story.observations.get(leaf)
            storage = meta.storage if meta is not None else None
            writes = self.story.writes_to_storage.get(storage, ()) if storage is not None else ()
            self._moves[leaf] = [call for call, _mutation in writes if not call.does("overwrites")]
        moves = self._moves[leaf]
        place = bisect_left(moves, first, key=_INDEX)
        return moves[place] if place < len(moves) and moves[place].index < until else None

    def _clears_unread(
        self, memory: int, since: int, use: CallEvent | None, leaves: frozenset[int]
    ) -> CallEvent | None:
        """The call that cleared a gradient before anybody read it; None where none did, or where somebody may have.

        Args:
            memory: of the gradient.
            since: the backward that filled it.
            use: the first call that got it after that.
            leaves: that the backward came to.
        """
        story = self.story
        if memory not in self._seen_elsewhere:
            given = self._given_to(memory)
            self._seen_elsewhere[memory] = memory in story.foreign_writes or any(
                call.does("gives out memory") or call.does("gives array") for call in given
            )
        if self._seen_elsewhere[memory]:
            return None
        if use is not None:
            clears = (use.does("zeroes") or use.does("fills")) and story.wrote(use.index, memory)
            return use if clears and use.parent is None else None
        dropped = story.calls.get(story.ended.get(memory, 0) - 1)
        if dropped is None or dropped.index <= since or not dropped.does("sets gradient") or len(dropped.inputs) != 1:
            return None
        return dropped if dropped.got(leaves) else None

    def _given_to(self, memory: int) -> Sequence[CallEvent]:
        if memory not in self._given:
            self._given[memory] = self.story.given_memory(memory)
        return self._given[memory]
