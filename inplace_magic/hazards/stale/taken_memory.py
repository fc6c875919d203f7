"""Memory that parameters took from an older tensor and were trained on, and that others took again as the start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale, writes_since
from inplace_magic.hazards.references.second_names import taken_for_the_write
from inplace_magic.record.events import CallEvent


def trained_and_taken_again(story: Story) -> Iterator[Stale]:
    """Yields one for each line that trained such memory, with the first write that did not go by the older tensor."""
    ties = _ties(story)

    def given_again(source: Reference, write: Write) -> CallEvent | None:
        used = story.given_to.get(source.tensor, ())
        again = next((at for at in ties[source.storage or 0] if at > write.at), None)
        return story.calls[again] if again is not None and used and used[-1].index > write.at else None

    found = gone_stale(story, _sources(story, ties), lambda _source, write: write.site in story.stepping, given_again)
    return (replace(stale, write=_first_write(story, stale)) for stale in found)


def _first_write(story: Story, stale: Stale) -> Write:
    source = stale.reference.tensor
    for write in writes_since(story, stale.reference):
        if write.at >= stale.write.at:
            break
        call, mutation = write.call, write.mutation
        if write.site is None or call is None or mutation is None:
            continue
        if source not in (mutation.tensor, *taken_for_the_write(story, call, mutation)):
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
