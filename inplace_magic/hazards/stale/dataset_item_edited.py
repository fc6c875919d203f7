"""A dataset's ``__getitem__`` edits the stored data in place, so every epoch edits it again.

So does a loop that normalises a batch of a list, or a slice of the data (``xb = X[i : i + 32]``), in each epoch. What
is moved on in place and means to be (samples of a chain, traces, momenta) looks alike, so there the writes must be a
normalisation and nothing else: the same constants are subtracted, or divided by, each time.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.analysis.overlap import reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.fixes.binding import copies_entries
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.references.engine import began_as_a_buffer, first_of_each_line
from inplace_magic.hazards.references.origins import builds_on_itself, comes_from_itself
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.paths import is_entry, is_entry_of_text
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.out_of_place import chain_base
from inplace_magic.source.spots import spot_of

_Elements = tuple[int, int | None, tuple[Region | None, ...]]
"""A line by its place's `id`, a memory, and which elements of it a call wrote."""
_MOST = 512
"""Writes of a line among which the first elements are looked for once more."""


def _normalised(story: Story, call: CallEvent, after: TensorMetadata) -> bool:
    """True if a write belongs to the normalisation of stored data that a model is trained on."""
    if after.storage is None or after.is_trainable or not _comes_round(story, call, after.storage):
        return False
    trained_on = any(each.modules and each.grad_enabled for each in story.given_to.get(after.tensor, ()))
    return trained_on and _only_normalised(story, after.storage)


def _edited_each_time(story: Story, call: CallEvent, after: TensorMetadata) -> bool:
    """True if a line changes one sample after another, of those that lie in a list of pairs or dicts, and then the
    first one again, by nothing but what stands there and numbers: an augmentation that writes what is stored. Numbers
    alone that make it smaller or larger are none: so does friction."""
    named = any(re.fullmatch(r"\w+\[\d+\]\[[^\]]+\]", name) for name in story.names.get(after.tensor, ()))
    if began_as_a_buffer(story, after.storage):
        return False  # made to be filled, as states are: no sample
    if not named or after.storage is None or after.is_trainable or not _comes_round(story, call, after.storage):
        return False
    writes = story.writes_to_storage.get(after.storage, ())
    alone = all(comes_from_itself(story, call, mutation) for call, mutation in writes if call.callsite is not None)
    return alone and not all(call.does("scales") for call, _mutation in writes)


def _comes_round(story: Story, call: CallEvent, storage: int) -> bool:
    """True if a line wrote some elements, other ones, and the first ones again, as with batches in each epoch."""
    return (id(call.callsite), storage, _reaches(call)) in story.once(_rounds)


def _rounds(story: Story) -> set[_Elements]:
    first: dict[_Elements, int] = {}
    times: Counter[_Elements] = Counter()
    writes: Counter[int] = Counter()
    again = set()
    for call in story.in_place:
        line = id(call.callsite)
        at = writes[line]
        writes[line] += 1
        if at < _MOST:
            written = line, call.mutations[0].storage if call.mutations else None, _reaches(call)
            if at - first.setdefault(written, at) > times[written]:
                again.add(written)
            times[written] += 1
    return again


def _reaches(call: CallEvent) -> tuple[Region | None, ...]:
    return tuple(reach_of_write(call, mutation) for mutation in call.mutations)


def _only_normalised(story: Story, storage: int) -> bool:
    """True if every write of a memory subtracts or divides, each line by the same constants each time."""
    constants: dict[Callsite | None, tuple[int, ...]] = {}
    writes = story.writes_to_storage.get(storage, ())
    for call, mutation in writes:
        others = tuple(meta.tensor for meta in call.inputs if meta.tensor != mutation.tensor)
        by_numbers = not others and (call.does("shifts") or call.does("scales"))
        if not (by_numbers or call.does("subtracts or divides")):
            return False
        if constants.setdefault(call.callsite, others) != others:
            return False
    return any(call.does("subtracts or divides") for call, _mutation in writes)


CODE = "dataset-item-edited"


