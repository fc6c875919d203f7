"""Looks at tensors of Paddle: what each is now, as numbers; and what was written where nobody saw it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inplace_magic.capture.log import Log
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.functions import Call
from inplace_magic.capture.paddle.identity import IdentityMap, Observation, observation
from inplace_magic.capture.paddle.nodes import NodeMap
from inplace_magic.capture.paddle.traits import LEAF_SINK


class Looks:
    """Gives tensors as they are now."""

    def __init__(self, identity: IdentityMap, nodes: NodeMap, log: Log) -> None:
        self._identity, self._nodes, self._log = identity, nodes, log
        self._tensors = identity.tensors
        self.site: int | None = None
        """Number of the place that calls now."""
        self.gradient_at: Callable[[Any], Observation | None] = lambda tensor: None
        """What is known of a gradient for which a new object stands."""

    def look(self, tensor: Any) -> Observation:
        """Return a tensor before the call that got it; an unchanged version and address mean an unchanged tensor."""
        record = self._tensors.get(id(tensor))
        latest = None if record is None or record() is not tensor else record.latest
        if latest is not None:
            _, storage, version, _, first, requires_grad, _ = latest
            if requires_grad is not tensor.stop_gradient and tensor._inplace_version() == version:
                if storage is None:
                    if describe.pointer(tensor) == first:
                        return latest
                elif storage.version == version and tensor.data_ptr() == first:
                    storage.seen_at = self.site
                    return latest
        return self.observe(tensor, None)

    def look_in_step(self, tensor: Any) -> Observation:
        """As :meth:`look`, of what an optimizer hands to its operation: a gradient that is known by its leaf is the
        same each time, though Paddle makes another object for it at each read."""
        if id(tensor) not in self._tensors:
            seen = self.gradient_at(tensor)
            if seen is not None:
                return seen
        return self.look(tensor)

    def observe(self, tensor: Any, call: Call | None, *, made: bool = False) -> Observation:
        """Return the tensor as it is now.

        Args:
            call: the call that just returned; None for an input, before the call.
            made: the call gave the tensor, or wrote it, so that its node is the call's.
        """
        identity = self._identity
        try:
            first = tensor.data_ptr() or None
            version = tensor._inplace_version()
        except Exception:  # it is not known which of the two cannot be read
            first, version = describe.pointer(tensor), describe.version(tensor)
        record = identity.known(tensor)
        latest = None if record is None else record.latest
        if latest is not None and call is not None and call.facts.keeps_layout and latest.pointer == first:
            seen = latest.layout
            if seen.strides != tuple(tensor.strides):
                seen = describe.layout(tensor)
        else:
            seen = describe.layout(tensor)
        storage = identity.storage_of(tensor, first, seen, call.index if made and call is not None else None)
        if record is None:
            record = identity.enter(tensor, storage)
        elif record.storage is not storage:
            identity.move(record, storage)
            if storage is not None:
                storage.version = version
        if storage is not None:
            if storage.version is None:
                storage.version = version
            elif storage.version != version:
                if call is None:
                    self._log.note_unseen(storage, record.serial, version, self.site)
                storage.version = version
            storage.seen_at = self.site
        requires_grad = not tensor.stop_gradient
        node = None
        if requires_grad:
            grad_fn = tensor.grad_fn
            if grad_fn is not None:
                name = grad_fn.name()
                if name == LEAF_SINK:
                    self._nodes.leaf(grad_fn, record)
                else:
                    node = self._number(grad_fn, name, call if made else None)
        record.latest = observation((record, storage, version, seen, first, requires_grad, node))
        return record.latest

    def _number(self, grad_fn: Any, name: str, call: Call | None) -> int:
        nodes, address = self._nodes, grad_fn.node_ptr()
        if call is None:
            return nodes.number(grad_fn, name, address, None)
        alive = [seen.node for seen in call.before]
        known = nodes.at(address)
        if known is not None and known.serial in alive:
            return known.serial  # an input's node lives: the call handed it on, or wrote without being recorded
        return nodes.number(grad_fn, name, address, call.index, alive)
