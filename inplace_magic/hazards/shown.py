"""What is shown of what the rules found: one mistake is one card.

A rule yields what it found as often as it meets it, and knows nothing of other rules; this file alone leaves findings
out. Two findings of different codes are one mistake if they blame one write, or if one reader gets what a line left of
which both tell: ``g_loss.backward()`` fills a gradient of the critic, which `gradient-not-cleared` blames and
`gradient-of-another-loss` has as origin, and the critic's step uses the sum. The worst stays, then the one that knows a
reader, then that of the later rule, which knows more of what the reader does. What stays is one card for each
statement: a helper that writes ``u.data = …`` and is called by 16 layers has one line to change, so the first finding
stands for all, and its ``mutations`` name the ways to the others. And one card for each cure: what one changed line
cures is one mistake, however many lines wrote.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import replace

from inplace_magic.hazards.finding import SEVERITIES, Hazard
from inplace_magic.record.grouped import grouped
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


def one_card_a_cure(hazards: Iterable[Hazard]) -> list[Hazard]:
    """Return the findings, of those that one change cures only the first, with the writes of all."""
    groups: dict[Hashable, list[Hazard]] = {}
    for number, hazard in enumerate(hazards):
        keys = [hazard.diff or (hazard.code, hazard.tensor or -number, hazard.fix), _name_bound_anew(hazard) or number]
        known = (groups[key] for key in keys if key in groups)
        group = next((each for each in known if _cures(each[0], hazard)), [])
        group.append(hazard)
        for key in keys:
            groups.setdefault(key, group)
    return [_with_writes_of(*group) for group in {id(group): group for group in groups.values()}.values()]


def _name_bound_anew(hazard: Hazard) -> Hashable:
    """Return the name that a fix binds to a new tensor, which a run of a function writes; None for another fix."""
    site, name = hazard.mutation, hazard.variable
    if site is None or name is None or not re.search(rf"^\+\s*{re.escape(name)} = ", hazard.diff, re.MULTILINE):
        return None
    return hazard.code, name, site.function, site.caller, site.cell, site.file


def _cures(first: Hazard, hazard: Hazard) -> bool:
    """True if the fix of the first finding cures another one as well: they have one fix, or a name is bound anew above
    both writes, as in ``x -= mean`` above ``x /= std``, and nothing saved the new tensor in between."""
    if first.diff == hazard.diff:
        return True
    if first.mutation is None or hazard.mutation is None or first.mutation.line > hazard.mutation.line:
        return False
    return hazard.saved_call is None or (first.call is not None and hazard.saved_call < first.call)


def _with_writes_of(first: Hazard, *others: Hazard) -> Hazard:
    places = dict.fromkeys(site for hazard in (first, *others) for site in hazard.mutations)
    return replace(first, mutations=tuple(places)) if others else first


def _without_doubles(found: list[tuple[Hazard, bool]]) -> list[Hazard]:
    """Return the findings, in their order, of each mistake only the one of the highest rank."""
    kept: dict[int, Hazard] = {}
    by_place: dict[Hashable, dict[Hashable, Hazard]] = {}
    codes: dict[Callsite, set[str]] = {}
    for number, (hazard, weak) in sorted(enumerate(found), key=lambda entry: _rank(*entry)):
        places = [_run_of_statement(site) for site in (hazard.mutation, hazard.origin) if site is not None]
        better = (each for place in places for each in by_place.get(place, {}).values())
        if any(_is_one_mistake(each, hazard) for each in better):
            continue
        others = (write for write, known in codes.items() if known - {hazard.code}) if weak else ()
        if any(_in_one_run(hazard.mutation, write) for write in others):
            continue
        kept[number] = hazard
        for place in places:
            by_place.setdefault(place, {})[hazard.code, hazard.severity, hazard.mutation, hazard.read] = hazard
        if hazard.mutation is not None:
            codes.setdefault(hazard.mutation, set()).add(hazard.code)
    return [kept[number] for number in sorted(kept)]


def _rank(number: int, found: tuple[Hazard, bool]) -> tuple[bool, int, bool, int]:
    """The higher the rank, the smaller."""
    hazard, weak = found
    return weak, SEVERITIES.index(hazard.severity), (hazard.read, hazard.saved) == (None, None), -number


def _is_one_mistake(better: Hazard, hazard: Hazard) -> bool:
    """True if two findings that tell of one place, as the write or where its tensor came from, are one mistake."""
    if better.mutation is not None and _is_one_write(better, hazard):
        return (better.code, better.severity) != (hazard.code, hazard.severity)  # else one card for both
    readers = [_statement(each.read) for each in (better, hazard) if each.read is not None]
    return better.code != hazard.code and len(readers) == 2 and readers[0] == readers[1]


def _is_one_write(one: Hazard, other: Hazard) -> bool:
    """True if two findings blame one call, or one statement for one variable: ``x[0] += 1`` makes two calls."""
    if one.mutation is None or other.mutation is None or one.mutation == other.mutation:
        return one.mutation == other.mutation
    same = _run_of_statement(one.mutation) == _run_of_statement(other.mutation)
    return same and one.variable == other.variable is not None


def _in_one_run(one: Callsite | None, other: Callsite) -> bool:
    """True if two places are one line, or lie in one run of a function of the user's."""
    return one is not None and (one.same_line(other) or (one.function != "<module>" and one.same_run(other)))


def _cards(hazards: Iterable[Hazard]) -> list[Hazard]:
    """Return the findings, of those that blame one statement in one way only the first, with the count of the ways.

    In a story each cell that a helper's mistake spoils has a finding of its own.
    """
    groups = grouped((_card(hazard), hazard) for hazard in hazards).values()
    ways = (len({hazard.mutation or number for number, hazard in enumerate(group)}) for group in groups)
    return [replace(_with_writes_of(*group), count=count) for group, count in zip(groups, ways, strict=True)]


def _card(hazard: Hazard) -> Hashable:
    site = hazard.mutation
    if site is None:
        return hazard.code, hazard.severity, hazard.message, hazard.saved
    return hazard.code, hazard.severity, _statement(site), site.outermost.cell


def _run_of_statement(site: Callsite) -> Hashable:
    return _statement(site), site.caller


def _statement(site: Callsite) -> Hashable:
    return site.function, site.file, site.cell, site.statement or site.line
