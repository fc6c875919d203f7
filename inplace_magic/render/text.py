"""The report as text: for terminals, diffs and screen readers, and what is left when a page cannot be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from inplace_magic.analysis.saved import kept_for_backward
from inplace_magic.hazards import Hazard
from inplace_magic.render import diffs, memory_words, words
from inplace_magic.render.excerpt import Excerpt, excerpts
from inplace_magic.render.lines import step_label, step_phrase
from inplace_magic.render.memory_rows import unplaced
from inplace_magic.render.reading import Reading, in_its_language
from inplace_magic.render.style import EFFECT_SYMBOL, FINE_SYMBOL, SEVERITY_SYMBOL, SEVERITY_WORD
from inplace_magic.report import Report

MAX_ROWS = 100
"""Lines of each section; the rest is counted, and ``to_frame`` has them all."""
FEW_ROWS = 30
"""Lines of each section where the text stands beside the same report as HTML."""
MAX_CELL = 160
"""Characters of a table's cell, to which all cells of its column are padded."""


@in_its_language
def verdict(report: Report) -> str:
    """One sentence with a symbol: the worst finding, else what the code raised, else that nothing wrong was found."""
    return words.printable(_verdict(report))


def _verdict(report: Report) -> str:
    serious = [finding for finding in report.findings if finding.severity != "info"]
    if serious:
        more = len(serious) - 1
        tail = f" ({words.plural(more, 'more finding')} below.)" if more else ""
        return f"{SEVERITY_SYMBOL[serious[0].severity]} {headline(serious[0])}{tail}"
    if report.trace.error is not None:
        return _unexplained(report, report.trace.error)
    calls = words.plural(len(report.trace.calls), "torch call")
    writes = sum(call.kind == "in-place" for call in report.trace.calls)
    wrote = "none of them in-place" if not writes else f"{writes} of them in-place"
    counted = f"{calls}, {wrote}" if report.trace.calls else "no torch call was seen"
    notes = len(report.findings)
    noted = f"; {words.plural(notes, 'note')} below" if notes else ""
    faulty = "; a part of this report failed, see below" if report.trace.faults else ""
    caught = sum(call.error is not None for call in report.trace.calls)
    counted += f", {caught} raised an error that the code caught" if caught else ""
    return f"{FINE_SYMBOL} Nothing wrong found: {counted}{noted}{faulty}."


def _unexplained(report: Report, error: str) -> str:
    call = next((call for call in reversed(report.trace.calls) if call.error == error), None)
    who = "The watched code" if call is None else f"`{call.name}` ({words.place(call.callsite)})"
    return f"{SEVERITY_SYMBOL['error']} {who} raised `{error.split(':', 1)[0]}`; no rule of inplace_magic explains it."


def headline(finding: Hazard) -> str:
    """The finding in one sentence."""
    if finding.saved is None or finding.mutation is None or finding.severity != "error":
        return words.first_sentence(finding.message)
    who = f"`{finding.variable}`" if finding.variable else f"T{finding.tensor}" if finding.tensor else "A tensor"
    outcome = "backward raised an error" if finding.raised else "backward will raise an error"
    return (
        f"{who} was overwritten ({words.place(finding.mutation)}) after it had been saved for backward "
        f"({words.place(finding.saved)}), so {outcome}."
    )


@in_its_language
def to_text(report: Report) -> str:
    """The whole report: verdict, findings, what each line did, memory by line, saved tensors, what was not seen."""
    return text_of(Reading(report))


def text_of(reading: Reading, *, rows: int = MAX_ROWS) -> str:
    """As :func:`to_text`, of a report that is being read already, with at most so many lines of each section."""
    report = reading.report
    sections = [verdict(report)]
    sections += [_finding(number, finding, report) for number, finding in enumerate(report.findings, 1)]
    sections.append(_section("What each line did", _stories(reading, rows)))
    sections.append(_section("Memory by line", _memory(reading, rows)))
    sections.append(_section("Saved for backward", _saved(reading, rows)))
    sections.append(_section("What this watch could not see", [f"- {line}" for line in report.trace.blindness]))
    sections.append(_section("Faults of inplace_magic", [f"- {line}" for line in report.trace.faults]))
    return "\n\n".join(section for section in sections if section) + "\n"


@in_its_language
def to_findings(report: Report, hazards: Sequence[Hazard]) -> str:
    """Some findings of a report and nothing else, at most :data:`MAX_ROWS`."""
    sections = [_finding(number, finding, report) for number, finding in enumerate(hazards[:MAX_ROWS], 1)]
    return "\n\n".join([*sections, *_left_out(len(hazards) - MAX_ROWS, "report.hazards")])


def _lines(lines: Iterable[str]) -> str:
    """Joined; a line break or an escape sequence inside one, as in a name or an error's text, does not get out."""
    return "\n".join(words.printable(words.shortened(line, words.MAX_TEXT)) for line in lines)


