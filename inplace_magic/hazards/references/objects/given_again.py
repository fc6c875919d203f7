"""``q.data = p.data``, again and again: `q` is to take the values of `p`, and has its memory since the first time.

To tie two tensors once is enough. Who gives one the other's memory in each pass takes that for a copy; and where both
are written in between, each as its own, what the one took in is in the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import Reference, writes_since
from inplace_magic.record.events import CallEvent

_MOST = 256
"""Writes between two assignments that are looked at."""


@dataclass(frozen=True)
class GivenAgain:
    """A tensor that was given another one's memory by one line twice, with a write by each of the two in between."""

    given: CallEvent
    """The first time."""
    tensor: int
    own: Write
    """By the tensor that was given the memory."""
    theirs: Write
    """By the one whose memory it is."""


def given_again(story: Story) -> Iterator[GivenAgain]:
    """Yields one for each line that gives memory."""
    first: dict[tuple[object, ...], tuple[CallEvent, int]] = {}
    told = set()
    for call in story.doing("takes memory"):
        if call.error is not None or len(call.inputs) < 2 or call.callsite is None or call.callsite in told:
            continue
        target, source = call.inputs[:2]
        if target.requires_grad:
            continue  # a leaf that is trained: `taken-memory-trained` tells of those
        owner = _owner(story, source.tensor, call.index)
        key = (call.callsite, target.tensor, owner, source.storage)
        if source.storage is None or owner == target.tensor:
            continue
        before = first.setdefault(key, (call, call.index))[0]
        if before is call or target.storage != source.storage:
            continue  # it still has memory of its own
        own = _written_by(story, source.storage, target.tensor, before.index, call.index)
        theirs = _written_by(story, source.storage, owner, before.index, call.index)
        if own is not None and theirs is not None:
            told.add(call.callsite)
            yield GivenAgain(before, target.tensor, own, theirs)


def _owner(story: Story, tensor: int, before: int) -> int:
    """`p` of ``p.data``, ``p.detach()``."""
    made = story.innermost_new(tensor, before)
    while (
        made is not None and made.kind == "view" and made.inputs and made.inputs[0].storage == made.outputs[0].storage
    ):
        tensor = made.inputs[0].tensor
        made = story.innermost_new(tensor, made.index)
    return tensor


def _written_by(story: Story, storage: int, tensor: int, since: int, until: int) -> Write | None:
    """The first write of a memory by a tensor, or a view of it, between two calls."""
    for count, write in enumerate(writes_since(story, Reference(tensor, storage, since, None))):
        if write.at >= until or count == _MOST:
            return None
        seen = write.mutation is not None and write.call is not None and write.site is not None
        if seen and write.mutation is not None and _owner(story, write.mutation.tensor, write.at) == tensor:
            return write
    return None
