"""Parameters took the memory of a tensor, were trained, and then others took it again, as if it still held the
start."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale, writes_since
from inplace_magic.hazards.references.second_names import taken_for_the_write
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent

CODE = "taken-memory-trained"


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each line that trained such memory."""
    ties = _ties(story)

    def given_again(source: Reference, write: Write) -> CallEvent | None:
        used = story.given_to.get(source.tensor, ())
        again = next((at for at in ties[source.storage or 0] if at > write.at), None)
        return story.calls[again] if again is not None and used and used[-1].index > write.at else None

    found = gone_stale(story, _sources(story, ties), lambda _source, write: write.site in story.stepping, given_again)
    return map(partial(_hazard, story), found)


def _first_write(story: Story, stale: Stale) -> Write:
    """The first write that was not made by way of the older tensor: from there on it holds what its holder did not put
    there."""
    source = stale.reference.tensor
    for write in writes_since(story, stale.reference):
        if write.at >= stale.write.at:
            break
        if write.site is None or write.call is None or write.mutation is None:
            continue
        if source not in (write.mutation.tensor, *taken_for_the_write(story, write.call, write.mutation)):
            return write
    return stale.write


def _sources(story: Story, ties: dict[int, list[int]]) -> Iterator[Reference]:
    """The tensors on such memory that are no trained leaf and were met before the first of them."""
    for storage, times in ties.items():
        for tensor in story.bindings.by_storage.get(storage, ()):
            if story.first_seen(tensor) < times[0] and not story.observations[tensor].requires_grad:
                yield Reference(tensor, storage, times[0], story.bindings.made_at.get(tensor))


def _ties(story: Story) -> dict[int, list[int]]:
    """The calls at which a trained leaf was given a memory, or first met on it, by memory with more than one; in
    order."""
    found: dict[int, list[int]] = {}
    met: set[tuple[int, int | None]] = set()
    taking = {call.index for call in story.doing("takes memory") if len(call.inputs) > 1}
    for index in sorted(story.training.keys() | taking) if taking else story.training:
        if index in taking:
            leaf, source = story.calls[index].inputs[:2]
            if source.storage is not None:
                found.setdefault(source.storage, []).append(index)
                met.add((leaf.tensor, source.storage))
        for meta in story.training.get(index, ()):
            key = meta.tensor, meta.storage
            if key not in met and meta.storage is not None:
                met.add(key)
                found.setdefault(meta.storage, []).append(index)
    return {storage: ties for storage, ties in found.items() if len(ties) > 1}


def _hazard(story: Story, stale: Stale) -> Hazard:
    source, write = stale.reference.tensor, _first_write(story, stale)
    name = story.bindings.name(source)
    named = f"`{name}`" if name else _("the tensor that they were made of")
    return finding(
        CODE,
        "warning",
        message=_(
            "{step} trains parameters that lie in the memory of {source}, so it writes {source}; {again} then takes "
            "that memory again, as if it still held the start. PyTorch gives no error."
        ).format(step=wording.spot(stale.write.site), source=named, again=wording.spot(stale.read.callsite))
        if write is stale.write
        else _(
            "{write} writes parameters that lie in the memory of {source}, so it writes {source}, and {step} trains "
            "them there; {again} then takes that memory again, as if nobody had. PyTorch gives no error."
        ).format(
            write=wording.spot(write.site),
            step=wording.spot(stale.write.site),
            source=named,
            again=wording.spot(stale.read.callsite),
        ),
        fix=_("Give the parameters memory of their own: hand over a copy (`.clone()`)."),
        variable=name,
        read=stale.read,
        tensor=source,
        write=write,
    )


RULE = Rule(check)
