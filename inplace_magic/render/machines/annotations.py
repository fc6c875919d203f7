"""Findings as annotations of GitHub Actions: a line of output for each, which stands beside the line of code.

The form is GitHub's: ``::error file=train.py,line=4,title=code::message``. A message escapes ``%`` and line breaks, a
property ``:`` and ``,`` as well.
"""

from __future__ import annotations

import os

from inplace_magic.hazards import Hazard
from inplace_magic.record.places import Callsite
from inplace_magic.render.lettering import printable, shortened
from inplace_magic.report import Report

COMMANDS = {"error": "error", "silent": "error", "warning": "warning"}
"""Severity -> the command of GitHub's. Notes are none: it shows ten annotations of a kind, which alarms are to have."""
_MOST = 1_000


def to_annotations(report: Report) -> str:
    """Return a line for each finding that is no note, the worst first; empty where there is none."""
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
    return f"::{COMMANDS[hazard.severity]} {told}::{_escaped(shortened(where + _text(hazard), _MOST))}"


def place_shown(hazard: Hazard) -> Callsite | None:
    """Return the place that a finding is shown at: where it wrote, else where it read, saved or began."""
    return hazard.mutation or hazard.read or hazard.saved or hazard.origin


def relative(file: str) -> str:
    """Return the path of a file as it is called from the working directory, with slashes; outside of it, as it is."""
    try:
        path = os.path.relpath(file)
    except ValueError:  # another drive
        path = file
    return (file if path.startswith(os.pardir) else path).replace(os.sep, "/")


def _text(hazard: Hazard) -> str:
    return "\n".join(printable(part) for part in (hazard.message, hazard.fix) if part)


def _escaped(text: str) -> str:
    plain = text.encode("utf-8", errors="replace").decode("utf-8")
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(printable(text)).replace(":", "%3A").replace(",", "%2C")
