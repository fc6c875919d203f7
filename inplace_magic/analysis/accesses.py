"""Who read and who wrote which tensor, memory and version counter: one walk through the trace, many look-ups.

The rules ask for each write what came after it. Where a loop writes one tensor 10,000 times, an answer that walks
through the trace makes 10,000 × 10,000 steps; so every question has an index, in the order of the calls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import pairwise
from operator import attrgetter
from typing import overload

from inplace_magic.analysis.overlap import reach_of_write
from inplace_magic.analysis.remembered import remembered
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, ForeignWrite, Mutation, Region
from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.record.sorted_calls import SortedCalls

_AT = attrgetter("at")
_AFTER = attrgetter("after")
_INDEX = attrgetter("index")


@dataclass(frozen=True, slots=True)
class Write:
    """One mutation and the call that made it; the call is None when nobody saw who wrote."""

    before: int | None
    after: int | None
    at: int
    """Index of the writing call; of an unseen write, of the call before which it was noticed."""
    call: CallEvent | None = None
    mutation: Mutation | None = None
    site: Callsite | None = None
    """Place of the write; of an unseen one, the only statement that can have made it."""
    foreign: ForeignWrite | None = None
    """Of a write from outside the framework."""

    @property
    def is_uncounted(self) -> bool:
        """True if a call made it that counts no write."""
        return self.mutation is not None and self.mutation.version_before == self.mutation.version_after

    @property
    def reach(self) -> Region | None:
        """The elements that it can have reached; None: any."""
        return reach_of_write(self.call, self.mutation) if self.call is not None and self.mutation is not None else None


write_of = filled(Write)
"""Makes one."""


@dataclass(frozen=True)
class Accesses(SortedCalls):
    """The reads and writes of a trace, indexed; each index is made when it is first asked for."""

    @cached_property
    def writes(self) -> dict[int, list[Write]]:
        """All writes by version counter, oldest first."""
        seen = ((call, mutation) for call in self.writing for mutation in call.mutations)
        found = grouped((each.counter, write_by(call, each)) for call, each in seen if each.counter is not None)
        for unseen in self.trace.unseen:
            write = write_of(unseen.version_before, unseen.version_after, unseen.noticed, site=unseen.callsite)
            found.setdefault(unseen.counter, []).append(write)
        for writes in found.values():
            writes.sort(key=lambda write: (write.at, write.after or 0))
        return found

    def writes_after(self, saved: SavedTensor, version: int | None, end: int | None = None) -> Sequence[Write]:
        """Return the counted writes that came after `version` of what was saved and before call `end`, oldest first."""
        if saved.counter is None or version is None or saved.counter not in self._counted:
            return []
        counted, in_order = self._counted[saved.counter]
        stop = len(counted) if end is None else bisect_right(counted, end - 1, key=_AT)
        if not in_order:
            return [write for write in counted[:stop] if write.after is not None and write.after > version]
        return Span(counted, bisect_right(counted, version, key=_AFTER), stop)

    @cached_property
    def _counted(self) -> dict[int, tuple[list[Write], bool]]:
        """The writes that moved a version, by counter; and whether each moved it forwards, as all but odd ones do."""
        found = {}
        for counter, writes in self.writes.items():
            counted = [write for write in writes if write.after is not None]
            in_order = all((one.after or 0) <= (other.after or 0) for one, other in pairwise(counted))
            found[counter] = counted, in_order
        return found

    @cached_property
    def writes_to_storage(self) -> dict[int, list[tuple[CallEvent, Mutation]]]:
        """All writes that were seen, by storage, oldest first."""
        written = ((call, mutation) for call in self.in_place for mutation in call.mutations)
        return grouped((write[1].storage, write) for write in written if write[1].storage is not None)

    @cached_property
    def written_within_backward(self) -> set[int]:
        """Storages written from inside another call: by a hook or a custom ``backward``."""
        return {s for s, writes in self.writes_to_storage.items() if any(call.parent is not None for call, _ in writes)}

    def silent_writes(self, saved: SavedTensor, since: int) -> Iterator[tuple[CallEvent, Mutation]]:
        """Return the writes to the memory of a saved tensor, after call `since`, that its saver cannot notice: those
        that moved no version of it; all of them where nobody compares versions. Of one that may have been skipped
        nobody knows."""
        writes = self._silent_writes(saved.storage, saved.counter, saved.guarded)
        return map(writes.__getitem__, range(bisect_right(writes, since, key=index_of), len(writes)))

    @remembered
    def _silent_writes(
        self, storage: int | None, counter: int | None, guarded: bool
    ) -> list[tuple[CallEvent, Mutation]]:
        found = []
        for call, mutation in self.writes_to_storage.get(storage, ()) if storage is not None else ():
            moved_none = mutation.version_before == mutation.version_after
            unnoticed = moved_none if mutation.counter == counter else counter is not None
            if mutation.certain and (unnoticed or not guarded):
                found.append((call, mutation))
        return found

    @cached_property
    def writes_to_tensor(self) -> dict[int, list[tuple[CallEvent, Mutation]]]:
        """All writes that were seen, by tensor, oldest first."""
        return grouped((mutation.tensor, (call, mutation)) for call in self.in_place for mutation in call.mutations)

    @cached_property
    def _readers(self) -> dict[int, dict[Callsite | None, list[CallEvent]]]:
        """The calls that a tensor went into, by tensor and place, oldest first; of queries, those that took the values
        of one tensor: ``x.tolist()``. To ask whether two are equal may be to ask whether they are one."""
        found: dict[int, dict[Callsite | None, list[CallEvent]]] = {}
        for call in self.trace.calls:
            asks = call.kind == "query" and not (len(call.inputs) == 1 and call.does("reads values"))
            if asks or call.does("buffer"):
                continue
            for meta in call.inputs:
                known = found.setdefault(meta.tensor, {}).setdefault(call.callsite, [])
                if not known or known[-1] is not call:
                    known.append(call)
        return found

    @cached_property
    def given_to(self) -> dict[int, list[CallEvent]]:
        """The calls that got each tensor, oldest first; queries too."""
        return grouped((tensor, call) for call in self.trace.calls for tensor in {meta.tensor for meta in call.inputs})

    def calls_between(self, since: int, until: int) -> Iterator[CallEvent]:
        """Return the calls between two others."""
        return _between(self.trace.calls, since, until)

    def given_between(self, tensor: int, since: int, until: int) -> Iterator[CallEvent]:
        """Return the calls between two others that got a tensor, oldest first; queries too."""
        return _between(self.given_to.get(tensor, []), since, until)

    @cached_property
    def given_twice(self) -> dict[int, CallEvent]:
        """The tensors that one call gave for two of its results, as ``torch.autograd.grad`` does for both summands of a
        sum, and that call."""
        giving = (call for call in self.trace.calls if len(call.outputs) > 1 and call.kind == "ordinary")
        counted = ((call, Counter(output.tensor for output in call.outputs)) for call in giving)
        return {tensor: call for call, times in counted for tensor, count in times.items() if count > 1}

    def first_seen_on(self, tensor: int, storage: int | None) -> int:
        """Index of the first call that met a tensor on a memory; ``set_``, ``.data = …`` and swaps give it another."""
        return self._first_seen_on.get((tensor, storage), len(self.trace.calls))

    @cached_property
    def _first_seen_on(self) -> dict[tuple[int, int | None], int]:
        found: dict[tuple[int, int | None], int] = {}
        for call in self.trace.calls:
            for meta in (*call.inputs, *call.outputs, *call.mutated):
                found.setdefault((meta.tensor, meta.storage), call.index)
        return found

    @cached_property
    def giving_out(self) -> dict[int | None, list[int]]:
        """The calls that let other libraries at a memory (``numpy()``, DLPack), by storage, oldest first."""
        return grouped((call.inputs[0].storage, call.index) for call in self.doing("gives out memory") if call.inputs)

    def readers(self, tensor: int, after: int, counts: Callable[[Callsite | None], bool]) -> Iterator[CallEvent]:
        """Return the calls after another one that a tensor went into, oldest first; of queries, those that took its
        values. Which places count is asked once for each."""
        rest = []
        for site, calls in self._readers.get(tensor, {}).items():
            position = bisect_right(calls, after, key=_INDEX)
            if position < len(calls) and counts(site):
                rest.append(map(calls.__getitem__, range(position, len(calls))))
        return merge(*rest, key=_INDEX)


@dataclass(frozen=True)
class Span(Sequence[Write]):
    """Some writes in a row out of a longer list, which is not copied."""

    whole: list[Write]
    start: int
    stop: int

    def __len__(self) -> int:
        return max(0, self.stop - self.start)

    @overload
    def __getitem__(self, index: int) -> Write: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Write]: ...

    def __getitem__(self, index: int | slice) -> Write | Sequence[Write]:
        places = range(self.start, self.stop)[index]
        return self.whole[places] if isinstance(places, int) else [self.whole[place] for place in places]


def _between(calls: Sequence[CallEvent], since: int, until: int) -> Iterator[CallEvent]:
    """Return those of some calls between two others. An ``islice`` would walk through all that come before."""
    places = range(bisect_right(calls, since, key=_INDEX), bisect_left(calls, until, key=_INDEX))
    return map(calls.__getitem__, places)


def index_of(entry: tuple[CallEvent, Mutation]) -> int:
    """Return the index of a call that wrote."""
    return entry[0].index


def write_by(call: CallEvent, mutation: Mutation) -> Write:
    """Return a write of a call's."""
    return write_of(mutation.version_before, mutation.version_after, call.index, call, mutation, call.callsite)
