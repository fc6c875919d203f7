"""One tensor stands in two places as two states, and is written by both: each write changes the other state.

``self.total = self.square = torch.zeros(n)`` makes one tensor, and so does a function that returns ``zeros, zeros`` to
begin two states with. As long as one of them is rebound, nothing happens; once both are written in place, they are one.

Bad::

    def begin(n):
        zeros = torch.zeros(n)
        return zeros, zeros


    hidden, cell = begin(3)
    cell.mul_(forget).add_(new)
    hidden.copy_(cell.tanh())       # and so is `cell`

Good::

    def begin(n):
        return torch.zeros(n), torch.zeros(n)

Told from the record, and from the two lines that write: two keys of one object (attributes, entries of a dict, fields
of a named tuple, buffers of a module) were seen to hold the tensor at the moment of each write, or two names did that
one statement had bound; one line wrote by the one, another line by the other, the same elements, and one of them built
on the values that the other had left. Silent where a statement says that both are one (``self.kernel = self.weight``,
``cache = self.cache``), for two tensors that change places, for leaves that are trained and for their gradients, and
where one of the two places is only read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.references.objects.two_slots import WrittenAsTwo, written_as_two
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _

CODE = "written-as-two"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that writes on top of the other state."""
    seen = set()
    for found in written_as_two(story):
        if found.second.callsite not in seen:
            seen.add(found.second.callsite)
            yield _hazard(story, found)


def _hazard(story: Story, found: WrittenAsTwo) -> Hazard:
    first, second = found.first.callsite, found.second.callsite
    told = finding(
        CODE,
        "warning",
        message=_(
            "{line} goes on from what {first} wrote: `{other}` and `{one}` are one tensor, so each write changes both. "
            "PyTorch gives no error."
        ).format(line=wording.spot(second), first=wording.spot(first), one=found.one, other=found.other),
        fix=_("Give `{one}` and `{other}` each a tensor of its own where they begin.").format(
            one=found.one, other=found.other
        ),
        variable=story.bindings.written_name(found.second, found.tensor) or found.other,
        tensor=found.tensor,
        write=found.second,
        origin=story.bindings.made_at.get(found.tensor),
    )
    return replace(told, mutations=tuple(place for place in (first, second) if place is not None))


RULE = Rule(check)
