"""From events to lines: who saved the memory in question, who wrote it afterwards, and whether one line is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inplace_magic.postmortem.flow.machine import Event, Where
from inplace_magic.postmortem.flow.run import Flow
from inplace_magic.postmortem.flow.vocabulary import bare_node
from inplace_magic.postmortem.graph import Saver


@dataclass(frozen=True)
class Suspicion:
    """A memory that can be the one, who saved it, and its writes since."""

    memory: int
    saver: Event
    writes: tuple[Event, ...]
    score: int


@dataclass(frozen=True)
class Verdict:
    """The lines that can have written, likeliest first."""

    lines: tuple[Where, ...] = ()
    certain: bool = False
    saver: Where | None = None


def verdict(
    flow: Flow, saver: Saver | None, expected: int | None, found: int | None, parameters: frozenset[int]
) -> Verdict:
    """Return the lines that fit, held against what the graph knows.

    Args:
        flow: what the text did.
        saver: the node that refused, where it is known.
        expected: the version that the node had saved.
        found: the version at the time of backward.
        parameters: numbers of the memory of leaves right behind the node.
    """
    suspicions = [s for number in _numbers(flow) for s in _suspicions(flow, number, saver, expected, found, parameters)]
    if not suspicions:
        return Verdict()
    best = max(each.score for each in suspicions)
    first = [each for each in suspicions if each.score == best]
    lines = _lines([write for each in first for write in each.writes[:1]])
    others = _lines([write for each in sorted(suspicions, key=lambda s: -s.score) for write in each.writes])
    savers = _lines([each.saver for each in first])
    alone = len(lines) == 1 and best >= 4 and not flow.cut and flow.reached
    alone = alone and all(write.known for each in first for write in each.writes[:1])
    everything = (*lines, *(each for each in others if _key(each) not in {_key(line) for line in lines}))
    return Verdict(everything[:1] if alone else everything, alone, savers[0] if len(savers) == 1 else None)


def _numbers(flow: Flow) -> list[int]:
    written = {number for event in flow.events for number in event.writes}
    it = {number for number in written if flow.is_it.get(number)}
    return sorted(it or {number for number in written if flow.is_it.get(number) is not False})


def _suspicions(
    flow: Flow,
    number: int,
    saver: Saver | None,
    expected: int | None,
    found: int | None,
    parameters: frozenset[int],
) -> list[Suspicion]:
    same = {number} if not flow.is_it.get(number) else {n for n, it in flow.is_it.items() if it}
    writes = [event for event in flow.events if event.writes & same]
    made: list[Suspicion] = []
    for event in flow.events:
        if event.writes or not _can_save(event, same, saver):
            continue
        later = [write for write in writes if write.at > event.at]
        if not later:
            continue
        score = _score(event, later, writes, saver, expected, found, parameters)
        if flow.is_it.get(number):
            score += 4
        made.append(Suspicion(number, event, tuple(later), score))
    return made


def _can_save(event: Event, memory: set[int], saver: Saver | None) -> bool:
    if saver is None:
        return bool((event.reads | event.makes) & memory)
    if saver.is_output:
        return bool(event.makes & memory)
    return bool(event.reads & memory)


def _score(
    event: Event,
    later: Sequence[Event],
    writes: Sequence[Event],
    saver: Saver | None,
    expected: int | None,
    found: int | None,
    parameters: frozenset[int],
) -> int:
    """How well a saver and the writes after it fit the graph."""
    score = 0
    if saver is not None and event.nodes is not None:
        score += 4 if bare_node(saver.name) in event.nodes else -4
    if parameters and event.nodes is not None:
        score += 2 if event.reads & parameters else 0
    straight = all(write.once and write.bumps is not None for write in writes)
    if expected is not None and found is not None:
        bumps = sum(write.bumps or 1 for write in later)
        if straight and event.once:
            score += 2 if bumps == found - expected else -3
        elif bumps < found - expected and event.once and straight:
            score -= 1
    if saver is not None and not saver.is_output and saver.written_by is not None:
        last = later[-1]
        if last.recorded and last.nodes is not None:
            score += 2 if bare_node(saver.written_by) in last.nodes else -4
    return score


def _lines(events: Sequence[Event]) -> tuple[Where, ...]:
    found: dict[tuple[object, ...], Where] = {}
    for event in sorted(events, key=lambda each: each.at):
        found.setdefault(_key(event.where), event.where)
    return tuple(found.values())


def _key(where: Where) -> tuple[object, ...]:
    return where.filename, where.node.lineno
