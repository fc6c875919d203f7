"""Findings as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.all_rules import page_of
from inplace_magic.language import N_, _
from inplace_magic.record.places import Callsite
from inplace_magic.render.lettering import printable, shortened
from inplace_magic.render.machines.findings import PLACES, as_json, finding_of
from inplace_magic.report import Report

LEVELS = {"error": "error", "silent": "error", "warning": "warning", "info": "note"}
"""Severity -> SARIF's level, and GitHub's command."""
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BESIDE = {"saved": N_("saved here"), "read": N_("read here"), "origin": N_("made here"), "freed": N_("freed here")}
"""What a place beside the first one is called, where the finding has no badge for it. Code hosts leave out a place
without words."""


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
    others = [(name, site) for name in PLACES if (site := getattr(hazard, name)) is not None and site != shown]
    result = {
        "ruleId": hazard.code,
        "ruleIndex": rule,
        "level": LEVELS[hazard.severity],
        "message": {"text": f"{hazard.message}\n{hazard.fix}" if hazard.fix else hazard.message},
        "locations": [] if shown is None else [_location(shown)],
        "relatedLocations": [
            {**_location(site), "message": {"text": getattr(hazard.badges, name, "") or _(BESIDE[name])}}
            for name, site in others
        ],
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


_MOST = 1_000


def to_annotations(report: Report) -> str:
    """Return a line for each finding that is no note, the worst first; empty if there is none. GitHub shows ten
    annotations of a kind, which alarms are to have."""
    return "\n".join(annotation_of(hazard) for hazard in report.hazards if hazard.is_alarm)


def annotation_of(hazard: Hazard) -> str:
    """Return the annotation of one finding: at its write, else at the first place that is known."""
    site = place_shown(hazard)
    properties = {"title": hazard.code}
    where = ""
    if site is not None and site.file is not None and site.cell is None:
        properties |= {"file": relative(site.file), "line": str(site.line)}
        if site.column is not None:
            properties["col"] = str(site.column + 1)
    elif site is not None:
        where = f"{printable(site.place)}: "
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = "\n".join(printable(part) for part in (hazard.message, hazard.fix) if part)
    return f"::{LEVELS[hazard.severity]} {told}::{_escaped(shortened(where + text, _MOST))}"


def place_shown(hazard: Hazard) -> Callsite | None:
    """Return the place that a finding is shown at: where it wrote, else where it read, saved or began."""
    return hazard.mutation or hazard.read or hazard.saved or hazard.origin


def relative(file: str) -> str:
    """Return the path of a file relative to the working directory, with slashes; outside of it, unchanged."""
    try:
        path = os.path.relpath(file)
    except ValueError:  # another drive
        path = file
    return (file if path.startswith(os.pardir) else path).replace(os.sep, "/")


def _escaped(text: str) -> str:
    plain = text.encode("utf-8", errors="replace").decode("utf-8")
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(printable(text)).replace(":", "%3A").replace(",", "%2C")
