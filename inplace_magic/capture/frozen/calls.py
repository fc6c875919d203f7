"""Raw calls of any framework -> frozen ones, from what a watch still has as objects and from what it packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inplace_magic.capture.log import COUNTS, EACH, FACTS, HEAD, SITE, Log, RawCall, mutations_of
from inplace_magic.capture.records import UNREAD
from inplace_magic.record.events import CallEvent, Mutation, Number, TensorMetadata
from inplace_magic.record.filled import filled
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal

_call_event, _metadata, _mutation = filled(CallEvent), filled(TensorMetadata), filled(Mutation)


@dataclass(eq=False)
class Freezer:
    """Makes each observation readable once, however many calls refer to it."""

    log: Log
    sites: list[Callsite]
    modules: list[tuple[str, ...]]
    """Classes of the modules around each place."""
    within: Mapping[tuple[int, str], str]
    """The library's expression of a writing call, by place and name."""
    refusal_of: Callable[[str], Refusal | None]
    """What the framework refused by an error of that text."""
    numbers: Callable[[Any, Any], tuple[Number, ...] | None]
    """The elements of a tensor, by what was kept of its values and by the tensor afterwards."""
    _made: dict[int, TensorMetadata] = field(default_factory=dict)
    """By ``id`` of the observation."""

    def calls(self, raws: list[RawCall], giving: set[int | None]) -> list[CallEvent]:
        """Some calls; adds the numbers of the places that gave a memory to other libraries."""
        giving.update([raw[SITE] for raw in raws if raw[FACTS].exports])
        return [self._call(raw, raw[FACTS], self._observation) for raw in raws]

    def packed_calls(
        self, rows: list[list[Any]], observations: list[Any], objects: list[Any], giving: set[int | None]
    ) -> list[CallEvent]:
        """Return the same of calls that were packed; the arguments are what :class:`.past.packed.Packed` keeps."""
        facts_of = [objects[row[FACTS]] for row in rows]
        giving.update([row[SITE] for row, facts in zip(rows, facts_of, strict=True) if facts.exports])
        made = [_seen(objects[layout], *others) for layout, *others in observations]
        for row in rows:
            end = HEAD + row[COUNTS] + row[COUNTS + 1]
            for region in range(end + EACH - 1, len(row), EACH) if end < len(row) else ():
                row[region] = None if row[region] is None else objects[row[region]]
        return [self._call(row, facts, made.__getitem__) for row, facts in zip(rows, facts_of, strict=True)]

    def _call(self, raw: Any, facts: Any, observed: Callable[[Any], TensorMetadata]) -> CallEvent:
        number, _facts, kind, site, error, parent, grad_enabled, sequence, inputs, outputs = raw[:HEAD]
        end = HEAD + inputs
        written = mutations_of(raw) if len(raw) > end + outputs else ()
        after = tuple([observed(entry[0]) for entry in written]) if written else ()
        return _call_event(
            number,
            facts.name,
            kind,
            None if site is None else self.sites[site],
            (*map(observed, raw[HEAD:end]),),
            (*map(observed, raw[end : end + outputs]),),
            tuple([self._mutation(number, *pair) for pair in zip(after, written, strict=True)]) if written else (),
            error,
            None if error is None else self.refusal_of(error),
            parent,
            grad_enabled,
            after,
            sequence,
            () if site is None else self.modules[site],
            "" if site is None or not written else self.within.get((site, facts.name), ""),
            facts.traits,
            1 + self.log.repeats.get(number, 0),
        )

    def _mutation(self, call: int, after: TensorMetadata, written: Any) -> Mutation:
        seen, before, old, new, region = written
        old, new = [None if values is None else self.numbers(values, seen) for values in (old, new)]
        dropped, certain = self.log.dropped.get(call), call not in self.log.uncertain
        return _mutation(
            *(after.tensor, before, after.version, after.storage, after.counter, old, new, region, dropped, certain)
        )

    def _observation(self, seen: Any) -> TensorMetadata:
        made = self._made.get(id(seen))
        if made is None:
            record, storage, version, layout, pointer, requires_grad, node = seen
            on = storage.serial if storage is not None else None
            counter = on if record.counter is None else record.counter.serial
            made = _seen(layout, record.serial, version, on, counter, record.key, pointer, requires_grad, node)
            self._made[id(seen)] = made
        return made


def _seen(layout: Any, *row: Any) -> TensorMetadata:
    """Return an observation of a tensor that looked like that, as it stands in a row of packed ones."""
    serial, version, storage, counter, key, pointer, requires_grad, node = row
    *looks, is_view, cls = layout.readable
    known = None if node == UNREAD else node
    return _metadata(
        *(serial, version, storage, counter, *looks, requires_grad, node is None, is_view, known, key, pointer, cls)
    )
