"""Gradients were clipped, masked or decayed after the step that they were meant for, and cleared before the next one.

``step`` reads the gradients as they are when it is called
(https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html). What is done to them below it, and
above ``zero_grad``, has no effect: the weights were moved by the gradients as ``backward`` left them.

Bad::

    loss_of(w).backward()
    opt.step()
    nn.utils.clip_grad_norm_([w], 1.0)      # the step is over
    opt.zero_grad()

Good::

    loss_of(w).backward()
    nn.utils.clip_grad_norm_([w], 1.0)
    opt.step()
    opt.zero_grad()

Told from the record alone: an optimizer moved a leaf by a gradient; a line wrote that gradient in place and changed it,
by itself or by a library's function whose result nobody takes; and the gradient was cleared, or its memory given up,
with no call having read it and no backward having added to it. So it was with all gradients that the line ever wrote:
silent where one of them was read afterwards, by another optimizer's step or to be shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.gradients import steps_by
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite

CODE = "gradient-edited-late"


@dataclass(frozen=True)
class _Edit:
    """A write into a gradient by which a leaf had been moved already."""

    call: CallEvent
    mutation: Mutation
    step: CallEvent


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that edits gradients too late."""
    late: dict[Callsite, _Edit] = {}
    served: set[Callsite] = set()
    for storage in _gradients(story):
        steps = [call.index for call in steps_by(story, storage)]
        adds = _added_at(story, storage)
        for call, mutation in story.writes_to_storage.get(storage, ()):
            site = call.callsite
            if site is None or site in served or not _is_edit(story, call):
                continue
            before = [at for at in steps if at < call.index]
            if not before or any(before[-1] < at < call.index for at in adds) or _is_used(story, storage, call, adds):
                served.add(site)
            elif _is_cleared(story, storage, call) and _is_changed(mutation):
                late.setdefault(site, _Edit(call, mutation, story.calls[before[-1]]))
    for site, edit in late.items():
        if site not in served and (site.direct or site.expression == site.statement):
            yield _hazard(story, edit)


def _gradients(story: Story) -> Iterator[int]:
    """The memories that a backward made and somebody wrote."""
    for storage in story.writes_to_storage:
        maker = story.maker_of_storage(storage)
        if maker is not None and maker.index in story.backwards and not maker.does("gives gradients"):
            yield storage


def _added_at(story: Story, storage: int) -> list[int]:
    maker = story.maker_of_storage(storage)
    return [*([maker.index] if maker is not None else []), *story.added_to.get(storage, ())]


def _is_edit(story: Story, call: CallEvent) -> bool:
    """Whether a call builds on a gradient outside of backward and of an optimizer's step."""
    clears = call.does("zeroes") or call.does("fills") or call.does("overwrites")
    return not clears and call.error is None and call.parent is None and call.callsite not in story.stepping


def _is_changed(mutation: Mutation) -> bool:
    """Whether the numbers are others than before, as far as is known: clipping multiplies by 1 where it need not."""
    return mutation.values_before is None or mutation.values_before != mutation.values_after


def _is_used(story: Story, storage: int, edit: CallEvent, adds: list[int]) -> bool:
    """Whether anything read a gradient after an edit, or a backward added to it, before it was cleared."""
    cleared = _cleared_at(story, storage, edit)
    until = cleared if cleared is not None else story.trace.calls[-1].index + 1
    if any(edit.index < at < until for at in adds):
        return True
    tensors = story.bindings.by_storage.get(storage, ())
    reads = (call for tensor in tensors for call in story.given_between(tensor, edit.index, until))
    return any(call.callsite != edit.callsite and not call.does("sets gradient") and _reads(call) for call in reads)


def _cleared_at(story: Story, storage: int, edit: CallEvent) -> int | None:
    writes = story.writes_to_storage.get(storage, ())
    later = (call for call, _mutation in writes if call.index > edit.index)
    clearing = (call.index for call in later if not _is_edit(story, call) and call.callsite not in story.stepping)
    return next(clearing, None)


def _is_cleared(story: Story, storage: int, edit: CallEvent) -> bool:
    """Whether a gradient was cleared after an edit, or its memory is gone."""
    return _cleared_at(story, storage, edit) is not None or storage in story.ended


def _reads(call: CallEvent) -> bool:
    return call.kind not in ("query", "view", "metadata") or call.does("reads values") or call.does("gives array")


def _hazard(story: Story, edit: _Edit) -> Hazard:
    moved = [meta.tensor for meta in edit.step.mutated if meta.is_trainable]
    name = story.bindings.name(moved[0]) if len(moved) == 1 else None
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} changes {gradient} after {step} has moved the weights by it, and it is cleared before anybody "
            "reads it: the change has no effect. PyTorch gives no error."
        ).format(
            line=wording.spot(edit.call.callsite),
            gradient=f"`{name}.grad`" if name else _("the gradients"),
            step=wording.spot(edit.step.callsite),
        ),
        fix=_("Change the gradients between the last `backward` and the step."),
        variable=f"{name}.grad" if name else None,
        tensor=edit.mutation.tensor,
        write=edit.call,
        origin=edit.step.callsite,
    )


RULE = Rule(check)
