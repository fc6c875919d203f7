"""The rules: each reads a story and yields findings. One rule, one file, one page, one test."""

from __future__ import annotations

from inplace_magic.analysis.story import Story, story_of
from inplace_magic.hazards import explained
from inplace_magic.hazards.all_rules import FOR_PADDLE, NEED_EVERY_CALL, RULES
from inplace_magic.hazards.cures import with_fix
from inplace_magic.hazards.finding import SEVERITIES, Hazard, Severity
from inplace_magic.hazards.grouping import grouped, told_once
from inplace_magic.hazards.notes.note import quiet
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.hazards.rules import saved_tensor_overwritten
from inplace_magic.hazards.wording import of_an_older_version
from inplace_magic.language import _, use_language
from inplace_magic.record.blindness import REPLAYED, was_said
from inplace_magic.record.places import Callsite
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
    return tuple(rule for rule in rules if not (has_gaps and rule.name in NEED_EVERY_CALL))


def _findings(trace: Trace, rules: tuple[Rule, ...]) -> tuple[tuple[Hazard, ...], tuple[str, ...]]:
    story = story_of(trace)
    found: list[Hazard] = []
    weaker: list[Hazard] = []
    faults: list[str] = []
    for rule in rules:
        try:
            (weaker if rule.gives_way else found).extend(rule.check(story))
        except Exception as fault:  # containment: one broken rule must not hide what the others found
            faults.append(
                _("The rule {name} failed ({fault}); its findings are missing. Please report it.").format(
                    name=rule.name, fault=f"{type(fault).__name__}: {fault}"
                )
            )
    found, weaker = (
        [hazard for hazard in each if not _rests_on_the_uncertain(story, hazard)] for each in (found, weaker)
    )
    if not any(hazard.raised for hazard in found) and (said := explained.of_the_error(story)) is not None:
        found.append(said)
    blamed = {hazard.mutation: hazard.code for hazard in found if hazard.is_alarm}
    for hazard in weaker:
        if not any(code != hazard.code and _are_one_mistake(hazard.mutation, site) for site, code in blamed.items()):
            found.append(hazard)
            blamed.setdefault(hazard.mutation, hazard.code)
    found = quiet(told_once(found))
    found.sort(key=lambda h: (SEVERITIES.index(h.severity), not h.raised, -(h.nbytes or 0), h.call or 0))
    cures = {**explained.CURES, **{code: known for rule in rules for code, known in rule.cures.items()}}
    return tuple(_cured(story, hazard, cures.get(hazard.code, Cures()), faults) for hazard in grouped(found)), tuple(
        faults
    )


def _rests_on_the_uncertain(story: Story, hazard: Hazard) -> bool:
    """Whether the write that a finding blames may have been skipped."""
    call = story.calls.get(hazard.call) if hazard.call is not None else None
    return call is not None and bool(call.mutations) and not any(write.certain for write in call.mutations)


def _are_one_mistake(one: Callsite | None, other: Callsite | None) -> bool:
    """Whether two places are one line, or lie in one run of a function of the user's."""
    if one is None or other is None:
        return one is other
    return one.same_line(other) or (one.function != "<module>" and one.same_run(other))


def find_cure(story: Story, hazard: Hazard) -> Hazard:
    """A finding that no rule made, with the fix that the rule of its code would give it."""
    cures = {code: known for rule in RULES for code, known in rule.cures.items()}
    return _cured(story, hazard, cures.get(hazard.code, Cures()), [])


def _cured(story: Story, hazard: Hazard, cures: Cures, faults: list[str]) -> Hazard:
    try:
        return of_an_older_version(with_fix(story, hazard, cures))
    except Exception as fault:  # containment: a finding without a diff is worth more than none
        faults.append(
            _("No fix for {code} ({fault}). Please report it.").format(
                code=hazard.code, fault=f"{type(fault).__name__}: {fault}"
            )
        )
        return hazard
