"""The report as text: for terminals, diffs and screen readers, and what is left when a page cannot be shown."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice

from inplace_magic.hazards import Hazard
from inplace_magic.language import _, clauses, ngettext, sentences
from inplace_magic.render import fixes, lettering, words
from inplace_magic.render.excerpt import excerpts, to_lines
from inplace_magic.render.lines import step_label, step_phrase
from inplace_magic.render.reading import MOST_IN_A_FILE, Reading, in_its_language
from inplace_magic.render.style import EFFECT_SYMBOL, SEVERITY_SYMBOL, SEVERITY_WORD
from inplace_magic.render.tables import memory_words
from inplace_magic.render.verdict import is_unexplained, verdict
from inplace_magic.report import Report

MAX_ROWS = 100
"""Lines of each section; the rest is counted, and ``to_frame`` has them all."""
FEW_ROWS, FEW_LINES = 8, 16
"""Findings and lines of a section, and lines of what each line did, where the text stands beside the same as HTML."""
MAX_CELL = 160
"""Characters of a table's cell, to which all cells of its column are padded."""
MAX_NOTE = 8
"""Lines of a note on an exception."""


@in_its_language
def to_text(report: Report) -> str:
    """Return the whole report: verdict, findings, what each line did, memory by line, saved tensors, what was not
    seen."""
    return text_of(Reading(report, most=MOST_IN_A_FILE))


def text_of(reading: Reading, *, rows: int = MAX_ROWS, lines: int = MAX_ROWS) -> str:
    """As :func:`to_text`, of a report that is being read already.

    Args:
        rows: findings, and lines of each section, at most.
        lines: lines of what each line did, at most.
    """
    report = reading.report
    sections = [reading.verdict, reading.part]
    sections += [_finding(number, finding, report) for number, finding in enumerate(report.findings[:rows], 1)]
    sections.append(words.left_out(report, len(report.findings) - rows, "hazards"))
    sections.append(_section(_("What each line did"), _stories(reading, lines)))
    if reading.knows_memory:
        sections.append(_section(memory_words.title(reading), _memory(reading, rows)))
        sections.append(_section(_("Saved for backward"), _saved(reading, rows)))
    sections.append(_section(_("What this watch could not see"), [f"- {line}" for line in report.blindness]))
    sections.append(_section(_("Faults of inplace_magic"), [f"- {line}" for line in report.trace.faults]))
    return "\n\n".join(section for section in sections if section) + "\n"


@in_its_language
def to_findings(report: Report, hazards: Sequence[Hazard]) -> str:
    """Some findings of a report and nothing else, at most :data:`MAX_ROWS`."""
    sections = [_finding(number, finding, report) for number, finding in enumerate(hazards[:MAX_ROWS], 1)]
    sections.append(words.left_out(report, len(hazards) - MAX_ROWS, "hazards"))
    return "\n\n".join(filter(None, sections))


@in_its_language
def to_note(report: Report) -> str:
    """At most :data:`MAX_NOTE` lines on what the exception that ended the block is about, for whoever shows one: a
    traceback, pytest, a log; empty where the report has nothing to say of it.

    ::

        `probs` was overwritten by `probs *= 2` (train.py:9) after `torch.sigmoid(x)` (train.py:8) had saved
        it for backward, in SigmoidBackward0.
        Fix: Write `probs = probs * 2`, which gives a new tensor and leaves the saved one as it is.
          - probs *= 2
          + probs = probs * 2
    """
    telling = [finding for finding in report.findings if finding.severity in ("error", "silent")]
    if not telling:
        return _within_an_error(verdict(report), report) if is_unexplained(report) else ""
    first = telling[0]
    fix = _("Fix: {fix}").format(fix=sentences(first.fix, fixes.price(first)))
    changed = [line for line in fixes.lines_of(first.diff) if line[:1] in "-+" and line[:3] not in ("---", "+++")]
    lines = [lettering.first_sentence(first.message), fix]
    if len(changed) < MAX_NOTE - len(lines):  # all of it, or nothing
        lines += [f"  {line}" for line in changed]
    if more := len(telling) - 1:
        lines.append(ngettext("{count} more finding.", "{count} more findings.", more).format(count=more))
    return lettering.joined(_within_an_error(line, report) for line in lines)


