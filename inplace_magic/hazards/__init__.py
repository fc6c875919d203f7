"""The rules: each reads a story and yields findings. One rule, one file, one page, one test.

They may know the record, the user's text and what ``analysis/`` draws from them. They know no framework, run nothing,
and rest on no spelling of a variable; folders of rules do not know each other (``tests/test_layers.py``).
"""

from __future__ import annotations

from inplace_magic.analysis.story import Story, story_of
from inplace_magic.hazards import explained
from inplace_magic.hazards.all_rules import FOR_PADDLE, RULES
from inplace_magic.hazards.finding import SEVERITIES, Hazard, Severity
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.hazards.rules import saved_tensor_overwritten
from inplace_magic.hazards.shown import one_card_a_cure, shown
from inplace_magic.hazards.wording import of_an_older_version
from inplace_magic.language import _, use_language
from inplace_magic.record.blindness import REPLAYED, was_said
from inplace_magic.record.trace import Trace

__all__ = ["RULES", "SEVERITIES", "Hazard", "Severity", "find_cure", "find_hazards"]


def find_hazards(trace: Trace) -> tuple[tuple[Hazard, ...], tuple[str, ...]]:
    """Runs every rule of the trace's framework; gives the findings, worst first, and a line for each rule that
    failed."""
    with use_language(None, trace.framework):
        return _findings(trace, _rules_for(trace))


def _rules_for(trace: Trace) -> tuple[Rule, ...]:
    if trace.level == "writes":
        return (saved_tensor_overwritten.RULE,)
    rules = FOR_PADDLE if trace.framework == "paddle" else RULES
    has_gaps = bool(trace.calls) and trace.calls[-1].index - trace.calls[0].index >= len(trace.calls)
    has_gaps = has_gaps or was_said(REPLAYED, trace.blindness)
    return tuple(rule for rule in rules if not (has_gaps and rule.every_call))


def _findings(trace: Trace, rules: tuple[Rule, ...]) -> tuple[tuple[Hazard, ...], tuple[str, ...]]:
    story = story_of(trace)
    found: list[tuple[Hazard, bool]] = []
    faults: list[str] = []
    for rule in rules:
        try:
            found.extend((hazard, rule.gives_way) for hazard in rule.check(story) if _is_certain(story, hazard))
        except Exception as fault:  # containment: one broken rule must not hide what the others found
            text = _("The rule {name} failed ({fault}); its findings are missing. Please report it.")
            faults.append(text.format(name=rule.name, fault=f"{type(fault).__name__}: {fault}"))
    if not any(hazard.raised for hazard, _weak in found) and (said := explained.of_the_error(story)) is not None:
        found.append((said, False))
    cures = {**explained.CURES, **{code: known for rule in rules for code, known in rule.cures.items()}}
    cured = [_cured(story, hazard, cures.get(hazard.code, Cures()), faults) for hazard in shown(found)]
    return tuple(one_card_a_cure(cured)), tuple(faults)


def _is_certain(story: Story, hazard: Hazard) -> bool:
    """False if the write that a finding blames may have been skipped."""
    call = story.calls.get(hazard.call)
    return call is None or not call.mutations or any(write.certain for write in call.mutations)


def find_cure(story: Story, hazard: Hazard) -> Hazard:
    """Return a finding that no rule made, with the fix that the rule of its code would give it."""
    cures = {code: known for rule in RULES for code, known in rule.cures.items()}
    return _cured(story, hazard, cures.get(hazard.code, Cures()), [])


def _cured(story: Story, hazard: Hazard, cures: Cures, faults: list[str]) -> Hazard:
    try:
        return of_an_older_version(cures.applied(story, hazard))
    except Exception as fault:  # containment: a finding without a diff is worth more than none
        text = _("No fix for {code} ({fault}). Please report it.")
        faults.append(text.format(code=hazard.code, fault=f"{type(fault).__name__}: {fault}"))
        return hazard
