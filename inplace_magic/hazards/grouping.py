"""One mistake that is reached by several ways is one finding with its count.

A helper that writes ``u.data = …`` and is called by 16 layers makes 16 findings of one line. Whoever reads them has one
line to change; so the first stands for all, and its ``mutations`` name the ways to the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from inplace_magic.hazards.finding import Hazard
from inplace_magic.record.places import Callsite


def grouped(hazards: Iterable[Hazard]) -> list[Hazard]:
    """The findings, of those that blame one statement in one way only the first; notes are left alone.

    In a story each cell that a helper's mistake spoils has a finding of its own.
    """
    groups: dict[Hashable, list[Hazard]] = {}
    for number, hazard in enumerate(hazards):
        groups.setdefault(_mistake(hazard) if hazard.is_alarm else number, []).append(hazard)
    return [_together(group) for group in groups.values()]


def told_once(hazards: Iterable[Hazard]) -> list[Hazard]:
    """The findings without the warnings that blame a place for which there is a worse one, and without those that
    blame one write for what one statement reads a second time, by another rule; there the later rule, which knows what
    the read does with both, is kept. Of two that blame one write, one that knows no reader gives way to one that
    does."""
    listed = list(hazards)
    silent = (hazard for hazard in listed if hazard.severity == "silent")
    read = {hazard.mutation: hazard.code for hazard in silent if hazard.read is not None}
    listed = [
        hazard
        for hazard in listed
        if hazard.severity != "silent"
        or hazard.mutation is None
        or (hazard.read, hazard.saved) != (None, None)
        or read.get(hazard.mutation, hazard.code) == hazard.code
    ]
    blamed = {hazard.mutation for hazard in listed if hazard.severity in ("error", "silent")}
    kept: list[Hazard] = []
    told: dict[Hashable, Hazard] = {}
    for hazard in reversed(listed):
        if hazard.severity == "warning" and (hazard.mutation in blamed or _is_told(hazard, told)):
            continue
        kept.append(hazard)
    return kept[::-1]


def _is_told(hazard: Hazard, told: dict[Hashable, Hazard]) -> bool:
    """Whether a finding is of a write and a read that another one is of; if not, others are held against it."""
    if hazard.mutation is None or hazard.read is None:
        return False
    first = told.setdefault((hazard.mutation, _statement(hazard.read)), hazard)
    return first is not hazard and (first.code != hazard.code or first.read == hazard.read)


def _together(group: list[Hazard]) -> Hazard:
    first, *others = group
    if not others:
        return first
    places = dict.fromkeys(site for hazard in group for site in hazard.mutations)
    return replace(first, count=sum(hazard.count for hazard in group), mutations=tuple(places))


def _mistake(hazard: Hazard) -> Hashable:
    site = hazard.mutation
    if site is None:
        return hazard.code, hazard.severity, hazard.message, hazard.saved
    return hazard.code, hazard.severity, _statement(site), site.outermost.cell


def _statement(site: Callsite) -> Hashable:
    return site.function, site.file, site.cell, site.statement or site.line
