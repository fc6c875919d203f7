"""A step wrote into the gradients that it stepped by, and somebody read them afterwards as what backward had left.

``direction = p.grad`` makes no copy, so what a step adds to its direction (weight decay, noise) it adds to the
gradient. Nothing is wrong with the step; but the norm that is logged after it, or an importance that is summed from
the gradients, is that of the sum.

Bad::

    def step(p):
        direction = p.grad
        direction.add_(p, alpha=0.1)            # p.grad is written
        p.sub_(0.1 * direction)


    with torch.no_grad():
        step(w)
        importance += w.grad.square()           # of the gradient and the decay

Good::

    def step(p):
        direction = p.grad.add(p, alpha=0.1)
        p.sub_(0.1 * direction)


    with torch.no_grad():
        step(w)
        importance += w.grad.square()

Told from the record alone: a run of a function added something to a gradient in place and moved a leaf after that; and
before anything else wrote the gradient, a line outside of that function read it. Silent where the gradient is scaled,
as clipping does, and where it is only compared, cleared or accumulated into.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite

CODE = "gradient-edited-by-step"

_LONGEST = 100
"""Calls of a step that are looked at."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    told: set[Callsite] = set()
    for call in story.doing("shifts"):
        site = call.callsite
        if site is None or site.caller is None or site in told or not site.direct:
            continue
        for mutation in call.mutations:
            if len(call.inputs) < 2 or not story.is_gradient(mutation):
                continue
            until = next((w.at for w in story.writes_to_memory(mutation.storage) if w.at > call.index), None)
            reads = _reads(story, mutation.storage, call.index, until)
            moved = _leaf_moved(story, call, site) if reads else None
            read = next((r for r in reads if moved is not None and r.index > moved and _is_outside(r, site)), None)
            if read is not None:
                told.add(site)
                yield _hazard(story, call, mutation.tensor, read)
                break


def _reads(story: Story, storage: int | None, after: int, until: int | None) -> list[CallEvent]:
    """The calls that read a memory as one call left it, before the next one writes it."""
    reads = story.given_memory(storage)
    return [read for read in reads if read.index > after and (until is None or read.index < until)]


def _leaf_moved(story: Story, call: CallEvent, site: Callsite) -> int | None:
    """Index of the call in the same run of the function that moved a leaf afterwards."""
    for index in range(call.index + 1, call.index + _LONGEST):
        later = story.calls.get(index)
        if later is None or later.callsite is None:
            return None
        if site.same_run(later.callsite) and any(meta.is_trainable for meta in later.mutated):
            return later.index
    return None


def _is_outside(read: CallEvent, site: Callsite) -> bool:
    """Whether another function's line computes with the gradient."""
    place = read.callsite
    if place is None or not place.direct or read.kind not in ("ordinary", "view") or read.does("compares"):
        return False
    return not place.is_below_function(site)


def _hazard(story: Story, call: CallEvent, tensor: int, read: CallEvent) -> Hazard:
    name = story.bindings.written_name(call, tensor)
    whole = next((each for each in story.names.get(tensor, ()) if is_gradient(each)), None) or name
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads {gradient}, but {write} had added to it for its step: it is no longer what backward left. "
            "PyTorch gives no error."
        ).format(
            read=wording.spot(read.callsite),
            write=wording.spot(call.callsite),
            gradient=f"`{whole}`" if whole else _("the gradients"),
        ),
        fix=_("Make the direction of the step a tensor of its own: `direction = p.grad.add(…)`, or `p.grad.clone()`."),
        variable=name,
        read=read,
        tensor=tensor,
        write=call,
    )


RULE = Rule(check)
