"""Autograd nodes: which call made them, what they save, how they hang together.

An autograd node refuses weak references, but its ``metadata`` dict lives and dies with it: a token of ours in that
dict is the node's identity, and a weak reference to the token tells when the node dies. No node is held beyond the
call.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch

from inplace_magic.capture.depth import DEEP, levels
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.records import NODE, UNREAD, VERSION, CounterRecord, Reference, StorageRecord, TensorRecord
from inplace_magic.capture.torch import describe, describe_nodes, unpacking
from inplace_magic.capture.torch.layouts import Layout
from inplace_magic.capture.witness import saved_digest, still_equal

_KEY = "inplace_magic"
_PLAIN_TYPES = describe.PLAIN_TYPES
_NODE_NAMES = describe_nodes.NODE_NAMES


class _Token:
    """Lives in a node's metadata."""

    __slots__ = ("__weakref__", "owner", "record")

    owner: object
    record: NodeRecord


SavedRecord = tuple[
    str,
    int | None,
    StorageRecord | None,
    CounterRecord | None,
    int | None,
    Layout | None,
    int | None,
]
"""What a node saved, not yet made readable: (name, serial number of the tensor, storage, counter, version, layout,
digest). The layout is None when somebody's hooks packed it."""


_EACH_SAVED = 7


class NodeRecord(Reference):
    """One autograd node; a weak reference to its token."""

    __slots__ = ("call", "changed", "depth", "ended", "name", "next", "saved", "sequence", "serial", "variable")

    serial: int
    name: str
    sequence: int | None
    call: int | None
    next: tuple[int | None, ...]
    variable: int | None
    ended: int | None
    depth: int
    """No path from it leads over more nodes than this; all that is not shallow (see :mod:`.depth`) has one number."""
    saved: tuple[Any, ...]
    """One :data:`SavedRecord` after the other."""
    changed: dict[str, list[int]] | None
    """By the name of a saved tensor, the calls before which its content was found changed, as before again, and so on
    in turn; None: none was changed."""


def saved_by(record: Any) -> Iterator[SavedRecord]:
    """What a node saved, one by one."""
    entries: Any = zip(*[iter(record.saved)] * _EACH_SAVED, strict=True)
    return iter(entries)


