"""Findings as plain dictionaries of at most 2 kB each, and as JSON."""

from __future__ import annotations

import json
from typing import Any

from inplace_magic.hazards import Hazard
from inplace_magic.record.places import Callsite
from inplace_magic.render.lettering import shortened
from inplace_magic.report import Report

SCHEMA = 1
"""Of the format. Keys may be added within one number; none is removed, and none gets another meaning."""
MOST_BYTES = 2_000
"""Of the JSON of one finding."""
PLACES = ("mutation", "saved", "read", "origin", "freed")
"""Fields of a finding that are places, the most important first."""
_SENTENCE, _LINE = 600, 120
"""Characters of a sentence, and of a line of code."""
_SHORT, _NAME = 70, 30
"""Characters of a sentence and of a name where there is no room: a character takes up to six bytes of JSON."""


def to_findings_json(report: Report) -> str:
    """Return the findings of a report as one line of JSON, as ``docs/machines.md`` describes it; keys, codes and
    verdicts are English."""
    told = {
        "tool": "inplace_magic",
        "schema": SCHEMA,
        "framework": report.framework,
        "verdict": shortened(report.verdict, _SENTENCE),
        "findings": [finding_of(hazard) for hazard in report.hazards],
        "faults": report.faults,
    }
    return as_json(told)


def as_json(data: Any) -> str:
    """Return data as one line of JSON that any stream can write: halves of surrogate pairs are replaced."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", errors="replace").decode("utf-8")


def finding_of(hazard: Hazard) -> dict[str, Any]:
    """Return one finding without unknown facts; if it exceeds 2 kB, it is cut and ``shortened`` is true."""
    told: dict[str, Any] = {
        "code": hazard.code,
        "severity": hazard.severity,
        "message": shortened(hazard.message, _SENTENCE),
        "fix": shortened(hazard.fix, _SENTENCE),
        "raised": hazard.raised,
        "count": hazard.count,
    }
    for name in PLACES:
        site = getattr(hazard, name)
        if site is not None:
            told[name] = place_of(site)
    for name in ("variable", "saved_by", "expected_version", "found_version"):
        if getattr(hazard, name) is not None:
            told[name] = getattr(hazard, name)
    if hazard.diff:
        told["diff"] = hazard.diff
    if hazard.proof is not None:
        told["proof"] = {"verdict": hazard.proof.verdict, "reason": shortened(hazard.proof.reason, _SENTENCE)}
    return fitted(told)


def place_of(site: Callsite) -> dict[str, Any]:
    """Return a place: ``file`` or ``cell``, ``line`` and, where they are known, columns (from 1), the text, the
    function, and the line of the program that led there."""
    told = _spot(site)
    if site.column is not None:
        told["column"] = site.column + 1
    if site.text:
        told["text"] = shortened(site.text, _LINE)
    if site.function != "<module>":
        told["function"] = site.function
    if site.outermost is not site:
        told["called_from"] = _spot(site.outermost)
    return told


def _spot(site: Callsite) -> dict[str, Any]:
    where: dict[str, Any] = {"cell": site.cell} if site.cell is not None else {}
    return {**where, **({"file": site.file} if site.file is not None and not where else {}), "line": site.line}


def fitted(told: dict[str, Any]) -> dict[str, Any]:
    """Return a finding within :data:`MOST_BYTES`: what can be looked up elsewhere goes first, code and line never."""
    for cut in (lambda each: each.pop("diff", None), _bare, _bones):
        if len(as_json(told).encode("utf-8")) <= MOST_BYTES:
            break
        cut(told)
        told["shortened"] = True
    return told


def _bare(told: dict[str, Any]) -> None:
    """Short sentences, and places without their text."""
    for name in ("message", "fix"):
        told[name] = shortened(told[name], _SHORT)
    if "proof" in told:
        told["proof"]["reason"] = shortened(told["proof"]["reason"], _SHORT)
    for name in set(PLACES) & set(told):
        told[name] = {key: value for key, value in told[name].items() if key in ("file", "cell", "line", "column")}


def _bones(told: dict[str, Any]) -> None:
    """Short names, the places of the event alone, and no files; then any finding fits."""
    for name in {"variable", "saved_by"} & set(told):
        told[name] = shortened(told[name], _NAME)
    for name in ("freed", "origin"):
        told.pop(name, None)
    for name in PLACES:
        told.get(name, {}).pop("file", None)
