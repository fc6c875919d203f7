"""Where in the timeline the findings are: the lane, and the call, of each one's write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inplace_magic.analysis.lanes import Lane
from inplace_magic.analysis.timeline import Focus
from inplace_magic.hazards import Hazard

FINDINGS = 8
"""Findings that are marked, the worst ones."""
_KINDS = ("mutated", "uncounted", "raised", "reshaped", "moved")
"""Marks that a finding's write can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crime(Focus):
    """What a finding is about, with the finding."""

    hazard: Hazard


def crimes_of(findings: Sequence[Hazard], lanes: Sequence[Lane]) -> list[Crime]:
    """Return the findings, worst first, with their places; notes and findings without a place are left out."""
    found: list[Crime] = []
    for hazard in findings:
        place = _place_of(hazard, lanes) if hazard.is_alarm else None
        if place is not None:
            found.append(Crime(place[0].key, place[1], hazard.saved_call, hazard=hazard))
    return found[:FINDINGS]


def _place_of(hazard: Hazard, lanes: Sequence[Lane]) -> tuple[Lane, int] | None:
    """Return the lane that a finding's write went to, of several the one of its tensor; and the call that stands for
    it."""
    if hazard.call is None:
        for lane in lanes:
            if hazard.tensor in lane.tensors or _keeps(lane, hazard):
                for mark in lane.marks:
                    if mark.kind == "unseen" and (hazard.mutation is None or mark.site in (None, hazard.mutation)):
                        return lane, mark.call
        return None
    at_call = [lane for lane in lanes if any(m.call == hazard.call and m.kind in _KINDS for m in lane.marks)]
    own = [lane for lane in lanes if hazard.tensor in lane.tensors]
    both = [lane for lane in at_call if hazard.tensor in lane.tensors]
    best = next(iter([*both, *at_call, *own]), None)
    return (best, hazard.call) if best is not None else None


def _keeps(lane: Lane, hazard: Hazard) -> bool:
    return any((keeping.call, keeping.node) == (hazard.saved_call, hazard.saved_by) for keeping in lane.kept)