class NodeMap:
    """Gives autograd nodes serial numbers and reads what they save, once, right after the call that made them.

    Args:
        identity: for the tensors that nodes save.
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
        self.records: list[Any] = []
        """A :class:`NodeRecord` each, or what :mod:`.past.packed` left of it."""
        self.leaves: dict[int, TensorRecord] = {}
        """By serial number: leaves that a graph sends gradients to."""
        self.made = 0
        """How many nodes were met so far; the last serial number."""
        self.moved: dict[CounterRecord, int | None] = {}
        """Versions before, of the counters that the call which just returned has moved."""
        self._first_sequence = describe_nodes.sequence_number()
        DEEP.recount()
        self._shallow = self._most_deep = levels() // 2
        self.full = DEEP.alive >= self._most_deep
        """Whether no more nodes may be looked at, until some have died: whoever reads ``grad_fn`` asks first."""
        self.cut = False
        """Whether something behind the node that was numbered last was left alone."""
        self.unread_from: int | None = None
        """Number of the place where a node was first left alone for that reason."""
        self.unread = 0
        """How many looks at a tensor left its node alone."""
        self._strangers = self._shallow
        """How many nodes that no call gave :meth:`pending` has come to at once and counted; few count for nothing."""

    def number(self, grad_fn: Any, call: int | None, since: int | None = None) -> int:
        """The number of a node; it and the unknown nodes behind it are read, as many as may be (:mod:`.depth`).

        Args:
            grad_fn: the node.
            call: index of the call that just returned, None when none did.
            since: autograd sequence number at that call's start; nodes older than that were not made by it.
        """
        metadata = grad_fn.metadata
        token = metadata.get(_KEY)
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
                deepest = self._shallow
                self.cut = True
                break
            edges: list[int | None] = []
            for behind, _ in node.next_functions:
                if behind is None:
                    edges.append(None)
                    continue
                metadata = behind.metadata
                token = metadata.get(_KEY)
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
            if len(added) >= self._shallow - deepest and len(added) >= self._most_deep - DEEP.alive:
                deepest = self._shallow  # what is behind these stays unknown
                self.cut = True
                break
            node, record = todo.pop()
        depth = deepest + len(added)
        if depth > self._shallow:
            depth = self._shallow + 1
            self._deeper(len(added))
        for record in added:
            record.depth = depth
        return first.serial

    def _may_be_too_many(self, node: Any, record: NodeRecord, since: int | None, met: int) -> bool:
        """Whether a look behind a node may give an object to more nodes at once than may have one. Those that the call
        did not make are known by now, as nodes of its inputs."""
        room = max(self._shallow, self._most_deep - DEEP.alive) - met
        made = record.sequence or 0
        if record.call is not None and since is not None:
            made = describe_nodes.sequence_number() - since
        return made > room and describe_nodes.most_behind(node) > room

    def _deeper(self, count: int) -> None:
        DEEP.alive += count
        self.full = DEEP.alive >= self._most_deep

    def leave_alone(self, site: int | None) -> int:
        """Stands for the number of a node that may not be looked at; notes where.

        Args:
            site: number of the place.
        """
        if not self.unread:
            self.unread_from = site
        self.unread += 1
        return UNREAD

    def _add(self, node: Any, metadata: dict[str, Any], call: int | None, since: int | None) -> NodeRecord:
        sequence = describe_nodes.node_sequence(node)
        made_now = call is not None and (sequence is None or since is None or sequence >= since)
        serial = self.made = self.made + 1
        token = metadata[_KEY] = _Token()
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
        """The leaves that are alive; dead ones are forgotten."""
        self.leaves = {serial: leaf for serial, leaf in self.leaves.items() if leaf() is not None}
        return list(self.leaves.values())

    def bury(self) -> None:
        """Notes which nodes died since the last time; it must come before the clock moves on."""
        deaths, now = self.deaths, self._clock()
        while deaths:
            record = deaths[0]
            record.ended = now
            self._witnessed.pop(record, None)
            if record.depth > self._shallow:
                DEEP.died()
                self.full = DEEP.alive >= self._most_deep
            deaths.popleft()

    def compare_values(self, before: int) -> None:
        """Compares what live nodes saved with its digest. Content may also come back: finite differences move an entry
        and restore it (``torch.autograd.gradcheck`` does, through ``.data``).

        Args:
            before: index of the backward call that is about to begin.
        """
        for record in list(self._witnessed):
            for name, _, storage, _, _, layout, digest in saved_by(record):
                if digest is None or storage is None or layout is None:
                    continue
                equal = still_equal(storage, layout, digest)
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

    def pending(self, *, forget: bool) -> set[int]:
        """The numbers of those nodes, reached from a live tensor, that still hold what they saved: backward would use
        them. Not those behind which a backward has been already and let go of what it used: another one will raise.

        Args:
            forget: also take our tokens out of the nodes; at the end of the watch.
        """
        holding: dict[int, int] = {}  # our number by id
        users: dict[int, list[int]] = {}
        spent: list[int] = []
        strangers = 0
        self.bury()
        met: dict[int, Any] = {}  # by id; holding the nodes keeps the ids theirs
        todo: list[Any] = []
        for tensor, record in self._identity.live():
            todo.append(describe.grad_fn(tensor) if self._may_be_read(tensor, record) else None)
            gradient = describe.gradient(tensor)  # with `create_graph` it has a graph of its own
            todo.append(describe.grad_fn(gradient) if gradient is not None and not self.full else None)
        todo = [grad_fn for grad_fn in todo if grad_fn is not None]
        while todo:
            node = todo.pop()
            if id(node) in met:
                continue
            met[id(node)] = node
            token = node.metadata.get(_KEY)
            if token is not None and token.owner is self:
                if _still_saves(node, token.record):
                    holding[id(node)] = token.record.serial
                if forget:
                    del node.metadata[_KEY]
                if not token.record.next:
                    continue  # nothing is behind it, or what is was left alone
            else:
                strangers += 1
                if strangers > self._strangers:
                    self._strangers = strangers
                    self._deeper(1)
                    if self.full:
                        continue
                wide = describe_nodes.node_name(node) in describe_nodes.OF_MANY
                if wide and describe_nodes.most_behind(node) > self._shallow:
                    continue
            if describe_nodes.is_spent(node):
                spent.append(id(node))
            for behind, _ in node.next_functions:
                if behind is not None:
                    users.setdefault(id(behind), []).append(id(node))
                    todo.append(behind)
        while spent:
            key = spent.pop()
            holding.pop(key, None)
            spent += users.pop(key, ())
        if forget:
            token = None  # else this very frame would keep the last one alive
            self._unmark_the_rest()
        return set(holding.values())

    def _may_be_read(self, tensor: torch.Tensor, record: TensorRecord) -> bool:
        latest = record.latest
        if latest is None or latest[NODE] is None:
            return not self.full and _up_to_date(tensor, record)
        if latest[NODE] == UNREAD and self.unread:
            return False
        return _up_to_date(tensor, record)

    def _unmark_the_rest(self) -> None:
        """Takes our tokens out of nodes that no tensor of ours leads to without a read that would change the graph.
        The garbage collector knows the ``metadata`` dicts that hold them; asked for the referrers of many tokens, it
        would compare every reference in the process with each of them."""
        left = {id(token): token for record in self.records if (token := record()) is not None}
        for holder in gc.get_objects() if left else ():
            token = holder.get(_KEY) if type(holder) is dict else None
            if token is not None and left.get(id(token)) is token:
                del holder[_KEY]


def _still_saves(node: Any, record: NodeRecord) -> bool:
    if not unpacking.NEEDED:
        return describe_nodes.still_saves(node)
    was_read = any(layout is not None for *_, layout, _ in saved_by(record))
    return was_read and unpacking.still_saves(node)


def _up_to_date(tensor: torch.Tensor, record: TensorRecord) -> bool:
    """Whether reading ``grad_fn`` changes nothing: not so for a view whose base was written since it was last read."""
    if not describe.is_view(tensor):
        return True
    version = describe.version(tensor)
    latest = record.latest
    read_at = latest[VERSION] if latest is not None and latest[NODE] not in (None, UNREAD) else None
    return version is not None and version in (read_at, record.used_at)
