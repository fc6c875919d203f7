"""A line writes a value to begin with in its first pass, and in the passes after that what was computed from it.

In ``h = self.h0`` above ``for x in xs: h += f(x); h = torch.tanh(h)`` the name begins as a second name of a tensor that
somebody keeps, and goes on as a value that flows from pass to pass. A short name for a state (``buffer =
state["momentum"]``) never does: who means to move the state writes it in each pass, and does not lose it on the way. So
the write of the first pass was meant for what `h` is afterwards, and the next run begins with what it left.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import Owned, owners_of
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.record.traits import Trait

_MOST = 64
"""Writes by one line that are looked at."""
_LATEST = 4
"""Memories that a line wrote last, of which one may be what the present one was computed from."""
_STEPS = 64
"""Calls through which one value is followed back."""
_REVERSIBLE: tuple[Trait, ...] = ("shifts", "scales")


@dataclass(frozen=True)
class StartWritten:
    """A write of a value to begin with, on top of what an earlier run had left there."""

    call: CallEvent
    mutation: Mutation
    owned: Owned
    first: CallEvent
    """The write of the earlier run."""


@dataclass(eq=False)
class _Line:
    """What a line wrote under one name."""

    wrote: dict[int, tuple[CallEvent, Callsite]] = field(default_factory=dict)
    """By memory: the latest write, and the run of the function."""
    begun: dict[int, tuple[CallEvent, int]] = field(default_factory=dict)
    """By memory that only a first pass wrote: that write, and the first of the next passes."""


def start_values_written(story: Story) -> Iterator[StartWritten]:
    """Yields one for each line and memory."""
    lines: dict[Hashable, _Line] = {}
    asked: Counter[Callsite] = Counter()
    for call, mutation, earlier in story.writes_counted:
        site, meta = call.callsite, story.observations.get(mutation.tensor)
        if earlier >= _MOST or call.error is not None or site is None or mutation.storage is None:
            continue
        if meta is None or meta.is_trainable:
            continue
        asked[site] += 1
        if asked[site] > _MOST or not builds_on_itself(story, call, mutation):
            continue
        path = story.bindings.written_path(call, mutation.tensor)
        owners = list(owners_of(story, call, mutation, path))
        for owned in owners:
            if owned.path.isidentifier():
                place = owned.site
                line = lines.setdefault((place.function, place.cell, place.file, place.line, owned.path), _Line())
                first = _entered(story, line, call, mutation.storage, place)
                if first is not None:
                    yield StartWritten(call, mutation, _rebound(owners) or owned, first)


def _rebound(owners: list[Owned]) -> Owned | None:
    """The owner whose line binds the name anew: ``h = cell(h, x)``."""
    return next((owned for owned in owners if owned.path in (owned.site.bound or ())), None)


def _entered(story: Story, line: _Line, call: CallEvent, storage: int, run: Callsite) -> CallEvent | None:
    """Enters a write; gives the one that an earlier run made of the same value to begin with."""
    if storage in line.begun:
        first, since = line.begun.pop(storage)
        return None if _is_filled(story, storage, since, call.index) else first
    for other, (wrote, where) in list(line.wrote.items())[-_LATEST:]:
        if where != run or other == storage or other in line.begun or _is_put_back(story, other, call.index):
            continue
        if _comes_from(story, call, storage, other, wrote.index):
            line.begun[other] = wrote, call.index
    line.wrote.pop(storage, None)
    line.wrote[storage] = call, run
    return None


def _is_filled(story: Story, storage: int, since: int, until: int) -> bool:
    """Whether the memory was given other values meanwhile, as a state that is put back is; or nobody saw what it was
    given."""
    return any(
        write.call is None
        or write.mutation is None
        or write.call.does("assigns")
        or not builds_on_itself(story, write.call, write.mutation)
        for write in story.writes_to_memory(storage)
        if since < write.at < until
    )


def _is_put_back(story: Story, storage: int, before: int) -> bool:
    """Whether the last two writes of a memory cancel out, as ``h += step`` and ``h -= step`` of a finite difference."""
    writes = [write for write in story.writes_to_memory(storage) if write.at < before][-2:]
    if len(writes) < 2 or writes[0].site == writes[1].site:
        return False
    (one, first), (other, last) = ((write.call, write.mutation) for write in writes)
    if one is None or other is None or first is None or last is None:
        return True
    if first.values_before is None or last.values_after is None:
        return _are_opposite(one, other)
    pairs = zip(first.values_before, last.values_after, strict=False)
    return all(math.isclose(old, new, rel_tol=1e-3, abs_tol=1e-6) for old, new in pairs)


def _are_opposite(one: CallEvent, other: CallEvent) -> bool:
    """Of writes whose values are too many to be kept, whether they may cancel out: one adds and the other subtracts, or
    one multiplies and the other divides."""
    alike = any(one.does(trait) and other.does(trait) for trait in _REVERSIBLE)
    return alike and one.does("subtracts or divides") != other.does("subtracts or divides")


def _comes_from(story: Story, call: CallEvent, storage: int, other: int, since: int) -> bool:
    """Whether a memory was computed from another one after a call."""
    todo = [meta.tensor for meta in call.inputs if meta.storage == storage]
    met: set[int] = set()
    while todo and len(met) < _STEPS:
        tensor = todo.pop(0)
        made = story.innermost_new(tensor, call.index)
        if made is None or tensor in met or made.index <= since:
            continue
        met.add(tensor)
        if any(given.storage == other for given in made.inputs):
            return True
        todo += [given.tensor for given in made.inputs]
    return False
