"""Try the fixes of a report's findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from inplace_magic.analysis.story import story_of
from inplace_magic.errors import CompareError, InplaceMagicError
from inplace_magic.hazards import Hazard
from inplace_magic.hazards.fixes.candidates import candidates
from inplace_magic.language import use_language
from inplace_magic.proving import unruled, words
from inplace_magic.proving.bench import Bench
from inplace_magic.proving.judging import is_contradicted, is_worth_showing, judged, measured, says
from inplace_magic.record.outcomes import Told, proof_of
from inplace_magic.report import Report
from inplace_magic.rerun.guard import Repeated

PROVABLE = ("error", "silent")
"""Severities of findings whose fixes are tried; for a warning, only its diff."""


def proven(report: Report, frame: FrameType | None, *, allowed: bool = False) -> Report:
    """Return the report with a proof for each finding of severity error or silent and each diff; see
    :meth:`.Report.prove`.

    Args:
        allowed: files, commands and the network may be used again.
    """
    with use_language(report.language):
        serious = [each for each in report.findings if each.severity in PROVABLE]
        serious += [each for each in report.findings if each.severity == "warning" and each.diff]
        tried, why = _tried(report, serious, frame, allowed=allowed)
        if why is not None:
            untried = proof_of("not tried", why)
            tried += [replace(e, proof=untried) if e.severity in PROVABLE else e for e in serious[len(tried) :]]
        by_finding = {id(hazard): new for hazard, new in zip(serious, tried, strict=False)}
        kept = [by_finding.get(id(hazard), hazard) for hazard in report.findings]
        return replace(report, findings=tuple(_with_new(kept, tried[len(serious) :])))


def _with_new(findings: list[Hazard], new: list[Hazard]) -> list[Hazard]:
    """Return the findings and, after the serious ones, those that only the runs showed, without warnings of the same
    lines."""
    blamed = {hazard.mutation for hazard in new if hazard.mutation is not None}
    kept = [hazard for hazard in findings if hazard.severity != "warning" or hazard.mutation not in blamed]
    serious = sum(hazard.severity in PROVABLE for hazard in kept)
    return [*kept[:serious], *new, *kept[serious:]]


def _tried(
    report: Report, serious: Sequence[Hazard], frame: FrameType | None, *, allowed: bool
) -> tuple[list[Hazard], Told | None]:
    """Return the findings with tried fixes, then those that only the runs showed; and the reason for an early stop."""
    tried: list[Hazard] = []
    if report.origin is None:
        return tried, Told(words.NOT_HERE)
    diffs = [hazard.diff for hazard in serious if hazard.diff and hazard.severity in PROVABLE]
    try:
        with report.origin.begun(frame) as staged:
            bench = Bench(staged, report.trace, allowed=allowed)
            _same_again(bench, report)
            for hazard in serious:
                together = diffs if hazard.severity in PROVABLE else []
                tried.append(_one(bench, report, hazard, together))
            tried.extend(_one(bench, report, hazard, [hazard.diff]) for hazard in unruled.found(bench, report))
    except Repeated as stopped:
        return tried, Told(words.REPEATS, (("what", stopped.sentence),))
    except InplaceMagicError as refused:
        return tried, words.plain(str(refused))
    return tried, None


def _one(bench: Bench, report: Report, hazard: Hazard, diffs: Sequence[str]) -> Hazard:
    """Return a finding with its tried fix; if that is refuted or missing, with the first candidate that is not refuted.

    Any other fix precedes one with other numbers whose gradients are not the derivative of its loss, or that throws the
    write away.
    """
    own = None
    if hazard.diff:
        own = replace(hazard, proof=judged(bench, report, hazard, diffs))
        assert own.proof is not None
        if own.proof.verdict != "refuted" and not is_contradicted(own.proof) and not says(own.proof, words.LOST):
            return own
    shown, last = None, own if own is not None and own.proof is not None and own.proof.verdict != "refuted" else None
    count = 0
    about_saved = hazard.severity == "error" or hazard.saved is not None  # of others no run tells what is right
    for candidate in candidates(story_of(report.trace), hazard) if about_saved else ():
        proof = judged(bench, report, candidate, [candidate.diff])
        tried = replace(candidate, proof=proof)
        if proof.verdict == "proven":
            return tried
        if is_worth_showing(proof) and is_contradicted(proof):
            last = last or tried
        elif is_worth_showing(proof):
            shown = shown or tried
        count += proof.verdict != "not tried"
    if shown or last:
        return shown or last or hazard
    if own is not None:
        return replace(own, diff="", price_bytes=None, fix=str(Told(words.NO_CURE)))
    errors = measured(bench, hazard)
    more = words.of_errors(errors)
    if not count:
        return replace(hazard, proof=proof_of("not tried", Told(words.NO_DIFF), *more, gradient_errors=errors))
    why = Told(words.NONE_CURES, (("count", str(count)),)) if count > 1 else Told(words.DOES_NOT_CURE)
    return replace(hazard, proof=proof_of("not tried", why, *more, gradient_errors=errors))  # the fix in words is not


def _same_again(bench: Bench, report: Report) -> None:
    """Run the program as written.

    Raises:
        CompareError: it ends differently than under the watch, so runs cannot judge a fix.
    """
    failure, before = bench.written.failure, report.trace.error
    now = str(failure) if failure is not None and not failure.backward else None
    if _kind(now) != _kind(before):
        ends = words.RAISES_NOW if now is not None else words.ENDS_NOW
        raise CompareError(str(words.with_error(ends, now or before or "")))


def _kind(error: str | None) -> str | None:
    """Return an error's text without its numbers: shapes, versions and addresses."""
    return None if error is None else re.sub(r"(0x)?[0-9a-f]*\d[0-9a-f]*", "", error)
