"""Whether a loop normalises, in each epoch, what it normalised in the last one: a batch of a list, a slice of the data.

A batch that lies in a list, and a slice (``xb = X[i : i + 32]``), are the stored data. What is moved on in place and
means to be (samples of a chain, traces, momenta) looks alike, so the writes must be a normalisation and nothing else:
the same constants are subtracted, or divided by, each time.
"""

from __future__ import annotations

import ast
import re
from itertools import islice

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.origins import comes_from_itself
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import Listing, whole_listing


def normalised(story: Story, call: CallEvent, after: TensorMetadata, site: Callsite) -> bool:
    """Whether a write belongs to the normalisation of stored data that a model is trained on.

    Args:
        story: the trace.
        call: the write.
        after: the written tensor.
        site: the place of the write.
    """
    listing = whole_listing(story.trace, site)
    if listing is None or after.storage is None or after.is_trainable or not story.executed:
        return False
    stored = _in_a_list_of_batches(story, after) or _is_slice(story, call, after, site)
    if not (_comes_round(story, site, after.storage) or (stored and _in_two_loops(listing, site))):
        return False
    return _only_normalised(story, after.storage) and _through_a_model(story, after)


def edited_each_time(story: Story, after: TensorMetadata, site: Callsite) -> bool:
    """Whether a line changes one sample after another, of those that lie in a list of pairs or dicts, and then the
    first one again, by nothing but what stands there and numbers: an augmentation that writes what is stored. Numbers
    alone that make it smaller or larger are none: so does friction.

    Args:
        story: the trace.
        after: the written tensor.
        site: the place of the write.
    """
    named = any(re.fullmatch(r"\w+\[\d+\]\[[^\]]+\]", name) for name in story.names.get(after.tensor, ()))
    maker = story.maker_of_storage(after.storage)
    if maker is not None and maker.does("buffer"):
        return False  # made to be filled, as states are: no sample
    if not named or after.storage is None or after.is_trainable or not _comes_round(story, site, after.storage):
        return False
    writes = story.writes_to_storage.get(after.storage, ())
    alone = all(comes_from_itself(story, call, mutation) for call, mutation in writes if call.callsite is not None)
    return alone and not all(call.does("scales") for call, _mutation in writes)


def _in_a_list_of_batches(story: Story, after: TensorMetadata) -> bool:
    """``batches[0][0]``, the first of a pair in a list; ``images[0]`` only where it is both shifted and scaled."""
    names = story.names.get(after.tensor, ())
    if any(re.fullmatch(r"\w+\[\d+\]\[[^\]]+\]", name) for name in names):
        return True
    if not any(re.fullmatch(r"\w+\[\d+\]", name) for name in names):
        return False
    writes = [call for call, _m in story.writes_to_storage.get(after.storage or 0, ())]
    return any(call.does("shifts") for call in writes) and any(call.does("scales") for call in writes)


def _is_slice(story: Story, call: CallEvent, after: TensorMetadata, site: Callsite) -> bool:
    """``xb`` of ``xb = X[i : i + 32]``, where `X` is a variable of the cell."""
    made = story.innermost_new(after.tensor, call.index)
    if made is None or not made.does("gives item") or made.kind != "view" or made.callsite is None:
        return False
    base = story.observations.get(made.inputs[0].tensor)
    named = any(name.isidentifier() for name in story.names.get(made.inputs[0].tensor, ()))
    return named and made.callsite.function == site.function and base is not None and not base.requires_grad


def _in_two_loops(listing: Listing, site: Callsite) -> bool:
    """Whether a place stands in a loop over batches within one over epochs, which may be that of a caller."""
    place: Callsite | None = site
    loops = 0
    while place is not None:
        statement = listing.statement_at(place) if (place.cell, place.file) == (site.cell, site.file) else None
        for node in listing.around(statement) if statement is not None else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                break
            loops += isinstance(node, (ast.For, ast.While))
        place = place.caller
    return loops > 1


def _comes_round(story: Story, site: Callsite, storage: int) -> bool:
    """Whether a line wrote a memory, another one, and the first one again, as with batches from ``itertools.cycle``."""
    at_the_line = (call.index for call, _m in story.writes_to_storage.get(storage, ()) if call.callsite == site)
    writes = list(islice(at_the_line, 2))
    if len(writes) < 2:
        return False
    between = (story.calls[index] for index in range(writes[0] + 1, writes[1]) if index in story.calls)
    return any(call.callsite == site and call.mutations and call.mutations[0].storage != storage for call in between)


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
