"""Tensors in which one element of memory stands for several positions: which they are, and who made them so."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.overlap import region_of, writes_one_element_twice
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, TensorMetadata

_VIEWS_OF_VIEWS = 3
"""Steps of ``for row in x: row[1:].mul_(2)`` that are followed back."""


def repeats_elements(meta: TensorMetadata) -> bool:
    """True if a tensor is known to be one of them."""
    region = region_of(meta)
    return region is not None and writes_one_element_twice(region)


def views_back(story: Story, tensor: int, before: int) -> Iterator[tuple[int, CallEvent]]:
    """(tensor, the call that took it as a view) of a tensor, of what that was taken of, and so on."""
    for _step in range(_VIEWS_OF_VIEWS):
        made = story.innermost_new(tensor, before)
        if made is None or made.kind != "view" or not made.inputs:
            return
        yield tensor, made
        tensor, before = made.inputs[0].tensor, made.index


def repeating(story: Story, tensor: int, before: int) -> CallEvent | None:
    """Return the call that laid several positions of a tensor on one element, behind the views that were taken of its
    result; else the one that made the tensor."""
    for _tensor, view in views_back(story, tensor, before):
        taken_of = region_of(view.inputs[0])
        if taken_of is not None and not writes_one_element_twice(taken_of):
            return view
    return story.innermost_new(tensor, before)
