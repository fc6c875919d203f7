"""What can happen to a storage at one call, and which of its writes went past autograd's check."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from inplace_magic.analysis.keepings import Keeping
from inplace_magic.record.places import Callsite

MarkKind = Literal["created", "viewed", "mutated", "uncounted", "unseen", "reshaped", "moved", "rebound", "raised"]
"""``created``: the storage came to be. ``viewed``: another tensor on it. ``mutated``: a write. ``uncounted``: a write
that moved no version counter, or only another one than that of a tensor kept for backward. ``unseen``: a write that no
call made; the mark stands at the call before which it was noticed. ``reshaped``: other shape or strides of the same
tensor, data untouched. ``moved``: a tensor that from here on has other memory. ``rebound``: a name that from here on is
another tensor. ``raised``: a call that wanted to change the tensor and was refused."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened to a storage at one call."""

    call: int
    kind: MarkKind
    tensor: int | None = None
    before: int | None = None
    """Version before it."""
    after: int | None = None
    """Version after it; None when unknown or when there is none."""
    counter: int | None = None
    """The version counter that `before` and `after` are of."""
    key: str = ""
    """The vertex of the graph that it made; empty when it has none."""
    site: Callsite | None = None
    name: str = ""
    """``rebound``: the name."""
    to: str = ""
    """``rebound``, ``moved``: the lane that the name, or the tensor, went to."""
    passes: int = 1
    """As :attr:`.CallEvent.passes`."""

    @property
    def is_write(self) -> bool:
        """Whether data was written, or seen to be."""
        return self.kind in ("mutated", "uncounted", "unseen")


def judged(marks: list[Mark], kept: list[Keeping]) -> list[Mark]:
    """The marks, with a write marked as uncounted if it did not move the version of a tensor that autograd kept then.

    A weight that every step reads and the optimizer writes has as many marks as keepings, so these are not held against
    each other: of the keepings that began before a write, it is enough to know the one that lasts longest, and the one
    that lasts longest of those on another counter.

    Args:
        marks: of one lane; the writes among them in the order of time.
        kept: the lane's keepings, in the order in which they began.
    """
    found: list[Mark] = []
    waiting = deque(keeping for keeping in kept if keeping.counter is not None)
    counter: int | None = None
    longest = on_another = -1.0
    for mark in marks:
        if mark.kind != "mutated" or mark.counter is None:
            found.append(mark)
            continue
        while waiting and waiting[0].call < mark.call:
            keeping = waiting.popleft()
            if keeping.counter == counter:
                longest = max(longest, keeping.unbroken_until)
            elif keeping.unbroken_until > longest:
                counter, longest, on_another = keeping.counter, keeping.unbroken_until, longest
            else:
                on_another = max(on_another, keeping.unbroken_until)
        passed = mark.call <= (on_another if mark.counter == counter else longest)
        found.append(replace(mark, kind="uncounted") if passed else mark)
    return found
