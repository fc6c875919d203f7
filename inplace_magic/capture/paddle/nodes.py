"""Autograd nodes of Paddle: which call made them, how they hang together, what they keep for backward.

A node has an address, ``node_ptr()``, that is reused after its death, and Python is not told when it dies. So a node
that a call made is always a new one, and an address leads to the node that was last seen there under that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_magic.capture.log import EACH
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.functions import Call, OpFacts
from inplace_magic.capture.paddle.identity import IdentityMap, Observation, StorageRecord, TensorRecord
from inplace_magic.capture.paddle.saves import SAVES, kept_in
from inplace_magic.capture.paddle.traits import LEAF_SINK, operation_of

SAVED_LIMIT = 4096
"""Bytes up to which a saved tensor is compared unless ``check_values`` asks for all."""
_ANY_SIZE = 1 << 40
_DEEPEST = 10_000
"""Nodes that are read behind one that is met for the first time."""


@dataclass(eq=False, slots=True)
class Saved:
    """Something that a node keeps; `before` are its bytes, while they can be compared."""

    slot: str
    seen: Observation
    """The tensor as it was kept; of a clone, the tensor that was cloned."""
    storage: StorageRecord | None
    version: int | None
    before: bytes | None = None
    is_clone: bool = False
    guarded: bool = True
    changed: tuple[int, ...] = ()


class NodeRecord:
    """One node."""

    __slots__ = ("call", "leaf", "name", "next", "saved", "sequence", "serial", "variable")

    def __init__(self, serial: int, name: str, call: int | None, sequence: int | None) -> None:
        self.serial, self.name, self.call, self.sequence = serial, name, call, sequence
        self.next: tuple[int | None, ...] = ()
        self.variable: int | None = None
        self.leaf: TensorRecord | None = None
        """Of a leaf's node: the leaf, which keeps the node alive."""
        self.saved: tuple[Saved, ...] = ()


class NodeMap:
    """Gives nodes serial numbers.

    Args:
        check_values: compare what nodes keep, however large.
    """

    def __init__(self, check_values: bool) -> None:
        self._limit = _ANY_SIZE if check_values else SAVED_LIMIT
        self._by_address: dict[int, NodeRecord] = {}
        self.records: list[NodeRecord] = []
        self.sequence = 0
        """Of the node that is met next."""
        self._compared: list[tuple[int, Saved]] = []
        """With the number of the node that keeps it."""

    def number(self, node: Any, name: str, address: int, call: int | None, alive: Sequence[int | None] = ()) -> int:
        """Return the number of a node.

        Args:
            address: where it is.
            call: the call that just returned and made it; outputs of one call may share it. None: it was there already.
            alive: numbers of the nodes of that call's inputs, which are what they were.
        """
        known = self._by_address.get(address)
        if known is None or (known.name != name if call is None else known.call != call):
            known = self._add(name, address, call)
            self._read_behind(node, known, call, alive)
        return known.serial

    def leaf(self, node: Any, tensor: TensorRecord) -> None:
        """Notes whose gradient the node of a leaf collects."""
        address = node.node_ptr()
        known = self._by_address.get(address)
        if known is None or known.name != LEAF_SINK or known.variable not in (None, tensor.serial):
            known = self._add(LEAF_SINK, address, None)
        known.variable, known.leaf = tensor.serial, tensor

    def _add(self, name: str, address: int, call: int | None) -> NodeRecord:
        sequence = None
        if name != LEAF_SINK:
            sequence = self.sequence
            self.sequence += 1
        record = NodeRecord(len(self.records) + 1, name, call, sequence)
        self.records.append(record)
        self._by_address[address] = record
        return record

    def _read_behind(self, node: Any, record: NodeRecord, call: int | None, alive: Sequence[int | None]) -> None:
        by_address = self._by_address
        todo = [(node, record)]
        left = _DEEPEST
        while todo:
            here, own = todo.pop()
            behind: list[int | None] = []
            for other in here.next_functions:
                if other is None:
                    behind.append(None)
                    continue
                address = other.node_ptr()
                known = by_address.get(address)
                is_leafs = known is not None and known.leaf is not None and known.leaf() is not None
                if known is None or not (known.serial in alive or is_leafs or known.name == other.name()):
                    name = other.name()
                    known = self._add(name, address, None if name == LEAF_SINK else call)
                    left -= 1
                    if left > 0 and name != LEAF_SINK:  # behind a leaf's there is nothing
                        todo.append((other, known))
                behind.append(known.serial)
            own.next = tuple(behind)

    def keep(self, record: NodeRecord, slot: str, seen: Observation, *, guarded: bool = True) -> None:
        """Notes that a node keeps a tensor as it is now."""
        before = describe.content(seen.layout, seen.pointer, self._limit)
        saved = Saved(slot, seen, seen.storage, seen.version, before, guarded=guarded)
        record.saved += (saved,)
        if before is not None:
            self._compared.append((record.serial, saved))

    def keep_clone(self, record: NodeRecord, slot: str, seen: Observation, clone: StorageRecord) -> None:
        """Notes that a node keeps a clone of a tensor as it was."""
        record.saved += (Saved(slot, seen, clone, 0, is_clone=True),)

    def compare_values(self, call: int) -> None:
        """Compares what nodes keep with what it was when they kept it, where a tensor on it still lives."""
        left = []
        for entry in self._compared:
            saved = entry[1]
            tensor, first = saved.seen.record(), saved.seen.pointer
            if tensor is None or describe.pointer(tensor) != first:
                saved.before = None  # nobody can tell any more
                continue
            now = describe.content(saved.seen.layout, first, self._limit)
            if (now == saved.before) == (len(saved.changed) % 2 == 1):
                saved.changed += (call,)
            left.append(entry)
        self._compared = left

    def let_go(self, numbers: set[int]) -> None:
        """Notes that nodes have let go of what they kept: whatever is written there from now on does no harm."""
        self._compared = [entry for entry in self._compared if entry[0] not in numbers]

    def reached(self, starts: Iterable[int]) -> set[int]:
        """Return the numbers of the nodes to which a backward from these comes."""
        records = self.records
        met: set[Any] = {None}
        todo: list[Any] = list(starts)
        while todo:
            number = todo.pop()
            if number not in met:
                met.add(number)
                todo += records[number - 1].next
        met.discard(None)
        return met

    def at(self, address: int) -> NodeRecord | None:
        """Return the node that was last seen at an address."""
        return self._by_address.get(address)


