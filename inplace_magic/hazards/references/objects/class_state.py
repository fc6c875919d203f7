"""Tensors that belong to a class, and methods that keep count in two: one of the object, and one of all objects."""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite


def of_the_class(story: Story, call: CallEvent, tensor: int, site: Callsite) -> str | None:
    """``Histogram.counts`` for a write of ``self.counts`` in a method of that class, if both are one tensor."""
    attribute = _attribute(story, call, tensor, site)
    shared = f"{site.function.rpartition('.')[0]}.{attribute}"
    return shared if attribute is not None and shared in story.names.get(tensor, ()) else None


def keeps_both(story: Story, site: Callsite) -> bool:
    """Whether the method of a place also writes a tensor that the object has of its own, as in ``self.total += day;
    self.everywhere += day``: who has one of each means the one of the class for all."""
    for here, call in story.writing_in.get((site.function, site.cell, site.file), ()):
        for mutation in call.mutations:
            own = _attribute(story, call, mutation.tensor, here) is not None
            if own and of_the_class(story, call, mutation.tensor, here) is None:
                return True
    return False


def _attribute(story: Story, call: CallEvent, tensor: int, site: Callsite) -> str | None:
    """`counts` for a write of ``self.counts`` in a method."""
    path = story.bindings.written_path(call, tensor)
    owner, _dot, attribute = (path or "").partition(".")
    plain = owner in site.parameters[:1] and attribute and "." not in attribute and "[" not in attribute
    return attribute if plain else None
