"""What a watch keeps of what is over: bytes instead of objects.

While a tensor lives, its record, its storage's and its counter's are three weak references and objects, and each call
is a tuple that leads to them. In a loop nearly all of them stand for what died long ago. They took 700 bytes a call,
and the garbage collector went through all of them at each full search: a fifth of a watched loop of 20,000 calls. So
every few hundred calls the older ones are written down as plain numbers, in bytes which it never looks into.
"""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, lt
from typing import Any, NamedTuple

from inplace_magic.capture.graph.node_records import NodeRecord, saved_by
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import COUNTS, EACH, FACTS, HEAD, Log, RawCall
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import Observation, StorageRecord
from inplace_magic.record.filled import filled

PLAIN = 2
"""The version of ``marshal`` that does not look for objects that occur twice: here there are numbers, which do not."""


_tuple: Any = tuple.__new__
"""Makes a named tuple; its own constructor is a function of Python's that does the same."""


class Past(NamedTuple):
    """A storage or a counter of which the serial number alone is known still."""

    serial: int


@dataclass(slots=True)
class PastStorage:
    """A storage that died."""

    serial: int
    nbytes: int
    device: Any
    born: int | None
    ended: int | None
    born_op: int | None
    ended_op: int | None
    foreign: bool
    resizes: tuple[Any, ...]


@dataclass(slots=True)
class PastNode:
    """An autograd node that died."""

    serial: int
    name: str
    sequence: int | None
    call: int | None
    variable: int | None
    ended: int | None
    next: tuple[int | None, ...]
    changed: dict[str, list[int]] | None
    saved: tuple[Any, ...]


_storage, _node = filled(PastStorage), filled(PastNode)


def once_each(found: Iterable[Any], number: str) -> list[Any]:
    """What is packed and what is not, by its number and in that order. An interrupt that struck while it was packed
    may have left a few twice."""
    numbered = attrgetter(number)
    listed = [*found]
    numbers = [*map(numbered, listed)]
    if all(map(lt, numbers, numbers[1:])):
        return listed  # as nearly always
    return sorted(dict(zip(numbers, listed, strict=True)).values(), key=numbered)


class Packed:
    """All that a watch has packed."""

    def __init__(self) -> None:
        self.call_blocks: list[tuple[bytes, Sequence[int]]] = []
        """Calls that were packed together, and their numbers."""
        self.storage_blocks: list[tuple[bytes, int]] = []
        """Storages, and the number of calls at which the first of them died."""
        self.node_blocks: list[tuple[bytes, int]] = []
        """Nodes, and the least number of a call that made one; -1 where there is one that none made."""
        self._numbers: dict[Any, int] = {}
        """Of objects that many rows share: functions, layouts, devices."""
        self.count = 0
        """How many calls."""

    def take(self, log: Log, identity: IdentityMap, nodes: NodeMap, recent: int) -> None:
        """Packs what is over.

        Args:
            log: its calls.
            identity: its storages.
            nodes: the autograd nodes.
            recent: so many of the latest calls stay as they are.
        """
        older = len(log.calls) - recent
        if older > 0:
            calls = log.calls[:older]
            self.call_blocks.append((self._packed_calls(calls), array("q", [raw[0] for raw in calls])))
            self.count += older
            del log.calls[:older]
        over = [r for r in identity.storages if r.ended is not None]
        if over:
            self.storage_blocks.append((self._packed_storages(over), min([r.ended or 0 for r in over])))
            identity.storages = [r for r in identity.storages if r.ended is None]
        dead = [r for r in nodes.records if r.ended is not None]
        if dead:
            least = min([-1 if r.call is None else r.call for r in dead])
            self.node_blocks.append((self._packed_nodes(dead), least))
            nodes.records = [r for r in nodes.records if r.ended is None]

    def rows(self) -> Iterator[tuple[list[list[Any]], list[Any]]]:
        """(calls, observations), some at a time: calls as they were, with the place of an observation for each, and
        observations as :meth:`_packed_calls` writes them. Both have numbers for what stands in :attr:`objects`."""
        return (marshal.loads(packed) for packed, _ in self.call_blocks)

    @property
    def objects(self) -> list[Any]:
        """The objects that many rows share, by their numbers."""
        return [*self._numbers]

    def _packed_calls(self, calls: list[RawCall]) -> bytes:
        numbers = self._numbers
        number = numbers.setdefault
        places: dict[int, int] = {}
        observations: list[Any] = []

        def place(seen: Observation) -> int:
            found = places[id(seen)] = len(observations)
            record, storage, version, layout, *others = seen
            known, shape = None if storage is None else storage.serial, number(layout, len(numbers))
            observations.append((record.serial, record.counter.serial, record.key, known, version, shape, *others))
            return found

        rows: list[Any] = []
        for raw in calls:
            row = [*raw]
            row[FACTS] = number(raw[FACTS], len(numbers))
            end = HEAD + raw[COUNTS] + raw[COUNTS + 1]
            for at in range(HEAD, end):
                found = places.get(id(raw[at]))
                row[at] = place(raw[at]) if found is None else found
            for at in range(end, len(raw), EACH):
                found = places.get(id(raw[at]))
                row[at] = place(raw[at]) if found is None else found
                if raw[at + 4] is not None:
                    row[at + 4] = number(raw[at + 4], len(numbers))
            rows.append(row)
        return marshal.dumps((rows, observations), PLAIN)

    def storages(self) -> Iterator[PastStorage]:
        """Yield the storages."""
        objects = self.objects
        for packed, _ in self.storage_blocks:
            for serial, nbytes, device, *others in marshal.loads(packed):
                yield _storage(serial, nbytes, objects[device], *others)

    def _packed_storages(self, records: Iterable[StorageRecord]) -> bytes:
        numbers = self._numbers
        number = numbers.setdefault
        rows = [
            (
                *(r.serial, r.nbytes, number(r.device, len(numbers)), r.born, r.ended, r.born_op, r.ended_op),
                *(r.foreign, r.resizes),
            )
            for r in records
        ]
        return marshal.dumps(rows, PLAIN)

    def nodes(self) -> Iterator[PastNode]:
        """Yield the autograd nodes."""
        objects = self.objects
        for packed, _ in self.node_blocks:
            for serial, name, *others, saved in marshal.loads(packed):
                entries: list[Any] = []
                for slot, tensor, storage, counter, version, layout, digest in saved:
                    entries += (
                        *(objects[slot], tensor, None if storage is None else _tuple(Past, (storage,))),
                        *(None if counter is None else _tuple(Past, (counter,)), version, objects[layout], digest),
                    )
                yield _node(serial, objects[name], *others, tuple(entries))

    def _packed_nodes(self, records: Iterable[NodeRecord]) -> bytes:
        numbers = self._numbers
        number = numbers.setdefault
        rows = []
        for r in records:
            saved = [
                (
                    *(number(slot, len(numbers)), tensor, None if storage is None else storage.serial),
                    *(None if counter is None else counter.serial, version),
                    *(number(layout, len(numbers)), None if digest is None else 0),
                )
                for slot, tensor, storage, counter, version, layout, digest in (saved_by(r) if r.saved else ())
            ]
            rows.append(
                (
                    *(r.serial, number(r.name, len(numbers)), r.sequence, r.call, r.variable, r.ended, r.next),
                    *(r.changed, saved),
                )
            )
        return marshal.dumps(rows, PLAIN)
