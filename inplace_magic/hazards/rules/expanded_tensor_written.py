"""A write into a tensor in which one element in memory stands for several positions, so the write changes all of them.

``expand`` and broadcasting views repeat elements with stride 0 and copy nothing
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html: "you should clone the tensor first").
PyTorch raises when the whole tensor is written, or a part of it that still has an element twice
(``expanded-write-refused``); a write of one row or one element goes through. The frames that ``unfold`` gives overlap
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
call did not fill all of it with one value. The same is told of the rows of such a tensor, which have each element once:
where a line wrote two of them on top of what it had left in the other one; of frames that overlap only where they are
read afterwards as frames, since to add into them one by one is how a signal is put together.
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
from inplace_magic.hazards.repeated import repeating, views_back
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite

CODE = "expanded-tensor-written"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place where an element that stands for several positions was written."""
    seen: set[Callsite | None] = set()
    rows: dict[tuple[Callsite | None, int], tuple[int, Region]] = {}
    kept_up: dict[int, bool] = {}
    for call in story.in_place:
        if call.error is not None:
            continue
        for mutation, after in zip(call.mutations, call.mutated, strict=False):
            region = region_of(after)
            if region is None or call.callsite in seen:
                continue
            whole = None
            if not writes_one_element_twice(region):
                found = _expanded_around(story, call, mutation, region)
                if found is None or not builds_on_itself(story, call, mutation):
                    continue
                whole, row = found
                first, met = rows.setdefault((call.callsite, whole.tensor), (row, region))
                if first == row or not may_meet(met, region) or not _is_read_as_rows(story, call, whole):
                    continue
            elif _written_whole(call, mutation, region):
                continue  # every position gets the value anyway
            elif _is_a_row(mutation) and not _is_read_as_rows(story, call, after):
                continue
            expanded = whole or after
            if expanded.tensor not in kept_up:
                kept_up[expanded.tensor] = _is_kept_up(story, call, expanded)
            if kept_up[expanded.tensor]:
                continue
            seen.add(call.callsite)
            yield _hazard(story, call, mutation, after, whole)


def _hazard(
    story: Story, call: CallEvent, mutation: Mutation, after: TensorMetadata, whole: TensorMetadata | None
) -> Hazard:
    variable = story.bindings.written_name(call, mutation.tensor)
    made = repeating(story, mutation.tensor if whole is None else whole.tensor, call.index)
    origin = made.callsite if made is not None else None
    message = (
        _(
            "{line} writes {tensor} of shape {shape}, in which one element of memory stands for several positions "
            "({origin}, {place}): all of them changed."
        )
        if whole is None
        else _(
            "{line} writes the rows of a tensor of shape {shape}, in which one element of memory stands for several "
            "positions ({origin}, {place}): what it wrote into one row is in others as well."
        )
    )
    return finding(
        CODE,
        "silent",
        message=message.format(
            line=wording.spot(call.callsite),
            tensor=f"`{variable}`" if variable else _("a tensor"),
            shape=list((whole or after).shape or ()),
            origin=wording.line_of(origin),
            place=wording.place(origin),
        ),
        fix=_("Give it memory of its own first: `.clone()` what {line} gives.").format(line=wording.line_of(origin)),
        variable=variable,
        origin=origin,
        tensor=mutation.tensor,
        write=call,
    )


def _expanded_around(
    story: Story, call: CallEvent, mutation: Mutation, region: Region
) -> tuple[TensorMetadata, int] | None:
    """The tensor in which an element stands for several positions, and the row of it that the written one is a part
    of."""
    made = story.innermost_new(mutation.tensor, call.index)
    if made is None or made.kind != "view":
        return None  # as nearly always
    elements = prod(region.shape)
    for tensor, view in views_back(story, mutation.tensor, call.index):
        if view.inputs[0].storage != mutation.storage:
            return None
        whole = region_of(view.inputs[0])
        if whole is not None and prod(whole.shape) > elements and writes_one_element_twice(whole):
            return view.inputs[0], tensor
    return None


def _is_kept_up(story: Story, call: CallEvent, whole: TensorMetadata) -> bool:
    """Whether what lies below an expanded tensor is written by itself as well, since that was taken of it: whoever does
    so knows them to be one."""
    views = [view for _tensor, view in views_back(story, whole.tensor, call.index)]
    below = {view.inputs[0].tensor for view in views}
    return bool(views) and any(
        write.at > views[0].index and write.mutation is not None and write.mutation.tensor in below
        for write in story.writes_to_memory(whole.storage)
    )


def _is_read_as_rows(story: Story, call: CallEvent, whole: TensorMetadata) -> bool:
    """Whether a later line reads the rows themselves. Frames that overlap are also there to be added up, ``frames[i] +=
    window * part``, and what is read then is the signal below them."""
    if any(size > 1 and not stride for size, stride in zip(whole.shape or (), whole.strides or (), strict=True)):
        return True  # rows that are one row
    later = (each for each in story.given_to.get(whole.tensor, ()) if each.index > call.index)
    return any(each.looks_at_values and not _is_beside(each, call) for each in later)


def _is_beside(one: CallEvent, other: CallEvent) -> bool:
    return one.callsite is None or one.callsite.same_line(other.callsite)


def _is_a_row(mutation: Mutation) -> bool:
    """Whether an index named elements that are one each."""
    return mutation.region is not None and not writes_one_element_twice(mutation.region)


def _written_whole(call: CallEvent, mutation: Mutation, region: Region) -> bool:
    if mutation.region is not None:
        return mutation.region.shape == region.shape
    return call.does("fills")


RULE = Rule(check, {CODE: Cures((where_it_was_made,))})
