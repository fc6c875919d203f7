"""PyTorch refused a write, since an element of memory would have been written twice, or read after it was written."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.clone import of_what_is_read, where_it_was_made
from inplace_magic.hazards.repeated import repeating, repeats_elements
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, sentences
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import RefusalKind

EXPANDED = "expanded-write-refused"
READ = "overlapping-write-refused"

_CODES: dict[RefusalKind, str] = {"expanded tensor written": EXPANDED, "memory read and written": READ}


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place where PyTorch refused such a write."""
    seen: set[Callsite | None] = set()
    for call, refusal in story.refusals():
        code = _CODES.get(refusal.kind)
        target = _written(call, code) if call is not None and code is not None else None
        if call is None or code is None or target is None or call.callsite in seen:
            continue
        seen.add(call.callsite)
        made = repeating(story, target.tensor, call.index) if code == EXPANDED else None
        origin = made.callsite if made is not None else None
        variable = story.bindings.written_name(call, target.tensor)
        yield Hazard(
            code=code,
            severity="error",
            message=_message(code, variable, call, origin),
            fix=_fix(code, call, origin),
            variable=variable,
            mutation=call.callsite,
            origin=origin,
            tensor=target.tensor,
            call=call.index,
            raised=True,
        )


def _written(call: CallEvent, code: str) -> TensorMetadata | None:
    """What was to be written: of an expanded tensor the one that repeats elements, which may be given as ``out=``."""
    if code == READ:
        return next(iter(call.inputs), None)
    return next((given for given in call.inputs if repeats_elements(given)), None)


def _message(code: str, variable: str | None, call: CallEvent, origin: Callsite | None) -> str:
    said = (
        _("{line} writes {tensor}, in which one element of memory stands for several positions.")
        if code == EXPANDED
        else _("{line} writes {tensor} while it reads other elements of the same memory.")
    )
    return sentences(
        said.format(line=wording.spot(call.callsite), tensor=f"`{variable}`" if variable else _("a tensor")),
        _("It came from {line}.").format(line=wording.spot(origin)) if origin is not None else "",
        _("A write to one of them changes the others, so PyTorch refused.")
        if code == EXPANDED
        else _("An element could hold its new value before it is read, so PyTorch refused."),
    )


def _fix(code: str, call: CallEvent, origin: Callsite | None) -> str:
    if code == EXPANDED:
        said = _("Give it memory of its own first: `.clone()` what {line} gives.")
        return said.format(line=wording.line_of(origin))
    return _("Read from a copy: append `.clone()` to what {line} reads.").format(line=wording.line_of(call.callsite))


RULE = Rule(check, {EXPANDED: Cures((where_it_was_made,)), READ: Cures((of_what_is_read,))})
