"""A tensor lost its name by a rebinding and stays alive all the same: an autograd node keeps it for backward."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.notes import note
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _, bytes_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.memory import Storage

CODE = "kept-by-the-graph"

_Kept = tuple[str, TensorMetadata, CallEvent, SavedTensor, Storage]
"""The name that a tensor had, the tensor, the call that took the name, the first save of its memory, its memory."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one note for each line that made at least :data:`notes.LEAST_BYTES` which only the graph kept."""
    storages = {storage.storage: storage for storage in story.trace.storages}
    savers: dict[int | None, SavedTensor] = {}
    for saved in story.trace.saved:
        savers.setdefault(saved.storage, saved)
    lines: dict[object, list[_Kept]] = {}
    counted: set[int] = set()
    for (_scope, name), bound in story.bindings.scopes.items():
        for (_at, tensor), (again, other) in pairwise(bound):
            meta, new = story.observations.get(tensor), story.observations.get(other)
            if meta is None or new is None or meta.storage is None or new.storage == meta.storage:
                continue
            storage, first, rebinding = storages.get(meta.storage), savers.get(meta.storage), story.calls[again]
            if storage is None or first is None or storage.storage in counted:
                continue
            if not meta.is_trainable and _is_kept_by_nobody_else(story, storage, rebinding):
                counted.add(storage.storage)
                entry = name, meta, rebinding, first, storage
                lines.setdefault((line_key(rebinding.callsite), name), []).append(entry)
    for found in lines.values():
        nbytes, count = note.at_once((again.index, kept.ended, kept.nbytes) for _, _, again, _, kept in found)
        if nbytes >= note.LEAST_BYTES:
            yield _note(story, found, nbytes, count)


def _is_kept_by_nobody_else(story: Story, storage: Storage, rebinding: CallEvent) -> bool:
    """True if memory of the watch was still there when the next call but one began, not merely until the name moved
    on, and no name leads to it at the end and no call reads it."""
    if storage.born is None or (storage.ended is not None and storage.ended <= rebinding.index + 1):
        return False
    named = any(tensor in story.names for tensor in story.bindings.by_storage.get(storage.storage, ()))
    return not named and all(read.index <= rebinding.index for read in story.given_memory(storage.storage)[-1:])


def _note(story: Story, found: list[_Kept], nbytes: int, count: int) -> Hazard:
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


RULE = Rule(CODE, "info", check, {CODE: Cures()})
