"""A tensor lost its name by a rebinding and stays alive all the same: an autograd node keeps it for backward."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.notes import note
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _, bytes_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.memory import Storage

CODE = "kept-by-the-graph"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one note for each line that made at least :data:`notes.LEAST_BYTES` which only the graph kept."""
    lines: dict[object, list[tuple[str, TensorMetadata, CallEvent, SavedTensor, Storage]]] = {}
    storages = {storage.storage: storage for storage in story.trace.storages}
    savers = _savers(story)
    kept_ones = []
    for (_scope, name), bound in story.bindings.scopes.items():
        for (_at, tensor), (again, other) in pairwise(bound):
            meta, new = story.observations.get(tensor), story.observations.get(other)
            storage = storages.get(meta.storage) if meta is not None and meta.storage is not None else None
            if meta is None or new is None or storage is None:
                continue
            kept = savers.get(storage.storage)
            if kept is None or new.storage == meta.storage or not _activation(meta, storage):
                continue
            if _outlives(storage, story.calls[again]):
                kept_ones.append((name, meta, story.calls[again], kept, storage))
    last_read = _last_reads(story) if kept_ones else {}
    counted: set[int] = set()
    for entry in kept_ones:
        name, _meta, rebinding, _kept, storage = entry
        number = storage.storage
        if number in counted or last_read.get(number, -1) > rebinding.index or _is_reached(story, number):
            continue
        counted.add(number)
        lines.setdefault((line_key(rebinding.callsite), name), []).append(entry)
    for found in lines.values():
        nbytes, count = note.at_once((again.index, kept.ended, kept.nbytes) for _, _, again, _, kept in found)
        if nbytes >= note.LEAST_BYTES:
            yield _note(story, found, nbytes, count)


def _is_reached(story: Story, storage: int) -> bool:
    """True if a name of the user's leads to the memory at the end."""
    return any(tensor in story.names for tensor in story.bindings.by_storage.get(storage, ()))


def _activation(meta: TensorMetadata, storage: Storage) -> bool:
    return storage.born is not None and not meta.is_trainable


def _outlives(storage: Storage, rebinding: CallEvent) -> bool:
    """True if the memory was still there when the next call but one began: not merely until the name moved on."""
    return storage.ended is None or storage.ended > rebinding.index + 1


def _savers(story: Story) -> dict[int, SavedTensor]:
    """Return the first save of every storage."""
    found: dict[int, SavedTensor] = {}
    for saved in story.trace.saved:
        if saved.storage is not None:
            found.setdefault(saved.storage, saved)
    return found


def _last_reads(story: Story) -> dict[int, int]:
    """Return the index of the last call that was given a tensor on each storage."""
    return {m.storage: call.index for call in story.trace.calls for m in call.inputs if m.storage is not None}


def _note(
    story: Story, found: list[tuple[str, TensorMetadata, CallEvent, SavedTensor, Storage]], nbytes: int, count: int
) -> Hazard:
    """Return the note; at most `count` of those that were found were there at one time, with `nbytes` bytes."""
    name, meta, rebinding, kept, _storage = found[0]
    node = story.nodes[kept.node]
    saved_site = story.saver_site(node)[1]
    message = (
        _(
            "{line} bound `{name}` to another tensor, but {node} had saved the old one for backward, and "
            "{count} more like it: at one time the graph keeps {size} that no name reaches."
        )
        if count > 1
        else _(
            "{line} bound `{name}` to another tensor, but {node} had saved the old one for backward: the "
            "graph keeps {size} that no name reaches."
        )
    )
    return Hazard(
        code=CODE,
        severity="info",
        message=message.format(
            name=name, line=wording.spot(rebinding.callsite), node=node.name, count=count - 1, size=bytes_of(nbytes)
        ),
        fix=_(
            "In training backward needs it; `torch.utils.checkpoint` would compute it again instead. To look at "
            "results only, run the line under `torch.no_grad()`."
        ),
        variable=name,
        saved=saved_site,
        saved_by=node.name,
        origin=rebinding.callsite,
        tensor=meta.tensor,
        call=rebinding.index,
        saved_call=node.call,
        nbytes=nbytes,
    )


RULE = Rule(check)
