"""A write into a tensor in which one element in memory stands for several positions, so the write changes all of them.

``expand`` and broadcasting views repeat elements with stride 0 and copy nothing
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html: "you should clone the tensor first").
PyTorch raises when the whole tensor is written; a write by index goes through. The frames that ``unfold`` gives overlap
where the step is smaller than the frame, and PyTorch lets them be written
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.unfold.html). To fill all of it with one value is no
mistake.

Bad::

    mask = torch.zeros(1, 4).expand(3, 4)
    mask[0, 1] = 1                  # all three rows

    frames = torch.arange(6.0).unfold(0, 4, 2)
    frames *= 10                    # the two samples in the middle twice

Good::

    mask = torch.zeros(1, 4).expand(3, 4).clone()

    frames = torch.arange(6.0).unfold(0, 4, 2) * 10

Told from the record alone: the written tensor's sizes and strides lay several of its positions on one element, and the
call did not fill all of it with one value. The same is told of the rows of an expanded tensor, which have each element
once: where a line wrote two of them on top of what it had left in the other one. Silent for the frames of ``unfold``
one by one, as whoever adds overlapping frames to a signal writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from inplace_magic.analysis.overlap import may_meet, region_of, writes_one_element_twice
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.clone import where_it_was_made
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.places import Callsite

CODE = "expanded-tensor-written"

_VIEWS_OF_VIEWS = 3
"""Steps of ``for row in x: row[1:].mul_(2)`` that are followed back."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place where an element that stands for several positions was written."""
    seen: set[Callsite | None] = set()
    rows: dict[tuple[Callsite | None, int], tuple[int, Region]] = {}
    for call in story.in_place:
        if call.error is not None:
            continue
        for mutation, after in zip(call.mutations, call.mutated, strict=False):
            region = region_of(after)
            if region is None or call.callsite in seen:
                continue
            if not writes_one_element_twice(region):
                row = _row_of_an_expanded(story, call, mutation, region)
                if row is None or not builds_on_itself(story, call, mutation):
                    continue
                expanded, tensor = row
                before = rows.setdefault((call.callsite, expanded), (tensor, region))
                if before[0] == tensor or not may_meet(before[1], region):
                    continue
            elif _written_whole(call, mutation, region):
                continue  # every position gets the value anyway
            seen.add(call.callsite)
            variable = story.bindings.written_name(call, mutation.tensor)
            made = story.innermost_new(mutation.tensor, call.index)
            origin = made.callsite if made is not None else None
            yield finding(
                CODE,
                "silent",
                message=_(
                    "{line} writes {tensor} of shape {shape}, in which one element of memory stands for several "
                    "positions ({origin}, {place}): all of them changed."
                ).format(
                    line=wording.spot(call.callsite),
                    tensor=f"`{variable}`" if variable else _("a tensor"),
                    shape=list(after.shape or ()),
                    origin=wording.line_of(origin),
                    place=wording.place(origin),
                ),
                fix=_("Give it memory of its own first: `.clone()` what {line} gives.").format(
                    line=wording.line_of(origin)
                ),
                variable=variable,
                origin=origin,
                tensor=mutation.tensor,
                write=call,
            )


def _row_of_an_expanded(story: Story, call: CallEvent, mutation: Mutation, region: Region) -> tuple[int, int] | None:
    """(tensor, row of it) where the written tensor is a part of one in which an element stands for several
    positions, and that part."""
    tensor, before, elements = mutation.tensor, call.index, prod(region.shape)
    for _step in range(_VIEWS_OF_VIEWS):
        made = story.innermost_new(tensor, before)
        if made is None or made.kind != "view" or not made.inputs or made.inputs[0].storage != mutation.storage:
            return None
        whole = region_of(made.inputs[0])
        if whole is not None and prod(whole.shape) > elements and _repeats(whole):
            return made.inputs[0].tensor, tensor
        tensor, before = made.inputs[0].tensor, made.index
    return None


def _repeats(region: Region) -> bool:
    """Whether it has its elements several times over; frames that overlap are there to be added to one by one."""
    return any(size > 1 and stride == 0 for size, stride in zip(region.shape, region.strides, strict=True))


def _written_whole(call: CallEvent, mutation: Mutation, region: Region) -> bool:
    if mutation.region is not None:
        return mutation.region.shape == region.shape
    return call.does("fills")


RULE = Rule(check, {CODE: Cures((where_it_was_made,))})