def align(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Columns padded to the widest cell, cells cut at :data:`MAX_CELL`; the columns in ``right`` are right-aligned."""
    if not rows:
        return []
    rows = [[words.shortened(cell, MAX_CELL) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rights = set(right)
    return [
        "  ".join(
            cell.rjust(width) if column in rights else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _finding(number: int, finding: Hazard, report: Report) -> str:
    severity = f"{SEVERITY_SYMBOL[finding.severity]} {SEVERITY_WORD[finding.severity]}"
    lines = [f"Finding {number}: {severity} ({finding.code})", f"  {finding.message}", ""]
    for excerpt in excerpts(finding, report.trace):
        lines += [f"  {line}".rstrip() for line in _excerpt(excerpt)]
        lines.append("")
    cost = diffs.price(finding)
    lines.append(f"  Fix: {finding.fix}{f' This {cost}.' if cost else ''}")
    lines += [f"    {line}" for line in diffs.diff_lines(finding)]
    return _lines(lines)


def _excerpt(excerpt: Excerpt) -> list[str]:
    lines = [f"{excerpt.source}:"]
    width = max((len(str(line.number)) for line in excerpt.lines), default=1)
    code = max((len(line.text) for line in excerpt.lines), default=0)
    for line in excerpt.lines:
        guilty = any(mark.role == "overwritten" for mark in line.marks)
        head = f"{'>' if guilty else ' '} {line.number:>{width}} | {line.text}"
        marks = "; ".join(f"{mark.text} ({mark.detail})" if mark.detail else mark.text for mark in line.marks)
        lines.append(f"{head.ljust(code + width + 5)}  <- {marks}" if marks else head)
        for mark in line.marks:
            lines += [f"{' ' * (width + 3)}|   called from {site.place}: {site.text}" for site in mark.via]
    return lines


def _stories(reading: Reading, most: int) -> list[str]:
    shown = list(islice(_lines_of_stories(reading), most))
    lines = sum(1 + len(story.steps) for story in reading.lines)
    return shown + _left_out(lines - most, 'report.to_frame("calls")')


def _lines_of_stories(reading: Reading) -> Iterator[str]:
    names = reading.names
    for story in reading.lines:
        where = words.place(story.site)
        yield f"{where}: {words.code_of(story.site)}" if words.code_of(story.site) else where
        for step in story.steps:
            after = step.last.after if step.last is not None else None
            facts = [step_label(step, names), step_phrase(step, names)]
            if step.kind in ("created", "viewed"):
                facts.append(words.shape(after))
            grad_fn = reading.node_name(after.node) if after is not None else ""
            facts.append(f"grad_fn {grad_fn}" if grad_fn else "")
            if step.effect is not None and step.kind != "created":
                facts.append(words.same_object(step.effect))
            yield f"    {EFFECT_SYMBOL[step.kind]} {', '.join(fact for fact in facts if fact)}"


def _memory(reading: Reading, most: int) -> list[str]:
    rows = [("line", "allocated", "freed", "net", "peak", "retained", "saved", "device", "code")]
    rows += [
        (
            unplaced(row) or words.place(row.site),
            words.bytes_of(row.allocated_bytes),
            words.bytes_of(row.freed_bytes),
            words.bytes_of(row.net_bytes),
            words.bytes_of(row.peak_bytes),
            words.bytes_of(row.retained_bytes),
            words.bytes_of(row.saved_bytes),
            row.device,
            words.code_of(row.site),
        )
        for row in reading.memory
    ]
    if len(rows) == 1:
        return []
    return [*_table(rows, range(1, 7), most, 'report.to_frame("lines")'), *memory_words.peak_sentences(reading)]


def _saved(reading: Reading, most: int) -> list[str]:
    everything = kept_for_backward(reading.trace)
    rows = [
        (
            f"{memory_words.kept_label(kept, reading)} at {words.version(kept.saved.version)}",
            f"by {kept.node.name if kept.node else 'an unknown node'} as {kept.saved.name}",
            words.place(kept.call.callsite) if kept.call is not None else "before the watch",
            memory_words.kept_size(kept),
            memory_words.kept_remark(kept),
        )
        for kept in everything[:most]
    ]
    return align(rows) + _left_out(len(everything) - most, 'report.to_frame("saved")')


def _section(title: str, lines: Sequence[str]) -> str:
    return _lines([title, *(f"  {line}" for line in lines)]) if lines else ""


def _table(rows: Sequence[tuple[str, ...]], right: Iterable[int], most: int, whole: str) -> list[str]:
    return align(rows[:most], right) + _left_out(len(rows) - most, whole)


def _left_out(more: int, whole: str) -> list[str]:
    return [f"... and {more} more lines; {whole} gives everything."] if more > 0 else []
