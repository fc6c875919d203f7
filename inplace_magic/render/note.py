"""The worst finding in a few lines, for whoever shows an exception: a traceback, pytest, a log.

::

    `probs` was overwritten by `probs *= 2` (train.py:9) after `torch.sigmoid(x)` (train.py:8) had saved
    it for backward, in SigmoidBackward0.
    Fix: Write `probs = probs * 2`, which gives a new tensor and leaves the saved one as it is.
      - probs *= 2
      + probs = probs * 2
"""

from __future__ import annotations

import re

from inplace_magic.hazards import Hazard
from inplace_magic.language import _, ngettext, sentences
from inplace_magic.render import fixes, lettering, words
from inplace_magic.render.reading import in_its_language
from inplace_magic.render.verdict import is_unexplained, verdict
from inplace_magic.report import Report

MAX_LINES = 8
_TELLING = ("error", "silent")
"""Severities that a note is worth; the others are for those who look at a report."""


@in_its_language
def to_note(report: Report) -> str:
    """At most :data:`MAX_LINES` lines on what the exception that ended the block is about; empty where the report has
    nothing to say of it."""
    telling = [finding for finding in report.findings if finding.severity in _TELLING]
    if not telling:
        return _within_an_error(verdict(report), report) if is_unexplained(report) else ""
    first = telling[0]
    lines = [
        lettering.first_sentence(first.message),
        _("Fix: {fix}").format(fix=sentences(first.fix, fixes.price(first))),
    ]
    lines += _changed(first, MAX_LINES - len(lines) - 1)
    if more := len(telling) - 1:
        lines.append(ngettext("{count} more finding.", "{count} more findings.", more).format(count=more))
    lines = [_within_an_error(line, report) for line in lines]
    return lettering.joined(lines)


def _within_an_error(text: str, report: Report) -> str:
    """Return the text with `line 5` for a line of the failing cell, and `In[3], line 5` for one of another cell.

    In the output of an error VS Code makes a link of each `Cell In[3], line 5`, and loses the rest of that line.
    """
    last = report.trace.calls[-1].callsite if report.trace.calls else None
    failing = last.outermost.cell if last is not None else None

    return re.sub(r"Cell (In\[\d+\], line \d+)", r"\1", words.near(text, failing))


def _changed(finding: Hazard, room: int) -> list[str]:
    """What the fix changes, where there is room for all of it."""
    lines = [
        f"  {line}" for line in fixes.lines_of(finding.diff) if line[:1] in "-+" and line[:3] not in ("---", "+++")
    ]
    return lines if len(lines) <= room else []
