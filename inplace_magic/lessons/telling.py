"""What a report says, in the few words that an explanation of an answer needs."""

from __future__ import annotations

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Happened
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.render import words
from inplace_magic.render.lines import step_label, step_phrase
from inplace_magic.render.reading import Reading
from inplace_magic.render.style import EFFECT_SYMBOL
from inplace_magic.report import Report

MAX_ROWS = 12
COPIES = ("Tensor.clone", "torch.clone", "copy.deepcopy")


def what_happened(report: Report) -> tuple[Happened, ...]:
    """What each line did to which tensor, as the report's own table says it; at most :data:`MAX_ROWS`."""
    reading = Reading(report)
    rows = []
    for story in reading.lines:
        if story.site is None or story.site.caller is None:
            continue  # what the check itself did
        for step in story.steps:
            label, phrase = step_label(step, reading.names), step_phrase(step, reading.names)
            what = f"{EFFECT_SYMBOL[step.kind]} {label}: {phrase}" if label else f"{EFFECT_SYMBOL[step.kind]} {phrase}"
            rows.append(Happened(words.place(story.site), words.code_of(story.site), what))
    return tuple(rows[:MAX_ROWS])


def findings_of(report: Report) -> tuple[str, ...]:
    """The worst finding with its fix; notes on what would be worth knowing are left out."""
    serious = (finding for finding in report.findings if finding.is_alarm)
    return next(((finding.message, finding.fix) for finding in serious), ())


def calls_that_write(report: Report) -> list[CallEvent]:
    """The in-place calls of the learner's code, in their order."""
    return [call for call in report.calls if call.kind == "in-place"]


def own_calls(report: Report) -> list[CallEvent]:
    """The calls that the learner's code made, without those of the check itself."""
    return [call for call in report.calls if call.callsite is not None and call.callsite.caller is not None]


def writes_to(report: Report, tensor: object) -> list[CallEvent]:
    """The calls that wrote the memory of a tensor that is still alive, through whichever name or view."""
    facts = facts_of(report, tensor)
    storage = facts.storage if facts is not None else None
    return [call for call in report.calls if storage is not None and any(m.storage == storage for m in call.mutations)]


def maker_of(report: Report, write: CallEvent) -> CallEvent | None:
    """The call that had made the memory that a call wrote; None where it came from outside."""
    written = write.mutations[0].storage
    makers = (call for call in report.calls[: write.index] if call.kind == "ordinary")
    return next((call for call in makers if any(out.storage == written for out in call.outputs)), None)


def is_copy(call: CallEvent) -> bool:
    """Whether a call copied a tensor and did nothing else."""
    return call.name in COPIES


def notes_of(report: Report, code: str) -> tuple[str, ...]:
    """What the findings of that code say."""
    return tuple(finding.message for finding in report.findings if finding.code == code)


def spot(call: CallEvent) -> str:
    """A call as a sentence names it: its code and its place."""
    code = words.code_of(call.callsite) or call.name
    return _("`{code}` ({place})").format(code=code, place=words.place(call.callsite))


def facts_of(report: Report, tensor: object) -> TensorMetadata | None:
    """What the report knows of a tensor that is still alive, as it last saw it; None when it never did."""
    seen = [facts for call in report.calls for facts in (*call.inputs, *call.outputs, *call.mutated)]
    return next((facts for facts in reversed(seen) if facts.python_id == id(tensor)), None)


def line_of(call: CallEvent) -> int | None:
    """The gutter number of the line that made the call."""
    return call.callsite.line if call.callsite is not None else None
