"""The findings of a report with what trying their fixes showed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from inplace_magic.errors import CompareError, InplaceMagicError
from inplace_magic.hazards import Hazard
from inplace_magic.language import use_language
from inplace_magic.proving import words
from inplace_magic.proving.bench import Bench
from inplace_magic.proving.judging import judged, measured
from inplace_magic.record.proofs import Proof, Told, proof_of
from inplace_magic.report import Report

PROVABLE = ("error", "silent")
"""Severities of findings whose fixes are tried."""


def proven(report: Report, frame: FrameType | None, *, allowed: bool = False) -> Report:
    """The report with a proof for each finding of severity error or silent; see :meth:`.Report.prove`.

    Args:
        report: of a watch that ran in this process.
        frame: the asker's.
        allowed: files, commands and the network may be used again.
    """
    with use_language(report.language):
        serious = [hazard for hazard in report.findings if hazard.severity in PROVABLE]
        if not serious:
            return report
        proofs = _tried(report, serious, frame, allowed=allowed)
        by_finding = dict(zip(map(id, serious), proofs, strict=True))
        return replace(
            report,
            findings=tuple(
                with_proof(hazard, by_finding[id(hazard)]) if id(hazard) in by_finding else hazard
                for hazard in report.findings
            ),
        )


def with_proof(hazard: Hazard, proof: Proof) -> Hazard:
    """The finding with its proof, without a fix that was refuted."""
    if proof.verdict != "refuted":
        return replace(hazard, proof=proof)
    return replace(hazard, proof=proof, diff="", price_bytes=None, fix=str(Told(words.NO_CURE)))


def _tried(report: Report, serious: Sequence[Hazard], frame: FrameType | None, *, allowed: bool) -> list[Proof]:
    from inplace_magic.rerun.guard import Repeated

    if report.origin is None:
        return [proof_of("not tried", Told(words.NOT_HERE))] * len(serious)
    diffs = [hazard.diff for hazard in serious if hazard.diff]
    proofs: list[Proof] = []
    try:
        with report.origin.begun(frame) as staged:
            bench = Bench(staged, report.trace, allowed=allowed)
            _same_again(bench, report)
            for hazard in serious:
                if hazard.diff:
                    proofs.append(judged(bench, report, hazard, diffs))
                else:
                    errors = measured(bench, hazard)
                    proofs.append(
                        proof_of("not tried", Told(words.NO_DIFF), *words.of_errors(errors), gradient_errors=errors)
                    )
    except Repeated as stopped:
        why = Told(words.REPEATS, (("what", stopped.sentence),))
    except InplaceMagicError as refused:
        why = words.plain(str(refused))
    else:
        return proofs
    return [*proofs, *[proof_of("not tried", why)] * (len(serious) - len(proofs))]


def _same_again(bench: Bench, report: Report) -> None:
    """Runs the program as it is written.

    Raises:
        CompareError: it ends otherwise than when it was watched, so no fix can be judged by running it.
    """
    from inplace_magic.rerun.run import failure_text

    failure, before = bench.written.failure, report.trace.error
    now = failure_text(failure) if failure is not None and not failure.backward else None
    if _kind(now) == _kind(before):
        return
    if now is None:
        raise CompareError(str(words.with_error(words.ENDS_NOW, before or "")))
    raise CompareError(str(words.with_error(words.RAISES_NOW, now)))


def _kind(error: str | None) -> str | None:
    """An error without its numbers: of shapes, versions and addresses."""
    return None if error is None else re.sub(r"(0x)?[0-9a-f]*\d[0-9a-f]*", "", error)
