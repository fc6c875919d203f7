"""Gradients were parts of one tensor, they were taken away, and the tensor is read as if they were still in it.

``p.grad = bucket[i:j].view_as(p)`` lets backward add into the bucket. ``zero_grad()`` sets gradients to None
(https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html), so the next backward makes
new ones, and a norm of the bucket, or a factor on it, is about nothing that a step uses.

Bad::

    w.grad, b.grad = bucket[:3], bucket[3:]
    for x in data:
        optimizer.zero_grad()                           # the gradients are None from here on
        loss_of(x).backward()
        bucket.mul_(0.1 / bucket.norm().clamp(min=0.1))
        optimizer.step()

Good::

    w.grad, b.grad = bucket[:3], bucket[3:]
    for x in data:
        optimizer.zero_grad(set_to_none=False)
        loss_of(x).backward()
        bucket.mul_(0.1 / bucket.norm().clamp(min=0.1))
        optimizer.step()

Told from the record alone: parts of one memory, made to be filled, were set as the gradients of two or more leaves;
they were set to None and never given back; a backward filled these leaves after that; and what computed something from
the memory, or scaled it, came later. Silent where anything but zeros and factors is ever written there, as where
gradients are copied into it after each backward, and for a direction that was computed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "bucket-left-behind"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such memory."""
    buckets = _buckets(story)
    runs = _filled(story) if buckets else []
    for storage, leaves in buckets.items():
        taken = max((cleared for cleared in leaves.values() if cleared is not None), key=_index, default=None)
        if taken is None or len(leaves) < 2 or None in leaves.values():
            continue
        made, writes = story.maker_of_storage(storage), story.writes_to_storage.get(storage, ())
        plain = (call.does("zeroes") or call.does("fills") or call.does("scales") for call, _mutation in writes)
        if made is None or not made.does("buffer") or not all(plain):
            continue
        filled = _filled_after(story, runs, set(leaves), taken.index)
        read = next((c for c in _used(story, storage) if c.index > filled.index), None) if filled is not None else None
        if filled is not None and read is not None:
            yield _hazard(story, storage, taken, filled, read)


def _index(call: CallEvent) -> int:
    return call.index


def _buckets(story: Story) -> dict[int, dict[int, CallEvent | None]]:
    """By memory, the leaves that had a part of it as their gradient, and the call that took it away for the last
    time."""
    found: dict[int, dict[int, CallEvent | None]] = {}
    given: dict[int, int] = {}
    for call in story.doing("sets gradient"):
        if not call.inputs:
            continue
        leaf, *values = call.inputs
        before = given.pop(leaf.tensor, None)
        if before is not None:
            found[before][leaf.tensor] = call
        storage = values[0].storage if values else None
        if storage is not None:
            given[leaf.tensor] = storage
            found.setdefault(storage, {})[leaf.tensor] = None
    return found


def _filled(story: Story) -> list[tuple[int, set[int | None]]]:
    """The backwards that fill gradients, and the leaves that each came to, in order."""
    ran = (at for at in sorted(story.executed) if not story.calls[at].does("gives gradients"))
    return [(at, {story.nodes[number].variable for number in story.executed[at]}) for at in ran]


def _filled_after(
    story: Story, runs: list[tuple[int, set[int | None]]], leaves: set[int], since: int
) -> CallEvent | None:
    """The next backward after a call, where it came to one of some leaves."""
    place = bisect_right(runs, since, key=itemgetter(0))
    return story.calls[runs[place][0]] if place < len(runs) and leaves & runs[place][1] else None


def _used(story: Story, storage: int) -> list[CallEvent]:
    """The calls that computed something from a memory, or scaled it; oldest first."""
    return [call for call in story.given_memory(storage) if call.kind == "ordinary" or call.does("scales")]


def _hazard(story: Story, storage: int, taken: CallEvent, filled: CallEvent, read: CallEvent) -> Hazard:
    tensors = [meta.tensor for meta in read.inputs if meta.storage == storage]
    name = next((found for tensor in tensors if (found := story.bindings.name(tensor))), None)
    return finding(
        CODE,
        "warning",
        message=_(
            "{taken} takes away the gradients that were parts of {bucket}, so {filled} makes new ones elsewhere, and "
            "{read} uses {bucket} as if they were still in it. PyTorch gives no error."
        ).format(
            taken=wording.spot(taken.callsite),
            bucket=f"`{name}`" if name else _("one tensor"),
            filled=wording.spot(filled.callsite),
            read=wording.spot(read.callsite),
        ),
        fix=_("Clear by `zero_grad(set_to_none=False)`, or copy the gradients into that tensor after backward."),
        variable=name,
        read=read,
        badges=Badges(wrote=_("takes them out of it here"), read=_("uses what is no gradient here")),
        tensor=tensors[0] if tensors else None,
        write=taken,
    )


RULE = Rule(check)
