"""A saved report as its parts again: what stands in the JSON of ``Report.to_json``. Nothing in it is executed."""

from __future__ import annotations

import json
from typing import Any

from inplace_magic.errors import ReportFormatError
from inplace_magic.hazards import Hazard
from inplace_magic.language import LANGUAGES, _
from inplace_magic.record import codec
from inplace_magic.record.garbage import collection_paused
from inplace_magic.record.trace import Trace

FORMAT = "inplace_magic.report"
FORMAT_VERSION = 1
MAX_JSON_CHARACTERS = 1_000_000_000

Parts = tuple[Trace, tuple[Hazard, ...], str]
"""The trace, the findings, and the language that these are in."""


def parts_of_text(text: str | bytes | bytearray) -> Parts:
    """Return the parts of a ``Report.to_json`` text, as :func:`parts_of`."""
    if not isinstance(text, (str, bytes, bytearray)):
        said = _("A saved report is text; this is an object of type {type}.")
        raise ReportFormatError(said.format(type=type(text).__name__))
    if len(text) > MAX_JSON_CHARACTERS:
        said = _("The saved report has {count} characters; more than {limit} are not read.")
        raise ReportFormatError(said.format(count=len(text), limit=MAX_JSON_CHARACTERS))
    with collection_paused():
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ReportFormatError(_("The saved report is not JSON: {error}.").format(error=error)) from None
        return parts_of(data)


def parts_of(data: Any) -> Parts:
    """Return the parts of a ``Report.to_dict`` record.

    Raises:
        ReportFormatError: this is not a report that this version can read; one sentence says why.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReportFormatError(_("This is not a saved report: its `format` is not {format!r}.").format(format=FORMAT))
    version = data.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        text = _("This report has a format version that is no version number; this inplace_magic reads {version}.")
        if isinstance(version, int) and abs(version) < 10**9:
            text = _("This report has a format version {found}; this inplace_magic reads {version}.")
        raise ReportFormatError(text.format(found=repr(version), version=FORMAT_VERSION))
    rest = data.get("trace")
    if not isinstance(rest, dict):
        raise ReportFormatError(_("The saved report is damaged: it has no `trace`."))
    whole = {**rest, "calls": data.get("calls", []), "blindness": data.get("blindness", [])}
    try:
        trace = codec.from_plain(Trace, whole, "report")
        hazards = codec.from_plain(tuple[Hazard, ...], data.get("hazards", []), "report.hazards")
    except RecursionError:
        raise ReportFormatError(_("The saved report is damaged: it is nested too deeply.")) from None
    told = data.get("language")
    return trace, hazards, told if isinstance(told, str) and told in LANGUAGES else LANGUAGES[0]
