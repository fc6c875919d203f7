"""PyTorch refused a write, since an element of memory would have been written twice, or read after it was written.

An in-place operation on an expanded tensor would work on one element several times, and one that reads a shifted view
of what it writes would read new values for old ones. Where PyTorch can decide that cheaply it raises: "more than one
element of the written-to tensor refers to a single memory location", or "some elements of the input tensor and the
written-to tensor refer to a single memory location" (aten/src/ATen/MemoryOverlap.cpp).

Bad::

    mask = torch.zeros(1, 4).expand(3, 4)
    mask += 1                       # raises

Good::

    mask = torch.zeros(1, 4).expand(3, 4).clone()
    mask += 1

One code for each reason that PyTorch gives:

* ``expanded-write-refused``: A tensor in which one element of memory stands for several positions was to be written.
* ``overlapping-write-refused``: A write was to read other elements of the memory that it writes.

Told from what PyTorch refused, and from the sizes and strides of what the call was given. What it lets through is told
by ``expanded-tensor-written`` and ``overlapping-write``.
"""

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
        _("To write one of them is to change the others, so PyTorch refused.")
        if code == EXPANDED
        else _("An element that is still to be read could already hold its new value, so PyTorch refused."),
    )


def _fix(code: str, call: CallEvent, origin: Callsite | None) -> str:
    if code == EXPANDED:
        said = _("Give it memory of its own first: `.clone()` what {line} gives.")
        return said.format(line=wording.line_of(origin))
    return _("Read from a copy: append `.clone()` to what {line} reads.").format(line=wording.line_of(call.callsite))


RULE = Rule(check, {EXPANDED: Cures((where_it_was_made,)), READ: Cures((of_what_is_read,))})
