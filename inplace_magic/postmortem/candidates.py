"""From events to lines: who saved the memory in question, who wrote it afterwards, and whether one line is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from inplace_magic.postmortem.flow.run import Flow
from inplace_magic.postmortem.flow.values import Event, Where
from inplace_magic.postmortem.flow.vocabulary import bare_node
from inplace_magic.postmortem.graph import Saver
from inplace_magic.record.refusal import Refusal


@dataclass(frozen=True)
class Suspicion:
    """An operation that can be the saver, and the writes of what it saved since."""

    node: Saver | None
    saver: Event
    writes: tuple[Event, ...]
    first: tuple[Event, ...]
    """Those of the writes that can have been the first: up to one that certainly ran."""
    fits: bool
    """Whether nothing that is known of the graph speaks against it."""
    score: int
    """How much speaks for it."""


@dataclass(frozen=True)
class Verdict:
    """The lines that can have written, likeliest first."""

    lines: tuple[Where, ...] = ()
    certain: bool = False
    saver: Where | None = None
    node: Saver | None = None
    """The node that refused, where the suspicions agree on it."""
    steps: bool = False
    """Whether the writes are steps of an optimizer."""
    writes: tuple[Event, ...] = ()
    """All writes of that memory since, in the order in which they ran."""


def verdict(flow: Flow, savers: tuple[Saver, ...], said: Refusal) -> Verdict:
    """Return the lines that fit, held against what the graph knows.

    Args:
        flow: what the text did.
        savers: the node that refused; several where the graph leaves it open.
        said: what the error's text tells.
    """
    all_of_them = [each for saver in savers or (None,) for each in _suspicions(flow, saver, said)]
    fitting = [each for each in all_of_them if each.fits]
    suspicions = sorted(fitting or all_of_them, key=lambda each: -each.score)
    if not suspicions:
        return Verdict(_whatever_wrote(flow, savers[0] if savers else None))
    best = [each for each in suspicions if each.score == suspicions[0].score]
    lines = _lines(best, only_first=True) | _lines(suspicions, only_first=True)
    certain = len(lines) == 1 and bool(fitting) and bool(savers) and flow.reached and not flow.cut
    certain = certain and all(write.known for each in suspicions for write in each.first)
    saving = _by_line(each.saver.where for each in suspicions)
    rest = _lines(suspicions, only_first=False)
    listed = lines if certain else lines | {key: where for key, where in rest.items() if key not in lines}
    nodes = {(each.node.name, each.node.memory): each.node for each in suspicions if each.node is not None}
    return Verdict(
        tuple(listed.values()),
        certain,
        next(iter(saving.values())) if len(saving) == 1 and fitting else None,
        next(iter(nodes.values())) if len(nodes) == 1 and fitting else None,
        all(write.each for each in suspicions for write in each.first),
        tuple(sorted({write for each in suspicions for write in each.writes}, key=lambda write: write.at)),
    )


def _lines(suspicions: Iterable[Suspicion], *, only_first: bool) -> dict[tuple[str, int], Where]:
    return _by_line(write.where for each in suspicions for write in (each.first if only_first else each.writes))


def _by_line(places: Iterable[Where]) -> dict[tuple[str, int], Where]:
    """Return one place for each line, with those of its callers that all places of the line have."""
    found: dict[tuple[str, int], Where] = {}
    for where in places:
        found[_key(where)] = _common(found.setdefault(_key(where), where), where)
    return found


def _common(one: Where, other: Where) -> Where:
    mine, theirs = one.caller, other.caller
    if mine is theirs:
        return one
    if mine is None or theirs is None or _key(mine) != _key(theirs):
        return replace(one, caller=None)
    return replace(one, caller=_common(mine, theirs))


def _whatever_wrote(flow: Flow, saver: Saver | None) -> tuple[Where, ...]:
    """Return the lines that wrote memory which can be the one, the last first, where none of them follows a save."""
    is_it = flow.identified(saver.memory if saver is not None else None)
    found: dict[tuple[str, int], Where] = {}
    for event in reversed(flow.events):
        can_be = any(is_it.get(number) is not False for number in event.writes)
        if can_be and _is_last_of_kind(event, saver):
            found.setdefault(_key(event.where), event.where)
    return tuple(found.values())[:_MOST_LINES]


_MOST_LINES = 8


def _key(where: Where) -> tuple[str, int]:
    return where.filename, where.node.lineno


def _suspicions(flow: Flow, saver: Saver | None, said: Refusal) -> list[Suspicion]:
    is_it = flow.identified(saver.memory if saver is not None else None)
    it = frozenset(number for number, same in is_it.items() if same)
    written = {number for event in flow.events for number in event.writes}
    groups = [it] if it & written else [frozenset((n,)) for n in sorted(written) if is_it.get(n) is not False]
    found = [each for group in groups for each in _of_memory(flow, group, saver, said, is_it)]
    beside = [each for each in found if saver is not None and each.saver.reads & flow.numbers(saver.parameters)]
    return beside or found


def _of_memory(
    flow: Flow, memory: frozenset[int], saver: Saver | None, said: Refusal, is_it: Mapping[int, bool]
) -> list[Suspicion]:
    writes = [event for event in flow.events if event.writes & memory]
    births = [event for event in flow.events if event.makes & memory]
    made_here = not any(flow.memory[number] for number in memory)
    born = births[0] if made_here and births and (not writes or births[0].at < writes[0].at) else None
    found = []
    for event in flow.events:
        if event.writes or not _can_save(event, memory, saver):
            continue
        later = [write for write in writes if write.at > event.at]
        if later and (event.hidden or saver is None or saver.name):
            first = _until_sure(later)
            if said.expected is not None and said.found == said.expected + 1:  # the first is the last as well
                first = [write for write in first if _is_last_of_kind(write, saver)]
            fits = _is_of_kind(event, saver) and _counts_fit(event, writes, born, said) and bool(first)
            fits = fits and any(_is_last_of_kind(write, saver) for write in _until_sure(later[::-1]))
            sure = 2 * (saver is not None and event.nodes is not None) + all(is_it.get(n, False) for n in memory)
            found.append(Suspicion(saver, event, tuple(later), tuple(first or later[:1]), fits, sure))
    return found


def _can_save(event: Event, memory: frozenset[int], saver: Saver | None) -> bool:
    """True if an operation had the memory where its node keeps it: as its own result, or as what it read."""
    if not event.recorded:
        return False
    both = event.reads | event.makes
    if saver is None or saver.is_output is None:
        return bool(both & memory)
    return bool((event.makes if saver.is_output else event.reads) & memory)


def _is_of_kind(event: Event, saver: Saver | None) -> bool:
    if saver is not None and not saver.name:
        return event.hidden
    return saver is None or event.nodes is None or bare_node(saver.name) in event.nodes


def _counts_fit(event: Event, writes: Sequence[Event], born: Event | None, said: Refusal) -> bool:
    """True if the versions count as many writes before and after the save as the text has, where each ran once."""
    if said.expected is None or said.found is None:
        return True
    before = [write for write in writes if write.at < event.at]
    later = [write for write in writes if write.at > event.at]
    if not event.once:
        return True
    if _is_counted(later) and sum(write.bumps or 0 for write in later) != said.found - said.expected:
        return False
    if born is None or not born.once or born.nodes is None or len(born.makes) > 1 or not _is_counted(before):
        return True
    return sum(write.bumps or 0 for write in before) == said.expected


def _is_counted(writes: Sequence[Event]) -> bool:
    """True if each of some writes ran once, wrote this memory and moved its version by a known number."""
    return all(write.once and write.bumps is not None and len(write.writes) == 1 for write in writes)


def _until_sure(writes: Sequence[Event]) -> list[Event]:
    """Return the writes up to the first that certainly ran."""
    found = []
    for write in writes:
        found.append(write)
        if write.sure and (write.each or len(write.writes) == 1):
            break
    return found


def _is_last_of_kind(write: Event, saver: Saver | None) -> bool:
    """True if a write can have left the ``grad_fn`` that the tensor has now."""
    if saver is None or saver.written_by is None or not write.recorded or write.nodes is None:
        return True
    return bare_node(saver.written_by) in write.nodes
