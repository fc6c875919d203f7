"""Autograd nodes: the calls that made them, their saved tensors, their edges.

An autograd node refuses weak references, but its ``metadata`` dict lives and dies with it: a token of ours in that
dict is the node's identity, and a weak reference to the token tells when the node dies. No node is held beyond the
call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from inplace_magic.capture.graph.depth import DEEP, levels
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.records import (
    KEY,
    UNREAD,
    CounterRecord,
    NodeRecord,
    SavedRecord,
    StorageRecord,
    TensorRecord,
    Token,
    saved_by,
)
from inplace_magic.capture.torch import describe, describe_nodes, unpacking
from inplace_magic.capture.torch.layouts import Layout
from inplace_magic.capture.witness import digestible, saved_digest, still_equal

_PLAIN_TYPES = describe.PLAIN_TYPES
_NODE_NAMES = describe_nodes.NODE_NAMES


class NodeMap:
    """Numbers autograd nodes and reads their saved tensors, once, right after the call that made them.

    Args:
        clock: how many calls have begun; noted when a node dies.
        check_values: digest what nodes save, however large.
    """

    def __init__(self, identity: IdentityMap, clock: Callable[[], int], check_values: bool) -> None:
        self._identity = identity
        self._clock = clock
        self._check_values = check_values
        self._witnessed: dict[NodeRecord, None] = {}
        """Live nodes with digests, in the order of their making."""
        self.deaths: deque[NodeRecord] = deque()
        """Nodes that died since :meth:`bury`."""
        self._died = self.deaths.append
        self.records: list[NodeRecord] = []
        """Those that are not packed."""
        self.leaves: dict[int, TensorRecord] = {}
        """By serial number: leaves that a graph sends gradients to."""
        self.made = 0
        """Number of nodes seen so far, equal to the last serial number."""
        self.moved: dict[CounterRecord, int | None] = {}
        """Versions before, of the counters that the call which just returned has moved."""
        self._first_sequence = describe_nodes.sequence_number()
        DEEP.recount()
        self.shallow = self._most_deep = levels() // 2
        self.full = DEEP.alive >= self._most_deep
        """Whether no more nodes may be looked at, until some have died: whoever reads ``grad_fn`` asks first."""
        self.cut = False
        """Whether something behind the node that was numbered last was left alone."""
        self.unread_from: int | None = None
        """Number of the place where a node was first left alone for that reason."""
        self.unread = 0
        """How many looks at a tensor left its node alone."""
        self._strangers = self.shallow
        """How many nodes that no call gave one look has come to and counted, see :meth:`are_too_many`."""

    def number(self, grad_fn: Any, call: int | None, since: int | None = None) -> int:
        """Return the number of a node; it and the unknown nodes behind it are read, as many as may be
        (:mod:`.graph.depth`).

        Args:
            call: index of the call that just returned, None when none did.
            since: autograd sequence number at that call's start; nodes older than that were not made by it.
        """
        metadata = grad_fn.metadata
        token = metadata.get(KEY)
        if token is not None and token.owner is self:
            serial: int = token.record.serial
            return serial
        first = self._add(grad_fn, metadata, call, since)
        node, record = grad_fn, first
        todo: list[tuple[Any, NodeRecord]] = []
        added = [first]
        deepest = 1
        while True:
            if record.name in describe_nodes.OF_MANY and self._may_be_too_many(node, record, since, len(added)):
                deepest = self.shallow
                self.cut = True
                break
            edges: list[int | None] = []
            for behind, _ in node.next_functions:
                if behind is None:
                    edges.append(None)
                    continue
                metadata = behind.metadata
                token = metadata.get(KEY)
                if token is not None and token.owner is self:
                    known: NodeRecord = token.record
                    edges.append(known.serial)
                    if known.depth > deepest:
                        deepest = known.depth
                    continue
                found = self._add(behind, metadata, call, since)
                if found.sequence is not None or found.variable is None:  # nothing is behind a leaf's node
                    todo.append((behind, found))
                    added.append(found)
                edges.append(found.serial)
            record.next = tuple(edges)
            if not todo:
                break
            if len(added) >= self.shallow - deepest and len(added) >= self._most_deep - DEEP.alive:
                deepest = self.shallow  # what is behind these stays unknown
                self.cut = True
                break
            node, record = todo.pop()
        depth = deepest + len(added)
        if depth > self.shallow:
            depth = self.shallow + 1
            self._deeper(len(added))
        for record in added:
            record.depth = depth
        return first.serial

    def _may_be_too_many(self, node: Any, record: NodeRecord, since: int | None, met: int) -> bool:
        """True if a look behind a node may give an object to more nodes at once than may have one. Those that the call
        did not make are known by now, as nodes of its inputs."""
        room = max(self.shallow, self._most_deep - DEEP.alive) - met
        made = record.sequence or 0
        if record.call is not None and since is not None:
            made = describe_nodes.sequence_number() - since
        return made > room and describe_nodes.most_behind(node) > room

    def _deeper(self, count: int) -> None:
        DEEP.alive += count
        self.full = DEEP.alive >= self._most_deep

    def are_too_many(self, strangers: int) -> bool:
        """True if a look that came to so many nodes which no call gave may go no further. They are counted as they are
        met, so that another look counts none of them again; few count for nothing."""
        if strangers <= self._strangers:
            return False
        self._strangers = strangers
        self._deeper(1)
        return self.full

    def leave_alone(self, site: int | None) -> int:
        """Stands for the number of a node that may not be looked at; notes where."""
        if not self.unread:
            self.unread_from = site
        self.unread += 1
        return UNREAD

    def _add(self, node: Any, metadata: dict[str, Any], call: int | None, since: int | None) -> NodeRecord:
        sequence = describe_nodes.node_sequence(node)
        made_now = call is not None and (sequence is None or since is None or sequence >= since)
        serial = self.made = self.made + 1
        token = metadata[KEY] = Token()
        token.owner = self
        token.record = record = NodeRecord(token, self._died)
        record.serial, record.sequence = serial, sequence
        record.name = _NODE_NAMES.get(type(node)) or describe_nodes.node_name(node)
        record.call = call if made_now else None
        record.next = record.saved = ()
        record.variable = record.ended = record.changed = None
        record.depth = 1
        self.records.append(record)
        if sequence is None:
            if record.name == "AccumulateGrad":
                leaf = self._identity.register(node.variable)
                record.variable = leaf.serial
                self.leaves[leaf.serial] = leaf
            return record
        if not unpacking.NEEDED:
            values = describe_nodes.saved_values(node)
        else:
            values = unpacking.saved_values(node) if made_now else []
        for name, data, hooked in values:
            record.saved += self._saved(name, data, hooked, record, made_now)
        return record

    def live_leaves(self) -> list[TensorRecord]:
        """Return the leaves that are alive; dead ones are forgotten."""
        self.leaves = {serial: leaf for serial, leaf in self.leaves.items() if leaf() is not None}
        return list(self.leaves.values())

    def bury(self) -> None:
        """Notes which nodes died since the last time; it must come before the clock moves on."""
        deaths, now = self.deaths, self._clock()
        while deaths:
            record = deaths[0]
            record.ended = now
            self._witnessed.pop(record, None)
            if record.depth > self.shallow:
                DEEP.died()
                self.full = DEEP.alive >= self._most_deep
            deaths.popleft()

    def compare_values(self, before: int) -> None:
        """Compares what live nodes saved with its digest. Content may also come back: finite differences move an entry
        and restore it (``torch.autograd.gradcheck`` does, through ``.data``).
        """
        equal_now: dict[tuple[StorageRecord, Layout, int], bool] = {}  # what one node saved another mostly saved, too
        for record in list(self._witnessed):
            for name, _, storage, _, _, layout, digest in saved_by(record):
                if digest is None or storage is None or layout is None:
                    continue
                what = storage, layout, digest
                equal = equal_now.get(what)
                if equal is None:
                    equal = equal_now[what] = still_equal(storage, layout, digest)
                if equal and record.changed is None:
                    continue
                flips = (record.changed or {}).get(name, [])
                if equal == (len(flips) % 2 == 1):
                    record.changed = {**(record.changed or {}), name: [*flips, before]}

    def _saved(
        self, name: str, data: torch.Tensor | None, hooked: bool, node: NodeRecord, made_now: bool
    ) -> SavedRecord:
        if hooked or data is None:
            return name, None, None, None, None, None, None
        identity = self._identity
        try:  # as `describe.version`, whose call costs more than its answer
            version = data._version if type(data) in _PLAIN_TYPES else describe.version(data)
        except RuntimeError:
            version = None
        serial: int | None = None
        counter: CounterRecord | None
        layout: Layout | None = None
        known = identity.tensors.get(id(data))
        if known is not None and known() is not data:
            known = identity.known(data)
        if known is not None:
            serial, storage, counter = known.serial, known.storage, known.counter
            if known.layout_at == version:
                layout = known.layout
        else:
            storage = identity.storage_of(data, node.call)
            counter = identity.counter_of(data, storage, version)
        if layout is None:
            layout = describe.layout(data)
        elif made_now and digestible(layout, self._check_values):  # memory is read by them: both are asked anew, since
            layout = describe.layout(data)  # another thread may have moved the tensor, and no version tells
            storage = identity.storage_of(data)
        if not made_now:
            version = self._version_when_saved(version, counter, node.sequence)
            return name, serial, storage, counter, version, layout, None
        if counter in self.moved and not name.startswith("result"):
            version = self.moved[counter]  # an in-place call saves its inputs before the write, its result after it
        digest = saved_digest(storage, layout, self._check_values)
        if digest is not None:
            self._witnessed[node] = None
        return name, serial, storage, counter, version, layout, digest

    def _version_when_saved(self, now: int | None, counter: CounterRecord | None, sequence: int | None) -> int | None:
        """For a node found late (a custom ``Function``'s): the version just before the first write that followed its
        creation. Of a node from before the watch it is unknown."""
        if now is None or now == 0:
            return now
        if sequence is None or sequence < self._first_sequence or counter is None:
            return None
        writes = iter(counter.writes)
        for at, before in zip(writes, writes, strict=True):
            if at is not None and at > sequence:
                return before
        return now
