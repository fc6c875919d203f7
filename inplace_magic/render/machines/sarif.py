"""Findings as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.pages import page_of
from inplace_magic.record.places import Callsite
from inplace_magic.render.machines.annotations import place_shown, relative
from inplace_magic.render.machines.findings import PLACES, as_json, finding_of
from inplace_magic.report import Report

LEVELS = {"error": "error", "silent": "error", "warning": "warning", "info": "note"}
"""Severity -> SARIF's level."""
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(report: Report) -> str:
    """Return a SARIF log of one run. ``properties`` of a result is the finding as ``--format json`` gives it."""
    codes = list(dict.fromkeys(hazard.code for hazard in report.hazards))
    driver = {"name": "inplace_magic", "rules": [_rule(code) for code in codes]}
    results = [_result(hazard, codes.index(hazard.code)) for hazard in report.hazards]
    faults = [{"level": "error", "message": {"text": fault}} for fault in report.faults]
    ended = {"executionSuccessful": not faults, "toolExecutionNotifications": faults}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "invocations": [ended], "results": results}
    return as_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    headline = " ".join((page_of(code) or code).split("\n\n")[0].replace("``", "`").split())
    return {"id": code, "shortDescription": {"text": headline}}


def _result(hazard: Hazard, rule: int) -> dict[str, Any]:
    shown = place_shown(hazard)
    others = [site for name in PLACES if (site := getattr(hazard, name)) is not None and site != shown]
    result = {
        "ruleId": hazard.code,
        "ruleIndex": rule,
        "level": LEVELS[hazard.severity],
        "message": {"text": f"{hazard.message}\n{hazard.fix}" if hazard.fix else hazard.message},
        "locations": [] if shown is None else [_location(shown)],
        "relatedLocations": [_location(site) for site in others],
        "properties": finding_of(hazard),
    }
    return {key: value for key, value in result.items() if value != []}


def _location(site: Callsite) -> dict[str, Any]:
    if site.file is None or site.cell is not None:
        return {"logicalLocations": [{"fullyQualifiedName": site.place}]}
    region: dict[str, Any] = {"startLine": max(site.line, 1)}
    if site.column is not None:
        region["startColumn"] = site.column + 1
    if site.text:
        region["snippet"] = {"text": site.text}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(site.file)}, "region": region}}


def _uri(file: str) -> str:
    path = relative(file)
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path)
