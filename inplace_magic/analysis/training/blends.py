"""Which states of weights went into a memory: of an average, those that it was updated from.

A state of a weight begins with a write that moved it. What is computed from a weight without gradients carries the
state it was read at; what is computed from that carries it on, and so does a memory that it was written into.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata

KEPT = 3
"""So many of the latest states of a weight are told apart in one memory."""

States = Mapping[int, tuple[int, ...]]
"""By the memory of a weight: the calls that had moved it last when it was read, latest first."""


@dataclass(frozen=True, slots=True)
class Blend:
    """A write of values that had been computed from weights, or copied from them."""

    call: CallEvent
    tensor: int
    """What was written, or was given another memory."""
    storage: int
    """Its memory before the call."""
    memory: int
    """Its memory from then on: another one after `p.data = average`."""
    states: States
    """Those in what was written."""
    whole: bool
    """Whether nothing of the old values stayed."""


def blends(story: Story) -> Iterator[Blend]:
    """Every such write outside of library code that steps, in the order of the calls."""
    walk = _Walk(story)
    for call in story.trace.calls:
        if call.error is None and call.kind != "query":
            yield from walk.through(call)


class _Walk:
    def __init__(self, story: Story) -> None:
        self._story = story
        met = (meta for call in story.trace.calls for meta in call.inputs)
        self._weights = {meta.storage for meta in met if meta.is_trainable and meta.storage is not None}
        self._given: set[int] = set()
        """Memories that a weight was given: nobody trains them, but the next average is given to their place."""
        self._sizes: dict[int, int] = {}
        self._moved: dict[int, int] = {}
        self._carried: dict[int, dict[int, tuple[int, ...]]] = {}

    def through(self, call: CallEvent) -> Iterator[Blend]:
        stepping = call.callsite in self._story.stepping
        if call.does("takes memory") and len(call.inputs) > 1 and not stepping:
            yield from self._taken(call)
            return
        for place, mutation in enumerate(call.mutations):
            if mutation.storage is None:
                continue
            if not stepping:
                yield from self._written(call, place, mutation)
            self._moved[mutation.storage] = call.index
        if not call.mutations and not stepping and not any(meta.requires_grad for meta in call.outputs):
            for place, made in enumerate(call.outputs):
                states = self._of_all(_given_for(call, place, len(call.outputs)), made, call.does("gathers"))
                if states and made.storage is not None:
                    self._carried[made.storage] = _joined(self._carried.get(made.storage, {}), states)

    def _taken(self, call: CallEvent) -> Iterator[Blend]:
        before, source = call.inputs[:2]
        its_own = before.storage in self._weights or before.storage in self._given
        if its_own and source.storage not in (None, before.storage):
            states = self._of_all([source], before, gathers=False)
            if states and before.storage is not None and source.storage is not None:
                self._given.add(source.storage)
                yield Blend(call, before.tensor, before.storage, source.storage, states, whole=True)

    def _written(self, call: CallEvent, place: int, mutation: Mutation) -> Iterator[Blend]:
        if place >= len(call.mutated) or mutation.storage is None:
            return
        target = call.mutated[place]
        given = [m for m in _given_for(call, place, len(call.mutations)) if m.storage != mutation.storage]
        states = self._of_all(given, target, gathers=False)
        covers = (mutation.region is None and not target.is_view) or self._is_all(target)
        whole = call.does("overwrites") and covers
        if whole:
            self._carried.pop(mutation.storage, None)
        if states:
            self._carried[mutation.storage] = _joined(self._carried.get(mutation.storage, {}), states)
            yield Blend(call, mutation.tensor, mutation.storage, mutation.storage, states, whole)

    def _is_all(self, target: TensorMetadata) -> bool:
        """Whether a view, such as `.data`, has all the elements of the weight that lies in its memory."""
        return target.storage in self._sizes and _numel(target) == self._sizes[target.storage or 0]

    def _of_all(self, given: list[TensorMetadata], made: TensorMetadata, gathers: bool) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        for meta in given:
            if meta.storage is None or meta.storage == made.storage:
                continue
            if meta.storage in self._weights:
                self._sizes[meta.storage] = max(_numel(meta), self._sizes.get(meta.storage, 0))
            for weight, states in self._of(meta.storage).items():
                size = self._sizes.get(weight, 0)
                if gathers or (size and _numel(made) % size == 0) or weight == made.storage:
                    found[weight] = _latest(found.get(weight, ()), states)
        return found

    def _of(self, storage: int) -> dict[int, tuple[int, ...]]:
        carried = self._carried.get(storage, {})
        if storage not in self._weights:
            return carried
        others = {weight: states for weight, states in carried.items() if weight != storage}
        return {**others, storage: (self._moved.get(storage, -1),)}


def _given_for(call: CallEvent, place: int, results: int) -> list[TensorMetadata]:
    """What went into one result: of an operation on lists, the entries at its place."""
    return list(call.inputs[place::results]) if call.does("of lists") and results else list(call.inputs)


def _numel(meta: TensorMetadata) -> int:
    return math.prod(meta.shape) if meta.shape is not None else 0


def _latest(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({*one, *other}, reverse=True)[:KEPT])


def _joined(one: Mapping[int, tuple[int, ...]], other: States) -> dict[int, tuple[int, ...]]:
    found = dict(one)
    for weight, states in other.items():
        found[weight] = _latest(found.get(weight, ()), states)
    return found
