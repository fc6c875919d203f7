"""What a watch keeps of what is over: bytes instead of objects.

While a tensor lives, its record, its storage's and its counter's are three weak references and objects, and each call
is a tuple that leads to them. In a loop nearly all of them stand for what died long ago. They took 700 bytes a call,
and the garbage collector went through all of them at each full search: a fifth of a watched loop of 20,000 calls. So
every few hundred calls the older ones are written down as plain numbers, in bytes which it never looks into.
"""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter, lt
from typing import Any

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import COUNTS, EACH, FACTS, HEAD, Log, RawCall
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import NodeRecord, Observation, StorageRecord, saved_by

PLAIN = 2
"""The version of ``marshal`` that does not look for objects that occur twice: here there are numbers, which do not."""


STORAGE = attrgetter(
    "serial", "nbytes", "device", "born", "ended", "born_op", "ended_op", "foreign", "follows", "resizes"
)
"""What is kept of a storage, as a row."""
_NODE = attrgetter("serial", "name", "sequence", "next", "call", "variable", "ended", "changed")


def node_row(record: NodeRecord) -> tuple[Any, ...]:
    """Return what is kept of an autograd node: :data:`_NODE`, and of each saved tensor its name, serial numbers of the
    tensor, storage and counter, version, layout, and whether there is a digest."""
    saved = [
        (
            *(slot, tensor, None if storage is None else storage.serial),
            *(None if counter is None else counter.serial, version, layout, digest is not None),
        )
        for slot, tensor, storage, counter, version, layout, digest in (saved_by(record) if record.saved else ())
    ]
    return *_NODE(record), saved


def once_each(found: Iterable[Any], numbered: Callable[[Any], Any]) -> list[Any]:
    """What is packed and what is not, by its number and in that order. An interrupt that struck while it was packed
    may have left a few twice."""
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
            observations.append((shape, record.serial, version, known, record.counter.serial, record.key, *others))
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

    def storages(self) -> Iterator[tuple[Any, ...]]:
        """Yield the storages, as :data:`STORAGE` gives them."""
        objects = self.objects
        for packed, _ in self.storage_blocks:
            for serial, nbytes, device, *others in marshal.loads(packed):
                yield serial, nbytes, objects[device], *others

    def _packed_storages(self, records: Iterable[StorageRecord]) -> bytes:
        numbers = self._numbers
        rows = [
            (serial, nbytes, numbers.setdefault(device, len(numbers)), *others)
            for serial, nbytes, device, *others in map(STORAGE, records)
        ]
        return marshal.dumps(rows, PLAIN)

    def nodes(self) -> Iterator[tuple[Any, ...]]:
        """Yield the autograd nodes, as :func:`node_row` gives them."""
        objects = self.objects
        for packed, _ in self.node_blocks:
            for serial, name, *others, saved in marshal.loads(packed):
                entries = [(objects[slot], *kept, objects[layout], has) for slot, *kept, layout, has in saved]
                yield serial, objects[name], *others, entries

    def _packed_nodes(self, records: Iterable[NodeRecord]) -> bytes:
        numbers = self._numbers
        number = numbers.setdefault
        rows = []
        for serial, name, *others, saved in map(node_row, records):
            entries = [
                (number(slot, len(numbers)), *kept, number(layout, len(numbers)), has)
                for slot, *kept, layout, has in saved
            ]
            rows.append((serial, number(name, len(numbers)), *others, entries))
        return marshal.dumps(rows, PLAIN)