def item_edited(story: Story) -> Iterator[Found]:
    """Yield the first write of each line that edits a stored item which it has edited before."""
    edits: Counter[tuple[object, ...]] = Counter()
    arrays = {storage.storage: storage for storage in story.trace.storages if storage.foreign}
    first = {number: number for number in arrays}  # a row of an array is a block of its own each time it is fetched
    first.update((number, first.get(block.follows, number)) for number, block in arrays.items() if block.follows)
    is_fetched = lru_cache(None)(_is_fetched_here)  # a loop has few places
    counts = lru_cache(None)(_counts_fetches)

    def find(call: CallEvent, mutation: Mutation) -> Found | None:
        site = call.callsite
        fetched = site is not None and is_fetched(site)
        if site is None or not (fetched or story.bindings.written_path(call, mutation.tensor)):
            return None  # as nearly all that library code writes
        if mutation.changed_nothing or not builds_on_itself(story, call, mutation):
            return None  # set, or set right, once and for all
        after = next(meta for meta in call.mutated if meta.tensor == mutation.tensor)
        array = arrays.get(after.storage or 0)
        own = counts(site) or (fetched and array is None and _is_of_the_item(story, after))
        if own if fetched else not _is_stored(story, call, after, site):
            return None
        where = first.get(after.storage or 0, after.storage), region_of(after)
        edit = site.function, site.cell, site.file, site.line, site.expression, where
        edits[edit] += 1
        again = edits[edit] > 1 and (array is None or array.follows is not None)
        return Found({"line": call}, mutation.tensor) if again else None

    return first_of_each_line(story.in_place, find)


def _is_fetched_here(site: Callsite) -> bool:
    """True if a line runs while an item is fetched, and library code inside it is no user of the item."""
    return _is_fetching(site) and (site.direct or site.function.endswith("__getitem__"))


def _is_fetching(site: Callsite) -> bool:
    """True if a line runs while an item is fetched: in a ``__getitem__``, or in a transform that it calls."""
    return any(place.function.endswith("__getitem__") for place in site.chain)


def _is_of_the_item(story: Story, after: TensorMetadata) -> bool:
    """True if the memory was made while an item was fetched, so that it is that item's own."""
    maker = story.maker_of_storage(after.storage)
    return maker is not None and maker.callsite is not None and _is_fetching(maker.callsite)


def _is_stored(story: Story, call: CallEvent, after: TensorMetadata, site: Callsite) -> bool:
    """True if a line outside of a ``__getitem__`` writes data that is meant to be the same in each epoch."""
    path = story.bindings.written_path(call, after.tensor) or ""
    taken, root = story.view_of(after.tensor, call.index), path.split("[")[0]
    if taken is not None and site.same_statement(taken.callsite) and _is_shallow_copy(story, site, root):
        names = story.names.get(taken.inputs[0].tensor, ())
        return any(is_entry(name) for name in names)  # `sample["affine"][0] += 1`
    if path.isidentifier():
        return _edited_each_time(story, call, after) or _normalised(story, call, after)
    return (is_entry_of_text(path) and _is_shallow_copy(story, site, root)) or _normalised(story, call, after)


def _is_shallow_copy(story: Story, site: Callsite, name: str) -> bool:
    """True if the function bound a name to a new dict of the old entries."""
    spot = spot_of(story.trace, site)
    value = spot.value_of(name) if spot is not None else None
    return value is not None and copies_entries(value)


def _counts_fetches(site: Callsite) -> bool:
    """``self.seen[i] += 1``: a statement of its own, which writes the dataset and not the item."""
    node = expressions.parse(site.statement)
    target = (
        node.target if isinstance(node, ast.AugAssign) else chain_base(node) if isinstance(node, ast.Call) else None
    )
    return target is not node and expressions.root_name(target) == "self"


RULES = rules_of(
    Row(
        CODE,
        "warning",
        item_edited,
        message=N_(
            "{line} edited {tensor} in place for the second time: {tensor} is the stored data, or a view of it, so "
            "each fetch edits it again. PyTorch gives no error."
        ),
        fix=N_("Edit out of place, or fetch a copy first (`.clone()`)."),
        nameless=N_("the item"),
        ways=(value_given, bound_anew),
        another_name_sees_it=True,
    ),
)