def note_saves(
    call: Call, nodes: NodeMap, identity: IdentityMap, look: Callable[[Any], Observation], by_ctx: Sequence[Any] = ()
) -> bool:
    """Reads from the table what the new nodes of a call keep; False where the table does not know the operation.

    Args:
        call: the call, which has returned.
        by_ctx: what the running ``PyLayer.apply`` has kept by ``save_for_backward``.
    """
    node = _new_node(call, nodes)
    if node is None or node.saved:
        return True
    if call.facts.operation == "apply":
        for index, tensor in enumerate(by_ctx):
            nodes.keep(node, f"saved[{index}]", look(tensor), guarded=False)
        return True
    slots = kept_in(call.facts.saves, call.arguments)
    if slots is None:
        return False
    for slot in slots:
        if slot == "hidden":
            if call.mutations and _clones_its_input(call.facts):
                seen = call.before[0]
                clone = identity.clone_of(seen.layout, call.index)
                nodes.keep_clone(node, "in0", seen, clone)
            continue
        if slot[0] == "o":
            for seen in call.outputs[int(slot[3:]) :][:1]:
                nodes.keep(node, slot, seen)
            continue
        position = int(slot[2:])
        for tensor in describe.tensors_in(call.arguments[position : position + 1], []):
            seen = _as_given(call, tensor) or look(tensor)
            if call.facts.keeps_as_it_lies or tensor.is_contiguous():
                nodes.keep(node, slot, seen)
            else:
                nodes.keep_clone(node, slot, seen, identity.clone_of(seen.layout, call.index))
    return True


def _clones_its_input(facts: OpFacts) -> bool:
    """True if the hidden memory is the input as it was: where the form that makes a new tensor keeps its input, and
    the form in place keeps nothing of the user's."""
    ordinary = SAVES.get(facts.operation.removesuffix("_"))
    return facts.saves == ("hidden",) and isinstance(ordinary, tuple) and ordinary == ("in0",)


def _new_node(call: Call, nodes: NodeMap) -> NodeRecord | None:
    """Return the node that a call made and that keeps something; of several, as ``linear`` makes them, the one whose
    own operation does."""
    records = nodes.records
    observed = call.outputs
    if call.mutations:
        observed = observed + call.mutations[::EACH]
    for seen in observed:
        number = seen.node
        if number is None or records[number - 1].call != call.index:
            continue
        first = records[number - 1]
        if number == len(records):
            return first
        for node in records[number - 1 :]:
            if node.call == call.index and SAVES.get(operation_of(node.name)):
                return node
        return first
    return None


def _as_given(call: Call, tensor: Any) -> Observation | None:
    """Return an input of a call that wrote nothing, as it was before the call."""
    if not call.mutations:
        for given, seen in zip(call.tensors, call.before, strict=True):
            if given is tensor:
                return seen
    return None
