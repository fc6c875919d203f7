"""All writes to a memory: those of calls, those that nobody saw, those from outside torch, and those of a backward."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from inplace_magic.analysis.accesses import Write, write_by, write_of
from inplace_magic.analysis.backwards import Backwards
from inplace_magic.analysis.naming.known import KnownNames
from inplace_magic.record.events import CallEvent, ForeignWrite, UnseenWrite
from inplace_magic.record.grouped import grouped, grouped_by
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite, Whose

_AT = attrgetter("at")


@dataclass(frozen=True)
class Writes(Backwards, KnownNames):
    """The writes of a trace by memory and by function, each index made when it is first asked for."""

    @cached_property
    def foreign_writes(self) -> dict[int, list[ForeignWrite]]:
        """The writes from outside torch, by storage."""
        return grouped_by(attrgetter("storage"), self.trace.foreign)

    def writes_between(self, storage: int | None, since: int, until: int | None = None) -> Iterator[Write]:
        """Yield the writes to a memory that came after a call, and before another one if that is given."""
        writes = self.writes_to_memory(storage)
        stop = len(writes) if until is None else bisect_left(writes, until, key=_AT)
        return map(writes.__getitem__, range(bisect_right(writes, since, key=_AT), stop))

    def is_written_between(self, storage: int | None, since: int, until: int | None = None) -> bool:
        """True if there is such a write."""
        return next(self.writes_between(storage, since, until), None) is not None

    def writes_to_memory(self, storage: int | None) -> list[Write]:
        """Return all writes to a storage, those seen, unseen and from outside torch, oldest first."""
        if storage is None:
            return []
        if storage not in self._writes_to_memory:
            found = [write_by(call, mutation) for call, mutation in self.writes_to_storage.get(storage, ())]
            counters = self._counters_on.get(storage, ()) if self.trace.unseen else ()
            added = self.added_to.get(storage, ())
            unseen = (self._unseen(each) for counter in counters for each in self._unseen_on.get(counter, ()))
            found += [write for write in unseen if write.at not in added]
            found += [write_of(None, None, at, site=self.calls[at].callsite) for at in added]
            foreign = self.foreign_writes.get(storage, ())
            found += [write_of(None, None, entry.noticed, site=entry.callsite, foreign=entry) for entry in foreign]
            self._writes_to_memory[storage] = sorted(found, key=_AT)
        return self._writes_to_memory[storage]

    def name_written_by(self, write: Write) -> str | None:
        """Return the variable as the writing line says it; None where nobody saw which call wrote."""
        if write.call is None or write.mutation is None:
            return None
        return self.bindings.written_name(write.call, write.mutation.tensor)

    @cached_property
    def writing_in(self) -> dict[Whose, list[tuple[Callsite, CallEvent]]]:
        """The lines and the calls that wrote in place, by the function of the line."""
        placed = ((site, call) for call in self.in_place if (site := call.callsite) is not None)
        return grouped((site.whose, (site, call)) for site, call in placed)

    @cached_property
    def added_to(self) -> dict[int, list[int]]:
        """The backwards that added to a gradient which was there already, by its memory, oldest first."""
        known = (backward for backward in self.trace.backwards if backward.call in self.calls)
        return grouped((entry.storage, backward.call) for backward in known for entry in backward.added_to)

    @cached_property
    def tensors_counted_by(self) -> dict[int, list[int]]:
        """Tensors in the order in which they were met, by version counter."""
        return grouped((meta.counter, meta.tensor) for meta in self.observations.values() if meta.counter is not None)

    def _unseen(self, unseen: UnseenWrite) -> Write:
        """Where an unseen write goes among the others. A gradient that changed while nobody was seen writing it was
        added to by the last backward before."""
        before, after = unseen.version_before, unseen.version_after
        tensors = self.tensors_counted_by.get(unseen.counter, ())
        gradient = any(is_gradient(name) for tensor in tensors for name in self.names.get(tensor, ()))
        ran = bisect_left(self.backwards_run, unseen.noticed) if gradient else 0
        if unseen.callsite is not None or not ran:
            return write_of(before, after, unseen.noticed, site=unseen.callsite)
        last = self.backwards_run[ran - 1]
        return write_of(before, after, last, site=self.calls[last].callsite)

    @cached_property
    def _writes_to_memory(self) -> dict[int, list[Write]]:
        return {}

    @cached_property
    def _unseen_on(self) -> dict[int | None, list[UnseenWrite]]:
        return grouped((entry.counter, entry) for entry in self.trace.unseen)

    @cached_property
    def _counters_on(self) -> dict[int | None, list[int | None]]:
        pairs = dict.fromkeys((meta.storage, meta.counter) for meta in self.observations.values())
        return grouped(pairs)

    def innermost_new(self, tensor: int, before: int) -> CallEvent | None:
        """Return the first call before call `before` that gave a tensor as a new one; ``p.to(device)`` and
        ``torch.autograd.grad(y, x, v)`` may give the very tensor that they got. What call `before` runs within gave
        nothing yet: a hook writes the gradient that ``torch.autograd.grad`` will give."""
        call = self._made.get(tensor)
        return call if call is not None and call.index < before and not self._runs_within(before, call) else None

    def _runs_within(self, index: int, call: CallEvent) -> bool:
        inner = self.calls.get(index)
        while inner is not None and inner.parent is not None and inner.parent != call.index:
            inner = self.calls.get(inner.parent)
        return inner is not None and inner.parent is not None

    def view_of(self, tensor: int, before: int) -> CallEvent | None:
        """Return the call before another one that took a tensor as a view of another tensor."""
        return next(self.views_back(tensor, before), None)

    def views_back(self, tensor: int, before: int) -> Iterator[CallEvent]:
        """Yield the call before another one that took a tensor as a view, the call that took what that is a view of as
        one, and so on."""
        while (made := self.innermost_new(tensor, before)) is not None and made.kind == "view" and made.inputs:
            yield made
            tensor, before = made.inputs[0].tensor, made.index

    @cached_property
    def _made(self) -> dict[int, CallEvent]:
        found: dict[int, CallEvent] = {}
        for call in self.trace.calls:
            if call.kind in ("ordinary", "view"):
                given = {meta.tensor for meta in call.inputs}
                for output in call.outputs:
                    if output.tensor not in given:
                        found.setdefault(output.tensor, call)
        return found
