"""What is shown of what the rules found: one mistake is one card.

A rule yields what it found as often as it meets it, and knows nothing of other rules; this file alone leaves findings
out. A mistake is one write and one reader of what it left. Two findings are one mistake if they blame one write, and
one of them is worse, or both have the same reader, or one knows none. The worst stays, then the one that knows a
reader, then that of the later rule, which knows more of what the reader does. What stays is one card for each
statement: a helper that writes ``u.data = …`` and is called by 16 layers has one line to change, so the first finding
stands for all, and its ``mutations`` name the ways to the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from inplace_magic.hazards.finding import SEVERITIES, Hazard
from inplace_magic.record.places import Callsite

MAX_NOTES = 3
"""Notes in one report, the largest first; more would bury the findings."""


def shown(found: Iterable[tuple[Hazard, bool]]) -> list[Hazard]:
    """Return the findings that are shown, worst first.

    Args:
        found: each finding, in the order of the rules, and whether it gives way to others in its run of a function.
    """
    listed = sorted(found, key=lambda each: each[1])
    notes = sorted((hazard for hazard, _weak in listed if not hazard.is_alarm), key=lambda note: -(note.nbytes or 0))
    told = [*_cards(_without_doubles([each for each in listed if each[0].is_alarm])), *notes[:MAX_NOTES]]
    return sorted(told, key=lambda h: (SEVERITIES.index(h.severity), not h.raised, -(h.nbytes or 0), h.call or 0))


def _without_doubles(found: list[tuple[Hazard, bool]]) -> list[Hazard]:
    """Return the findings, in their order, of each mistake only the one of the highest rank."""
    kept: dict[int, Hazard] = {}
    by_write: dict[Callsite | None, list[Hazard]] = {}
    for number, (hazard, weak) in sorted(enumerate(found), key=lambda entry: _rank(*entry)):
        told = by_write.setdefault(hazard.mutation, [])
        if hazard.mutation is not None and any(_is_one_mistake(better, hazard) for better in told):
            continue
        strong = by_write.items() if weak else ()
        others = (write for write, better in strong if any(each.code != hazard.code for each in better))
        if any(write is not None and _in_one_run(hazard.mutation, write) for write in others):
            continue
        kept[number] = hazard
        told.append(hazard)
    return [kept[number] for number in sorted(kept)]


def _rank(number: int, found: tuple[Hazard, bool]) -> tuple[bool, int, bool, int]:
    """The higher the rank, the smaller."""
    hazard, weak = found
    return weak, SEVERITIES.index(hazard.severity), not _knows_reader(hazard), -number


def _is_one_mistake(better: Hazard, hazard: Hazard) -> bool:
    """True if two findings that blame one write are one mistake."""
    if better.severity != hazard.severity:
        return True
    if better.code == hazard.code:
        return False  # one card for both
    if not _knows_reader(hazard):
        return _knows_reader(better)
    return better.read is not None and hazard.read is not None and _statement(better.read) == _statement(hazard.read)


def _knows_reader(hazard: Hazard) -> bool:
    return (hazard.read, hazard.saved) != (None, None)


def _in_one_run(one: Callsite | None, other: Callsite) -> bool:
    """True if two places are one line, or lie in one run of a function of the user's."""
    return one is not None and (one.same_line(other) or (one.function != "<module>" and one.same_run(other)))


def _cards(hazards: Iterable[Hazard]) -> list[Hazard]:
    """Return the findings, of those that blame one statement in one way only the first, with the count of the ways.

    In a story each cell that a helper's mistake spoils has a finding of its own.
    """
    groups: dict[Hashable, list[Hazard]] = {}
    for hazard in hazards:
        groups.setdefault(_card(hazard), []).append(hazard)
    return [_together(group) for group in groups.values()]


def _together(group: list[Hazard]) -> Hazard:
    first, *others = group
    if not others:
        return first
    places = dict.fromkeys(site for hazard in group for site in hazard.mutations)
    ways = {hazard.mutation for hazard in group} if first.mutation is not None else group
    return replace(first, count=len(ways), mutations=tuple(places))


def _card(hazard: Hazard) -> Hashable:
    site = hazard.mutation
    if site is None:
        return hazard.code, hazard.severity, hazard.message, hazard.saved
    return hazard.code, hazard.severity, _statement(site), site.outermost.cell


def _statement(site: Callsite) -> Hashable:
    return site.function, site.file, site.cell, site.statement or site.line
