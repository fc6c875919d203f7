"""An ordinary call could be in-place: its input was dead right after it, and nothing needed the old values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.notes import note
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.memory import Storage

CODE = "could-be-in-place"

_CLOSED = frozenset(("TransformerEncoderLayer", "TransformerDecoderLayer"))
"""Modules of PyTorch with modules inside whose ``inplace`` nobody can set."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one note for each line of which one call would spare :data:`notes.LEAST_BYTES` by writing in place."""
    saved = {entry.storage for entry in story.trace.saved}
    hooked = any(entry.hooked for entry in story.trace.saved)
    storages = {storage.storage: storage for storage in story.trace.storages}
    lines: dict[object, list[tuple[CallEvent, TensorMetadata]]] = {}
    for call in story.doing("frees its input") if not hooked else ():  # under hooks nobody knows what is saved
        given = _dead_input(call, storages, saved)
        if given is not None:
            lines.setdefault(line_key(call.callsite), []).append((call, given))
    large = {
        key: of_one for key, found in lines.items() if _bytes((of_one := _of_the_largest(found))[0]) >= note.LEAST_BYTES
    }
    refused = _saved_elsewhere(story, large, saved)
    for key, found in large.items():
        if key not in refused:
            yield _note(story, found, _bytes(found[0]))


def _of_the_largest(found: list[tuple[CallEvent, TensorMetadata]]) -> list[tuple[CallEvent, TensorMetadata]]:
    """The calls of the operation that would spare most, the largest first: a line may hold several operations."""
    largest = max(found, key=_bytes)
    return [largest, *(each for each in found if each[0].operation == largest[0].operation and each is not largest)]


def _bytes(found: tuple[CallEvent, TensorMetadata]) -> int:
    return found[1].nbytes or 0


def _saved_elsewhere(
    story: Story, lines: Mapping[object, list[tuple[CallEvent, TensorMetadata]]], saved: set[int | None]
) -> set[object]:
    """Those of some lines by which the old values were needed in another pass, as a network needs them that is frozen
    in one step and trained in the next: the in-place form is refused there."""
    keys = {place: line_key(site) for place, site in story.sites.items()} if lines else {}
    there = story.at(place for place, key in keys.items() if key in lines)
    return {
        key
        for call in there
        if (key := line_key(call.callsite))
        and call.operation == lines[key][0][0].operation
        and any(given.storage in saved for given in call.inputs[:1])
    }


def _dead_input(call: CallEvent, storages: dict[int, Storage], saved: set[int | None]) -> TensorMetadata | None:
    """The first input, where the call could have written its result into it."""
    if call.kind != "ordinary" or call.error is not None or len(call.outputs) != 1 or not _written_by_the_user(call):
        return None
    given, result = (call.inputs[0] if call.inputs else None), call.outputs[0]
    storage = storages.get(given.storage) if given is not None and given.storage is not None else None
    if given is None or storage is None or storage.born is None or storage.ended != call.index + 1:
        return None
    alike = (given.shape, given.dtype, given.device) == (result.shape, result.dtype, result.device)
    leaf = given.is_trainable
    if not alike or leaf or given.is_view or given.nbytes != storage.nbytes or storage.storage in saved:
        return None
    return given


def _written_by_the_user(call: CallEvent) -> bool:
    """Whether the call stands in the user's own line, or is the whole of a module that the user put there."""
    if call.callsite is None or call.callsite.direct:
        return True
    module, _, name = call.name.rpartition(".")
    if module != "F" or not call.modules or any(holder in _CLOSED for holder in call.modules[-2:-1]):
        return False
    return call.modules[-1].lower() in (name.replace("_", ""), "module")


def _note(story: Story, found: list[tuple[CallEvent, TensorMetadata]], nbytes: int) -> Hazard:
    call, given = found[0]
    site = call.callsite
    name = story.bindings.name(given.tensor)
    what = _("`{name}` of before").format(name=name) if name else _("the tensor that it is given")
    form = "`inplace=True`" if call.does("takes a flag") else f"`{call.operation}_`"
    spared = note.size(nbytes)
    if len(found) > 1:
        spared = _("{size} each time ({count} calls)").format(size=spared, count=len(found))
    return Hazard(
        code=CODE,
        severity="info",
        message=_(
            "{line} makes a new tensor, and {tensor} dies right after, not saved for backward: the in-place "
            "form would reuse its memory and save {size}."
        ).format(line=wording.spot(site), tensor=what, size=spared),
        fix=_("Where the memory matters: {form}. Where it does not, the ordinary form is the safer one.").format(
            form=form
        ),
        variable=name,
        origin=site,
        tensor=given.tensor,
        call=call.index,
        nbytes=nbytes,
    )


RULE = Rule(check)
