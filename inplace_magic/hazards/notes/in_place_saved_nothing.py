"""An in-place call made a copy: autograd cloned its input first, because backward needs it."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.notes import note
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _, bytes_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, Mutation

CODE = "in-place-saved-nothing"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one note for each line whose in-place calls kept a clone of what they wrote."""
    lines: dict[object, list[tuple[CallEvent, Mutation, SavedTensor]]] = {}
    for saved in story.trace.saved:
        made = story.nodes[saved.node].call
        call = story.calls.get(made) if made is not None else None
        mutation = _written_and_cloned(story, call, saved) if call is not None else None
        if call is not None and mutation is not None:
            lines.setdefault(line_key(call.callsite), []).append((call, mutation, saved))
    for found in lines.values():
        yield _note(story, found)


def _written_and_cloned(story: Story, call: CallEvent, saved: SavedTensor) -> Mutation | None:
    """Return the write of a call that also made `saved`, on memory of its own, as its own input."""
    own = call.kind == "in-place" and story.maker_of_storage(saved.storage) is call
    if not own or saved.role != "first input":
        return None
    for mutation, after in zip(call.mutations, call.mutated, strict=False):
        if mutation.storage != saved.storage and (after.shape, after.dtype) == (saved.shape, saved.dtype):
            return mutation
    return None


def _note(story: Story, found: list[tuple[CallEvent, Mutation, SavedTensor]]) -> Hazard:
    call, mutation, saved = found[0]
    site = call.callsite
    name = story.bindings.written_name(call, mutation.tensor)
    ended: dict[int | None, int | None] = {storage.storage: storage.ended for storage in story.trace.storages}
    nbytes, _count = note.at_once((call.index, ended.get(saved.storage), saved.nbytes or 0) for call, _, saved in found)
    node = story.nodes[saved.node].name
    what = f"`{name}`" if name else _("its input")
    message = (
        _(
            "{line} writes {tensor} in place, and saved no memory in {count} calls: the gradient of {function} needs "
            "the old values, so PyTorch cloned them first and keeps the clones (at most {size} at one time) for "
            "backward."
        )
        if len(found) > 1
        else _(
            "{line} writes {tensor} in place, and saved no memory: the gradient of {function} needs the old values, so "
            "PyTorch cloned them first and keeps the clone ({size}) for backward."
        )
    )
    return Hazard(
        code=CODE,
        severity="info",
        message=message.format(
            line=wording.spot(site),
            tensor=what,
            count=len(found),
            function=wording.forward_name(node),
            size=bytes_of(nbytes),
        ),
        fix=_("The ordinary form costs no more memory and spares the copy."),
        variable=name,
        mutation=site,
        saved_by=node,
        tensor=mutation.tensor,
        call=call.index,
        nbytes=nbytes,
    )


RULE = Rule(check)
