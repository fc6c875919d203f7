"""What a call writes and gives: what it announces, looked at before it runs, and what it did, when it has returned."""

from __future__ import annotations

from typing import Any

import torch

from inplace_magic.capture.elements.regions import basic_index_region
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import Log
from inplace_magic.capture.observer import Observer
from inplace_magic.capture.records import (
    LAYOUT,
    POINTER,
    RECORD,
    STORAGE,
    VERSION,
    Observation,
    PassingStorage,
    TensorRecord,
)
from inplace_magic.capture.running import FEW, OpenCall, Written, gives
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.arguments import Keywords, tensors_in
from inplace_magic.record.blindness import MAY_HAVE_SKIPPED

_NONE: list[Any] = []
_NOWHERE: dict[int, int] = {}
_NOTHING: set[int] = set()
NO_OUTPUTS: tuple[list[Any], bool, bool] = (_NONE, False, False)
"""Results of a call without tensor outputs."""
_PLAIN_TYPES = describe.PLAIN_TYPES


class Results:
    """Compares the tensors of a call with their state before it.

    Args:
        log: where values are noted that a write drops.
        limit: elements up to which values are kept.
    """

    def __init__(self, identity: IdentityMap, observer: Observer, log: Log, limit: int) -> None:
        self._identity = identity
        self._observer = observer
        self._log = log
        self._limit = limit

    def announced(self, call: OpenCall, args: tuple[Any, ...], kwargs: Keywords) -> None:
        """Notes what a call with these arguments says that it will write, with the values of small ones."""
        facts = call.facts
        if kwargs and "out" in kwargs:
            call.keeps_layout = False
        if facts.uncounted is not None:
            call.uncounted, certain = facts.uncounted(args, kwargs)
            if not certain:
                self._log.uncertain.add(call.index)
                self._log.not_seen[MAY_HAVE_SKIPPED, facts.name, call.site] = None
        announced = facts.announced_writes(args, kwargs)
        if not announced:
            return
        call.targets = tensors_in(announced, [])
        limit = self._limit
        for tensor in call.targets:
            latest = self._identity.register(tensor).latest
            if latest is None:
                continue
            if type(tensor) in _PLAIN_TYPES and (
                describe_memory.pointer(tensor) != latest[POINTER] or tensor.dtype is not latest[LAYOUT].dtype
            ):
                latest = self._observer.look_anew(tensor, call)
            passing = type(latest[STORAGE]) is PassingStorage
            values = describe_memory.values(tensor, latest[LAYOUT], limit, passing=passing)
            if values is not None:
                if not call.values:
                    call.values = {}
                call.values[id(tensor)] = values
        if facts.sets_item and call.before and len(args) > 1:
            layout = call.before[0][LAYOUT]
            call.region = basic_index_region(layout.shape, layout.strides, layout.offset, args[1])
        if facts.dropped is not None:
            dropped = facts.dropped(args, kwargs)
            if dropped is not None:
                self._log.dropped[call.index] = dropped

    def writes(self, call: OpenCall) -> list[Written]:
        """Return the inputs whose version counter moved, each counter once, and those known to be written without
        moving one."""
        found: list[Written] = _NONE
        places = _NOWHERE  # by `id` of its counter, where a tensor stands in what was found
        version_of = describe.version
        before = call.before
        for place, tensor in enumerate(call.tensors):
            seen = before[place]
            try:  # as `describe.version`, whose call costs more than its answer
                version = tensor._version if type(tensor) in _PLAIN_TYPES else version_of(tensor)
            except RuntimeError:
                version = None
            if version != seen[VERSION]:
                if found is _NONE:
                    found, places = [], {}
                record, before_it = seen[RECORD], seen[VERSION]
                if call.keeps_layout and record.layout_at == before_it:
                    record.layout_at = version
                counter = record.counter
                at = places.setdefault(id(counter), len(found))
                if at == len(found):
                    counter.note_write(call.sequence, before_it)
                    counter.version = version
                    found.append((tensor, record, before_it))
                elif gives(call, tensor):
                    found[at] = (tensor, record, before_it)
        if call.facts.metadata_only:  # a recurrent net's weights are all given one memory
            for tensor, seen in zip(call.tensors, before, strict=True):
                self._identity.rebase(tensor, seen[RECORD], call.index)
        if call.uncounted or (call.targets and version_of(call.targets[0]) is None):
            if found is _NONE:
                found, places = [], {}
            for tensor in (*call.uncounted, *(t for t in call.targets if version_of(t) is None)):
                record = self._identity.register(tensor)
                if places.setdefault(id(record.counter), len(found)) == len(found):
                    found.append((tensor, record, version_of(tensor)))
        return found

    def mutation(self, call: OpenCall, tensor: torch.Tensor, record: TensorRecord, before: int | None) -> Any:
        """(tensor afterwards, version before, values before, values after, elements written)."""
        after = record.latest if gives(call, tensor) else None  # just seen among the outputs
        if after is None:
            after = self._observer.look(tensor, record, call, direct=False)
        old = call.values.get(id(tensor))
        new = None
        if old is not None:
            passing = type(after[STORAGE]) is PassingStorage
            new = describe_memory.values(tensor, after[LAYOUT], self._limit, passing=passing)
        return after, before, old, new, call.region if tensor is call.tensors[0] else None

    def outputs(self, call: OpenCall, produced: list[torch.Tensor]) -> tuple[list[Observation], bool, bool]:
        """Return the outputs; whether one has a storage of its own, and whether one shares an input's."""
        if not produced:
            return NO_OUTPUTS
        entered: list[tuple[torch.Tensor, TensorRecord, bool]] = []
        fresh = shared = False
        identity = self._identity
        known = identity.tensors
        many = len(produced) > FEW
        first = _first_places(call.before) if many else _NOWHERE
        written = {id(entry[0]) for entry in call.written} if call.written else _NOTHING
        for tensor in produced:
            record = known.get(id(tensor))
            if record is not None and record() is not tensor:  # it died since the queue was read
                record = identity.known(tensor)
            storage = record.storage if record is not None else identity.storage_of(tensor, call.index)
            donor = None
            if many:
                places = [first[key] for key in (id(record), id(storage)) if key in first]
                donor = call.before[min(places)][RECORD] if places else None
            else:
                for seen in call.before:
                    if seen[RECORD] is record or (storage is not None and seen[STORAGE] is storage):
                        donor = seen[RECORD]
                        break
            if donor is not None:
                shared = True
            else:
                fresh = True
            if record is None:
                record = identity.enter(tensor, storage, None if call.facts.aliases_data else donor)
                direct = True
            else:
                direct = id(tensor) in written
            entered.append((tensor, record, direct))
        # Looked at when all are known: the node of ``values, indices = x.topk(2)`` keeps the second output.
        look = self._observer.look
        if len(entered) == 1:
            tensor, record, direct = entered[0]
            return [look(tensor, record, call, direct=direct)], fresh, shared
        return [look(tensor, record, call, direct=direct) for tensor, record, direct in entered], fresh, shared


def _first_places(before: list[Observation]) -> dict[int, int]:
    """By ``id`` of a record or a storage, the first observation that has it."""
    found: dict[int, int] = {}
    for place, seen in enumerate(before):
        found.setdefault(id(seen[RECORD]), place)
        if seen[STORAGE] is not None:
            found.setdefault(id(seen[STORAGE]), place)
    return found
