"""The gradients of leaves, which backward writes and ``clear_grad`` zeroes in place, without a version that moves.

``w.grad`` gives another tensor object at each read, so the memory of a gradient is known by the leaf that has it, for
as long as the leaf lives and its gradient lies there. Whoever kept ``w.grad`` in a variable has that very memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.calls import Call, RawMutation
from inplace_magic.capture.paddle.identity import IdentityMap, Observation, StorageRecord, TensorRecord
from inplace_magic.capture.paddle.nodes import NodeMap
from inplace_magic.record.autograd import AddedTo, Backward

Before = dict[TensorRecord, int]
"""By leaf, the address of its gradient; 0 where it has none yet."""


class Gradients:
    """The gradients that are known."""

    def __init__(self, identity: IdentityMap, look: Callable[[Any], Observation]) -> None:
        self._identity = identity
        self._look = look
        self._of: dict[TensorRecord, Observation] = {}
        self._leaf_at: dict[int, TensorRecord] = {}
        """By the address of the gradient."""

    def before(self, leaves: Iterable[TensorRecord]) -> Before:
        """What gradients the leaves have as backward begins."""
        found: Before = {}
        for leaf in leaves:
            tensor = leaf()
            gradient = None if tensor is None else describe.gradient(tensor)
            found[leaf] = 0 if gradient is None else describe.pointer(gradient)
        return found

    def added_to(self, before: Before, call: int) -> tuple[AddedTo, ...]:
        """Return those that backward added to; of those that it made, the memory is known from now on."""
        added = []
        for leaf, address in before.items():
            now = self._storage_of(leaf, None if address else call)
            if now is not None and address and self._of[leaf].pointer == address:
                added.append(AddedTo(leaf.serial, now.serial))
        return tuple(added)

    def cleared(self, leaf: Any, *, zeroed: bool) -> RawMutation | None:
        """Notes that the gradient of a leaf was cleared; gives the write, where it was filled with zeros and is known.

        Args:
            zeroed: its memory was filled with zeros, and not let go.
        """
        record = self._identity.known(leaf)
        seen = self._of.get(record) if record is not None else None
        if record is None or seen is None:
            return None
        if not zeroed:
            self._forget(record)
            return None
        return RawMutation(seen, seen.version)

    def at(self, tensor: Any) -> Observation | None:
        """What is known of a gradient that a new object stands for; None where it is none, or was written since.

        Args:
            tensor: the object, of which nothing is known.
        """
        first = describe.pointer(tensor)
        leaf = self._leaf_at.get(first)
        seen = None if leaf is None else self._of.get(leaf)
        owner = None if leaf is None else leaf()
        if seen is None or owner is None or seen.version != describe.version(tensor):
            return None
        gradient = describe.gradient(owner)
        return seen if gradient is not None and describe.pointer(gradient) == first == seen.pointer else None

    def settle(self) -> None:
        """Notes which gradients are gone, or lie elsewhere, by the end of the watch."""
        for leaf in list(self._of):
            self._storage_of(leaf)

    def _storage_of(self, leaf: TensorRecord, maker: int | None = None) -> StorageRecord | None:
        tensor = leaf()
        gradient = None if tensor is None else describe.gradient(tensor)
        if gradient is None or not gradient._is_initialized():
            self._forget(leaf)
            return None
        known = self._of.get(leaf)
        if known is not None:
            if known.pointer == describe.pointer(gradient):
                return known.storage
            self._forget(leaf)
        met = len(self._identity.storages)
        seen = self._of[leaf] = self._look(gradient)
        storage = seen.storage
        if storage is not None:
            self._identity.hold(storage, leaf)
            self._leaf_at[seen.pointer] = leaf
            if storage.serial > met:
                storage.born = maker
        return storage

    def _forget(self, leaf: TensorRecord) -> None:
        seen = self._of.pop(leaf, None)
        if seen is not None and self._leaf_at.get(seen.pointer) is leaf:
            del self._leaf_at[seen.pointer]
        if seen is not None and seen.storage is not None:
            self._identity.let_go(seen.storage, leaf)


class _Running(NamedTuple):
    call: Call
    backward: Backward
    reached: set[int]
    """Numbers of the nodes to which it comes."""
    gradients: Before


class Backwards:
    """Collects them."""

    def __init__(
        self, identity: IdentityMap, nodes: NodeMap, gradients: Gradients, look: Callable[[Any], Observation]
    ) -> None:
        self._identity, self._nodes, self._gradients, self._look = identity, nodes, gradients, look
        self.done: list[Backward] = []
        self.released: set[int] = set()
        """Nodes that a backward has been through without ``retain_graph``."""
        self._running: list[_Running] = []

    def begin(self, call: Call, args: tuple[Any, ...]) -> None:
        """Notes a run that is about to begin."""
        roots = describe.tensors_in(args[:1], [])
        partial = call.facts.operation == "grad"
        asked = describe.tensors_in(args[1:2], []) if partial else None
        retain = args[3] if partial and len(args) > 3 else args[2] if len(args) > 2 else False
        numbers = tuple(seen.node for tensor in roots if (seen := self._look(tensor)).node is not None)
        backward = Backward(
            call=call.index,
            roots=tuple(number for number in numbers if number is not None),
            inputs=None if asked is None else tuple(self._look(tensor).record.serial for tensor in asked),
            retain_graph=bool(retain),
        )
        reached = self._nodes.reached(backward.roots)
        leaves = () if partial else self._leaves(reached)
        self._running.append(_Running(call, backward, reached, self._gradients.before(leaves)))

    def end(self, call: Call, error: BaseException | None) -> None:
        """Notes how a run ended."""
        while self._running:
            running = self._running.pop()
            if running.call is call:
                backward = running.backward
                if error is not None or not backward.retain_graph:
                    self.released |= running.reached
                if error is None and not backward.retain_graph:
                    self._nodes.let_go(running.reached)
                added = self._gradients.added_to(running.gradients, call.index)
                self.done.append(Backward(backward.call, backward.roots, backward.inputs, backward.retain_graph, added))
                return

    def _leaves(self, reached: set[int]) -> list[TensorRecord]:
        records = self._nodes.records
        wanted = {records[number - 1].variable for number in reached}
        known = self._identity.tensors.values()
        return [
            record
            for record in list(known)
            if record.serial in wanted and record.latest is not None and record.latest.requires_grad
        ]
