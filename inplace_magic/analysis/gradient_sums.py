"""The sums that backwards leave in gradients, and what became of each: a step was made by it, or nobody read it before
it was cleared."""

from __future__ import annotations

from collections.abc import Iterator
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


def part_thrown_away(story: Story, runs: list[int]) -> PartThrownAway | None:
    """What one line cleared before some of the steps, where all steps come after equally many backwards.

    Args:
        story: the record.
        runs: of one backward, by call index.
    """
    waiting: list[_Sum] = []
    periods: list[list[_Sum]] = []
    for each in _sums(story, runs):
        if each is None:
            return None
        waiting.append(each)
        if each.step is not None:
            periods.append(waiting)
            waiting = []
    sizes = {sum(len(each.backwards) for each in period) for period in periods}
    cut = [period for period in periods if len(period) > 1]
    sites = {each.clear.callsite for period in cut for each in period if each.clear is not None}
    enough = len(periods) >= _STEPS and 2 <= len(cut) <= len(periods) - 2
    if not enough or len(sizes) != 1 or len(sites) != 1 or None in sites:
        return None
    thrown, stepped = cut[0][-2:]
    if thrown.clear is None or stepped.step is None:
        return None
    usual, left = sizes.pop(), len(stepped.backwards)
    return PartThrownAway(story.calls[thrown.backwards[-1]], thrown.clear, stepped.step, usual, left)


def _sums(story: Story, runs: list[int]) -> Iterator[_Sum | None]:
    """Each sum in order; None for one that somebody has read, or of which it is not known."""
    begun: list[int] = []
    for index, until in pairwise([*runs, len(story.trace.calls)]):
        begun.append(index)
        memories, leaves = memories_of(story, index), leaves_of(story, index)
        if not leaves or len(memories) != len(leaves) or is_hooked(story, story.executed[index], leaves):
            yield None
            return
        uses = {memory: first_use(story, memory, index) for memory in memories}
        clears = [clears_unread(story, memory, index, use, leaves) for memory, use in uses.items()]
        known = [clear for clear in clears if clear is not None and clear.index < until]
        read = [use.index for use in uses.values() if use is not None and use.index < until]
        if len(known) == len(memories):
            yield _Sum(tuple(begun), min(known, key=_INDEX), None)
            begun = []
        elif read and not known:
            steps = [each for leaf in leaves for each in moves(story, leaf) if min(read) <= each.index < until]
            yield _Sum(tuple(begun), None, min(steps, key=_INDEX)) if steps else None
            begun = []
        elif known or until == len(story.trace.calls):
            return  # left where they are


def memories_of(story: Story, backward: int) -> set[int]:
    """The memories of the gradients that a backward made or added to."""
    return set(story.born_in.get(backward, ())) | {entry.storage for entry in story.backwards[backward].added_to}


def leaves_of(story: Story, backward: int) -> frozenset[int]:
    """The leaves that a backward came to."""
    nodes = (story.nodes[node] for node in story.executed[backward])
    return frozenset(node.variable for node in nodes if node.variable is not None)


def moves(story: Story, leaf: int) -> Iterator[CallEvent]:
    """The calls that moved a leaf, by whatever tensor on its memory."""
    meta = story.observations.get(leaf)
    for call, _mutation in story.writes_to_storage.get(meta.storage, ()) if meta and meta.storage is not None else ():
        if not call.does("overwrites"):
            yield call


def is_hooked(story: Story, ran: set[int], leaves: frozenset[int]) -> bool:
    """Whether code of the user's may have seen the gradients while backward ran."""
    if ran & story.hooked_nodes or any(story.nodes[node].does("runs a module's hook") for node in ran):
        return True
    return any(call.got(leaves) for call in story.doing("registers hook"))


def first_use(story: Story, memory: int, since: int) -> CallEvent | None:
    """The first call that got a gradient after a backward, but for what `zero_grad` asks of it before it clears it."""
    return next((call for call in story.given_memory(memory) if call.index > since and call.kind != "metadata"), None)


def clears_unread(
    story: Story, memory: int, since: int, use: CallEvent | None, leaves: frozenset[int]
) -> CallEvent | None:
    """The call that cleared a gradient before anybody read it; None where none did, or where somebody may have."""
    if any(call.does("gives out memory") or call.does("gives array") for call in story.given_memory(memory)):
        return None
    if memory in story.foreign_writes:
        return None
    if use is not None:
        clears = (use.does("zeroes") or use.does("fills")) and story.wrote(use.index, memory)
        return use if clears and use.parent is None else None
    dropped = story.calls.get(story.ended.get(memory, 0) - 1)
    if dropped is None or dropped.index <= since or not dropped.does("sets gradient") or len(dropped.inputs) != 1:
        return None
    return dropped if dropped.got(leaves) else None
