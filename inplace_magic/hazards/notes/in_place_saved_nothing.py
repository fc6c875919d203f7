"""An in-place call made a copy: autograd cloned its input first, because backward needs it."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.notes import note
from inplace_magic.hazards.rule import Found, Row, rules_of
from inplace_magic.language import N_, bytes_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, Mutation

CODE = "in-place-saved-nothing"


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
        nbytes, _count = note.at_once(spans)
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

RULES = rules_of(
    Row(
        CODE,
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
