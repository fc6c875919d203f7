"""Memory that a reader may not expect: a copy that an in-place call made, and a tensor that only the graph keeps.

Both are notes, never an alarm. A tensor that lost its name by a rebinding stays alive where an autograd node keeps it
for backward; and autograd clones the input of an in-place call first where backward needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from operator import itemgetter

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.rule import Cures, Found, Row, Rule, rules_of
from inplace_magic.language import N_, _, bytes_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.memory import Storage

SAVED_NOTHING = "in-place-saved-nothing"
KEPT = "kept-by-the-graph"
LEAST_BYTES = 2**20
"""Memory below this is not worth a note: the small tensors of a lesson stay quiet."""


def at_once(spans: Iterable[tuple[int, int | None, int]]) -> tuple[int, int]:
    """Return the most bytes that were there at one time, and how many pieces of memory they were.

    A loop makes and frees the same kilobytes a thousand times; their sum would be memory that never was.

    Args:
        spans: of each piece its first call, the call before which it was gone (None: it stayed) and its bytes.
    """
    moves: list[tuple[int, int, int]] = []
    for first, ended, nbytes in spans:
        moves.append((first, 1, nbytes))
        if ended is not None:
            moves.append((ended, -1, -nbytes))
    moves.sort()  # at the same call, what goes goes first
    _calls, pieces, held = (accumulate(each) for each in zip(*moves, strict=True)) if moves else ((), (), ())
    return max(zip(held, pieces, strict=True), key=itemgetter(0), default=(0, 0))


def cloned_first(story: Story) -> Iterator[Found]:
    """Yield, of each line whose in-place calls kept a clone of what they wrote, the first call."""
    lines: dict[object, list[tuple[CallEvent, Mutation, SavedTensor]]] = {}
    for saved in story.trace.saved:
        made = story.nodes[saved.node].call
        call = story.calls.get(made) if made is not None else None
        mutation = _written_and_cloned(story, call, saved) if call is not None else None
        if call is not None and mutation is not None:
            lines.setdefault(line_key(call.callsite), []).append((call, mutation, saved))
    for found in lines.values():
        call, mutation, saved = found[0]
        spans = ((call.index, story.ended.get(saved.storage or 0), saved.nbytes or 0) for call, _, saved in found)
        nbytes, _count = at_once(spans)
        node = story.nodes[saved.node].name
        words = {"count": len(found), "function": wording.forward_name(node), "size": bytes_of(nbytes)}
        message = _MANY if len(found) > 1 else ""
        yield Found({"line": call}, mutation.tensor, None, words, None, message, saved_by=node, nbytes=nbytes)


def _written_and_cloned(story: Story, call: CallEvent, saved: SavedTensor) -> Mutation | None:
    """Return the write of a call that also made `saved`, on memory of its own, as its own input."""
    own = call.kind == "in-place" and story.maker_of_storage(saved.storage) is call
    if not own or saved.role != "first input":
        return None
    for mutation, after in zip(call.mutations, call.mutated, strict=False):
        if mutation.storage != saved.storage and (after.shape, after.dtype) == (saved.shape, saved.dtype):
            return mutation
    return None


_MANY = N_(
    "{line} writes {tensor} in place, and saved no memory in {count} calls: the gradient of {function} needs the old "
    "values, so PyTorch cloned them first and keeps the clones (at most {size} at one time) for backward."
)


_Kept = tuple[str, TensorMetadata, CallEvent, SavedTensor, Storage]
"""The name that a tensor had, the tensor, the call that took the name, the first save of its memory, its memory."""


def kept_by_the_graph(story: Story) -> Iterator[Hazard]:
    """Yields one note for each line that made at least :data:`LEAST_BYTES` which only the graph kept."""
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
            storage, first, rebinding = story.storages.get(meta.storage), savers.get(meta.storage), story.calls[again]
            if storage is None or first is None or storage.storage in counted:
                continue
            if not meta.is_trainable and _is_kept_by_nobody_else(story, storage, rebinding):
                counted.add(storage.storage)
                entry = name, meta, rebinding, first, storage
                lines.setdefault((line_key(rebinding.callsite), name), []).append(entry)
    for found in lines.values():
        nbytes, count = at_once((again.index, kept.ended, kept.nbytes) for _, _, again, _, kept in found)
        if nbytes >= LEAST_BYTES:
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
        code=KEPT,
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


RULES = rules_of(
    Row(
        SAVED_NOTHING,
        "info",
        cloned_first,
        message=N_(
            "{line} writes {tensor} in place, and saved no memory: the gradient of {function} needs the old values, so "
            "PyTorch cloned them first and keeps the clone ({size}) for backward."
        ),
        fix=N_("The ordinary form costs no more memory and spares the copy."),
        nameless=N_("its input"),
    ),
)
RULES += (Rule(KEPT, "info", kept_by_the_graph, {KEPT: Cures()}),)
