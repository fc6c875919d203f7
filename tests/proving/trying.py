"""Cells whose fixes are tried, and what is asked of their reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cells import run_cell

from inplace_magic import Hazard, Report
from inplace_magic.proving.bench import Bench
from inplace_magic.proving.judging import judged
from inplace_magic.record.outcomes import Proof

BROKEN = """\
y = torch.sigmoid(x)
y.mul_(2)
y.sum().backward()
"""

SILENT = """\
y = torch.sigmoid(x)
total = (y * y).sum()
y.data.mul_(3)
total.backward()
"""


def first(report: Report) -> Hazard:
    return report.hazards[0]


def watched(ip: Any, cell: str, options: str = "") -> Report:
    run_cell(ip, f"%%inplace_watch -o report {options}\n{cell}")
    report = ip.user_ns["report"]
    assert isinstance(report, Report)
    assert report.faults == []
    return report


def with_diff(report: Report, diff: str) -> Report:
    return replace(report, findings=(replace(first(report), diff=diff), *report.findings[1:]))


def verdict_on(report: Report) -> Proof:
    """What trying the fix of the first finding shows, whatever else could be tried."""
    assert report.origin is not None
    with report.origin.begun(None) as staged:
        return judged(Bench(staged, report.trace), report, first(report), [first(report).diff])


def proof_of(report: Report) -> Proof:
    proof = first(report.prove()).proof
    assert proof is not None
    return proof
