"""Which sections of a report are open when it is first seen.

In a notebook a report is one screen: the verdict and the findings, then the picture and what the lines did to memory. A
cell whose own lines wrote nothing, and in which nothing is wrong, is its verdict alone; everything is one click away.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from inplace_magic.analysis.effects import is_own_write
from inplace_magic.analysis.opening import LIMIT, OVERVIEW
from inplace_magic.record.options import SECTIONS
from inplace_magic.render.verdict import is_unexplained
from inplace_magic.report import Report

SCREEN = frozenset({"graph", "memory"})
PAGE = frozenset({"graph", "timeline", "lines", "memory"})
"""Of a file of its own, which is as long as it needs to be."""


def opened_in(report: Report, chosen: Sequence[str] | None) -> Collection[str]:
    """The names of the open sections, of :data:`SECTIONS`.

    Args:
        chosen: what the reader asked for, with ``all`` and ``none``; None for what suits the report.
    """
    if chosen is not None:
        return SECTIONS if "all" in chosen else chosen
    return frozenset() if is_calm(report) else SCREEN


def detail_of(report: Report) -> int:
    """Up to how many boxes groups are opened in a notebook.

    It is an overview of the model, with what a finding is about, unless what the reader's own lines wrote in place is
    all that there is to see.
    """
    if any(finding.is_alarm for finding in report.findings):
        return OVERVIEW if any(call.modules for call in report.trace.calls) else LIMIT
    own = any(call.callsite is not None and call.callsite.direct and is_own_write(call) for call in report.trace.calls)
    return LIMIT if own else OVERVIEW


def is_calm(report: Report) -> bool:
    """Whether nothing is wrong and no line of the reader's own wrote in place; or something else stopped the cell."""
    if is_unexplained(report) or any(finding.is_alarm for finding in report.findings) or report.trace.faults:
        return False
    return report.trace.error is not None or not any(map(is_own_write, report.trace.calls))
