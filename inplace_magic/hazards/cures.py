"""The fix of a finding as a diff of the user's own lines.

What cures a finding stands with its rule (:class:`~inplace_magic.hazards.rule.Cures`): the ways that are tried, of
which the first that is certain, and holds on paper, wins. Certain means: told from the syntax of the user's lines and
from the trace, and the patched program means what the program meant before, save for the overwritten values. Where no
way is certain there is no diff, and a sentence must do.
"""

from __future__ import annotations

from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.paper import leaves_a_write, said_of
from inplace_magic.hazards.fixes.target import written
from inplace_magic.hazards.rule import Cures
from inplace_magic.source.hunks import diff


def with_fix(story: Story, hazard: Hazard, cures: Cures) -> Hazard:
    """Return the finding with its diff and the price of it; with advice where no fix can be derived."""
    write = written(story, hazard, another_name_sees_it=cures.another_name_sees_it) if cures.ways else None
    for way in cures.ways:
        fix = way(write) if write is not None else None
        if write is not None and fix is not None and not leaves_a_write(write, fix):
            text = diff(fix.site, fix.listing, fix.edits)
            said = fix.sentence or said_of(text) or hazard.fix
            return replace(hazard, diff=text, price_bytes=fix.price_bytes, fix=said)
    said = next((text for advice in cures.advice if (text := advice(story, hazard))), hazard.fix)
    return replace(hazard, fix=said)