def _within_an_error(text: str, report: Report) -> str:
    """Return the text with `line 5` for a line of the failing cell, and `In[3], line 5` for one of another cell.

    In the output of an error VS Code makes a link of each `Cell In[3], line 5`, and loses the rest of that line.
    """
    last = report.trace.calls[-1].callsite if report.trace.calls else None
    failing = last.outermost.cell if last is not None else None
    return re.sub(r"Cell (In\[\d+\], line \d+)", r"\1", words.near(text, failing))


def align(rows: Sequence[Sequence[str]], right: Container[int]) -> list[str]:
    """Columns padded to the widest cell, cells cut at :data:`MAX_CELL`; the columns in ``right`` are right-aligned."""
    rows = [[lettering.shortened(cell, MAX_CELL) for cell in row] for row in rows]
    widths = [max(lettering.width(row[column]) for row in rows) for column in range(len(rows[0]))]

    return [
        "  ".join(
            lettering.padded(cell, width, right=column in right)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _finding(number: int, finding: Hazard, report: Report) -> str:
    severity = f"{SEVERITY_SYMBOL[finding.severity]} {_(SEVERITY_WORD[finding.severity])}"
    title = _("Finding {number}: {severity} ({code})").format(number=number, severity=severity, code=finding.code)
    lines = [f"{title}{words.times(finding.count)}", f"  {finding.message}", ""]
    for excerpt in excerpts(finding, report.trace):
        lines += [f"  {line}".rstrip() for line in to_lines(excerpt)]
        lines.append("")
    lines.append("  " + _("Fix: {fix}").format(fix=sentences(finding.fix, fixes.price(finding))))
    lines += [f"    {line}" for line in fixes.lines_of(finding.diff)]
    if finding.proof is not None:
        lines.append(f"  {fixes.proof_line(finding)}")
    return lettering.joined(lines)


def _stories(reading: Reading, most: int) -> list[str]:
    lines = sum(1 + len(story.steps) for story in reading.lines)
    most = lettering.rows_shown(lines, most)
    more = words.left_out(reading.report, lines - most, 'to_frame("calls")')
    return [*islice(_lines_of_stories(reading), most), more]


def _lines_of_stories(reading: Reading) -> Iterator[str]:
    names = reading.names
    for story in reading.lines:
        yield words.place_and_code(story.site)
        for step in story.steps:
            facts = [step_label(step, names), step_phrase(step, names), step.shape]
            grad_fn = reading.node_name(step.after.node) if step.after is not None else ""
            facts.append(f"grad_fn {grad_fn}" if grad_fn else "")
            if step.effect is not None and step.kind != "created":
                facts.append(words.same_object(step.effect))
            yield f"    {EFFECT_SYMBOL[step.kind]} {clauses(facts)}"


def _memory(reading: Reading, most: int) -> list[str]:
    rows = [(line, *rest, code) for line, code, *rest in memory_words.line_table(reading, most)]
    if len(rows) == 1:
        return []
    last = len(rows[0]) - 1
    table = align(rows, range(last - len(memory_words.SHOWN), last))
    more = words.left_out(reading.report, len(reading.memory) - len(rows) + 1, "memory")
    return [*table, more, *memory_words.peak_sentences(reading), *memory_words.not_asked(reading)]


def _saved(reading: Reading, most: int) -> list[str]:
    shown = memory_words.kept_table(reading, most)
    if not shown:
        return []
    rows = [(*head, size, whose, code) for *head, code, size, whose in (memory_words.kept_header(), *shown)]
    left_out = words.left_out(reading.report, len(reading.saved) - most, "saved")
    return [*align(rows, [3]), left_out, memory_words.kept_in_all(reading)]


def _section(title: str, lines: Sequence[str]) -> str:
    shown = [f"  {line}" for line in lines if line]
    return lettering.joined([title, *shown]) if shown else ""
