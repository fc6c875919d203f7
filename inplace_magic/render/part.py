"""The part of a very long record that is drawn and tabulated; findings and verdict are always of the whole.

A picture of a hundred thousand calls is folded to forty boxes in any case, and to find out which takes longer than the
run. So of a long record the first calls are drawn, the latest, and those of the findings; a sentence says so. They
are half of what is drawn whole: whoever does not see all waits for a long record as it is.
"""

from __future__ import annotations

from dataclasses import replace

from inplace_magic.language import _, sentences
from inplace_magic.record.trace import Trace
from inplace_magic.render import words
from inplace_magic.report import Report

MOST_IN_A_NOTEBOOK, MOST_IN_A_FILE = 4_000, 20_000
"""Calls; half a second, and three seconds on one core of a server."""
_BEGINNING = 4
"""This share of them, one fourth, is the beginning."""


def part_of(report: Report, most: int) -> Trace:
    """Return the trace, or where it has more than so many calls, a part of half as many."""
    trace = report.trace
    if len(trace.calls) <= most:
        return trace
    most //= 2
    first = most // _BEGINNING
    told = {
        number
        for finding in report.findings
        for number in (finding.call, finding.saved_call, finding.read_call)
        if number is not None
    }
    calls = trace.calls[:first] + tuple(call for call in trace.calls[first : first - most] if call.index in told)
    calls += trace.calls[first - most :]
    known = {call.index for call in calls}
    nodes = tuple(node for node in trace.nodes if node.call is None or node.call in known)
    numbers = {node.node for node in nodes}
    kept_before, ops = [0], []
    for op in trace.ops:
        if op.call is None or op.call in known:
            ops.append(op)
        kept_before.append(len(ops))
    storages = []
    for storage in trace.storages:
        if storage.born is not None and storage.born not in known:
            continue
        born = storage.born_op
        storages.append(
            replace(
                storage,
                born_op=None if born is None or kept_before[born] == kept_before[born + 1] else kept_before[born],
                ended_op=None if storage.ended_op is None else kept_before[storage.ended_op],
                resizes=tuple(each for each in storage.resizes if each.call in known),
            )
        )
    return replace(
        trace,
        calls=calls,
        nodes=nodes,
        saved=tuple(saved for saved in trace.saved if saved.node in numbers),
        storages=tuple(storages),
        backwards=tuple(each for each in trace.backwards if each.call in known),
        ops=tuple(ops),
        kept_by_hooks=tuple(each for each in trace.kept_by_hooks if each.write in known),
    )


def said_of_the_part(report: Report, part: Trace) -> str:
    """What a reader is told of it; empty where it is the whole."""
    shown, kept, ran = len(part.calls), len(report.trace.calls), len(report.trace.calls) + report.trace.discarded
    if shown == ran:
        return ""
    text = _(
        "Picture, timeline, tables and the counts in them are of {shown} of the {count} calls: the first, the latest "
        "and those of the findings."
    )
    frame = words.of_report(report, "to_frame")
    whole = _("{frame} has all of them.") if kept == ran else _("{frame} has the {kept} that were kept.")
    told = sentences(text, whole) if shown < kept else text
    return told.format(shown=f"{shown:,}", count=f"{ran:,}", kept=f"{kept:,}", frame=frame)
