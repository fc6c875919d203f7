"""Whether a loop normalises, in each epoch, what it normalised in the last one: a batch of a list, a slice of the data.

A batch that lies in a list, and a slice (``xb = X[i : i + 32]``), are the stored data. What is moved on in place and
means to be (samples of a chain, traces, momenta) looks alike, so the writes must be a normalisation and nothing else:
the same constants are subtracted, or divided by, each time.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from inplace_magic.analysis.overlap import reach_of_write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import began_as_a_buffer
from inplace_magic.hazards.references.origins import comes_from_itself
from inplace_magic.record.events import CallEvent, Region, TensorMetadata
from inplace_magic.record.places import Callsite

_Elements = tuple[int | None, tuple[Region | None, ...]]
"""A memory, and which elements of it a call wrote."""
_MOST = 512
"""Writes of a line among which the first elements are looked for once more."""


def normalised(story: Story, call: CallEvent, after: TensorMetadata) -> bool:
    """Whether a write belongs to the normalisation of stored data that a model is trained on.

    Args:
        story: the trace.
        call: the write.
        after: the written tensor.
    """
    if after.storage is None or after.is_trainable or not _comes_round(story, call, after.storage):
        return False
    return _only_normalised(story, after.storage) and _through_a_model(story, after)


def edited_each_time(story: Story, call: CallEvent, after: TensorMetadata) -> bool:
    """Whether a line changes one sample after another, of those that lie in a list of pairs or dicts, and then the
    first one again, by nothing but what stands there and numbers: an augmentation that writes what is stored. Numbers
    alone that make it smaller or larger are none: so does friction.

    Args:
        story: the trace.
        call: the write.
        after: the written tensor.
    """
    named = any(re.fullmatch(r"\w+\[\d+\]\[[^\]]+\]", name) for name in story.names.get(after.tensor, ()))
    if began_as_a_buffer(story, after.storage):
        return False  # made to be filled, as states are: no sample
    if not named or after.storage is None or after.is_trainable or not _comes_round(story, call, after.storage):
        return False
    writes = story.writes_to_storage.get(after.storage, ())
    alone = all(comes_from_itself(story, call, mutation) for call, mutation in writes if call.callsite is not None)
    return alone and not all(call.does("scales") for call, _mutation in writes)


def _comes_round(story: Story, call: CallEvent, storage: int) -> bool:
    """Whether a line wrote some elements, other ones, and the first ones again, as with batches in each epoch."""
    known = story.once(_rounds)
    if id(call.callsite) not in known:
        known[id(call.callsite)] = _rounds_of(story, call)
    return (storage, _reaches(call)) in known[id(call.callsite)]


def _rounds(_story: Story) -> dict[int, set[_Elements]]:
    """By line what it wrote again; filled as lines are asked for."""
    return {}


def _rounds_of(story: Story, call: CallEvent) -> set[_Elements]:
    first: dict[_Elements, int] = {}
    times: Counter[_Elements] = Counter()
    again = set()
    for at, each in enumerate(islice(story.at([id(call.callsite)]), _MOST)):
        written = each.mutations[0].storage if each.mutations else None, _reaches(each)
        if at - first.setdefault(written, at) > times[written]:
            again.add(written)
        times[written] += 1
    return again


def _reaches(call: CallEvent) -> tuple[Region | None, ...]:
    return tuple(reach_of_write(call, mutation) for mutation in call.mutations)


def _only_normalised(story: Story, storage: int) -> bool:
    """Whether every write of a memory subtracts or divides, each line by the same constants each time."""
    constants: dict[Callsite | None, tuple[int, ...]] = {}
    for call, mutation in story.writes_to_storage.get(storage, ()):
        others = tuple(meta.tensor for meta in call.inputs if meta.tensor != mutation.tensor)
        by_numbers = not others and (call.does("shifts") or call.does("scales"))
        if not (by_numbers or call.does("subtracts or divides")):
            return False
        if constants.setdefault(call.callsite, others) != others:
            return False
    writes = story.writes_to_storage.get(storage, ())
    return any(call.does("subtracts or divides") for call, _mutation in writes)


def _through_a_model(story: Story, after: TensorMetadata) -> bool:
    """Whether the written tensor goes into a module's ``forward``."""
    return any(call.modules and call.grad_enabled for call in story.given_to.get(after.tensor, ()))
