"""The gradients of leaves, which backward writes and ``clear_grad`` zeroes in place, without a version that moves.

``w.grad`` gives another tensor object at each read, so the memory of a gradient is known by the leaf that has it, for
as long as the leaf lives and its gradient lies there. Whoever kept ``w.grad`` in a variable has that very memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from inplace_magic.capture.log import Log
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.functions import Call
from inplace_magic.capture.paddle.identity import IdentityMap, Observation, StorageRecord, TensorRecord
from inplace_magic.capture.paddle.nodes import NodeMap
from inplace_magic.record.autograd import AddedTo, Backward


class Gradients:
    """The gradients that are known, and the runs of the engine, which write them."""

    def __init__(self, identity: IdentityMap, nodes: NodeMap, log: Log, look: Callable[[Any], Observation]) -> None:
        self._identity, self._nodes, self._log, self._look = identity, nodes, log, look
        self._of: dict[TensorRecord, Observation] = {}
        self._leaf_at: dict[int | None, TensorRecord] = {}
        """By the address of the gradient."""
        self.released: set[int] = set()
        """Nodes that a backward has been through without ``retain_graph``."""

    def begin(self, call: Call, args: tuple[Any, ...]) -> None:
        """Notes a run that is about to begin."""
        roots = [self._look(tensor).node for tensor in describe.tensors_in(args[:1], [])]
        partial = call.facts.operation == "grad"
        asked = describe.tensors_in(args[1:2], []) if partial else None
        retain = args[3] if partial and len(args) > 3 else args[2] if len(args) > 2 else False
        call.backward = Backward(
            call=call.index,
            roots=tuple([number for number in roots if number is not None]),
            inputs=None if asked is None else tuple([self._look(tensor).record.serial for tensor in asked]),
            retain_graph=bool(retain),
        )
        call.reached = self._nodes.reached(call.backward.roots)
        call.gradients = {}
        for leaf in [] if partial else self._leaves(call.reached):
            tensor = leaf()
            gradient = None if tensor is None else describe.gradient(tensor)
            call.gradients[leaf] = None if gradient is None else describe.pointer(gradient)

    def end(self, call: Call, error: BaseException | None) -> None:
        """Notes how it ended, and to which gradients it added; of those that it made, the memory is known from now
        on."""
        if error is not None or not call.backward.retain_graph:
            self.released |= call.reached
        if error is None and not call.backward.retain_graph:
            self._nodes.let_go(call.reached)
        added = []
        for leaf, address in call.gradients.items():
            now = self._storage_of(leaf, None if address else call.index)
            if now is not None and address and self._of[leaf].pointer == address:
                added.append(AddedTo(leaf.serial, now.serial))
        self._log.backwards.append(replace(call.backward, added_to=tuple(added)))

    def _leaves(self, reached: set[int]) -> list[TensorRecord]:
        records = self._nodes.records
        wanted = {records[number - 1].variable for number in reached}
        return [
            record
            for record in list(self._identity.tensors.values())
            if record.serial in wanted and record.latest is not None and record.latest.requires_grad
        ]

    def cleared(self, leaf: Any, *, zeroed: bool) -> Observation | None:
        """Notes that the gradient of a leaf was cleared; gives what was written, where it was filled with zeros and is
        known.

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
        return seen

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
