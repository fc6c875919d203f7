"""Looks at a tensor before or after a call, and notes what changed unseen since the last look."""

from __future__ import annotations

import torch

from inplace_magic.capture import describe, describe_nodes
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import UNREAD, VERSION, Log, Observation, RawUnseenWrite, TensorRecord
from inplace_magic.capture.running import OpenCall


class Observer:
    """Makes observations.

    Args:
        log: where writes are noted that no call made.
        identity: the tensors met.
        nodes: the autograd nodes met.
    """

    def __init__(self, log: Log, identity: IdentityMap, nodes: NodeMap) -> None:
        self._log = log
        self._identity = identity
        self._nodes = nodes
        self.site: int | None = None
        """The place of the call that is being looked at, or of the last one; None at the beginning of a block."""

    def first_look(self, tensor: torch.Tensor) -> Observation:
        """A tensor that has no record yet, before the call that got it."""
        identity = self._identity
        return self.look(tensor, identity.enter(tensor, identity.storage_of(tensor)), None, direct=False)

    def look(self, tensor: torch.Tensor, record: TensorRecord, call: OpenCall | None, *, direct: bool) -> Observation:
        """The tensor as it is now.

        Args:
            tensor: the live tensor.
            record: its record.
            call: the call that just returned; None for an input, before the call.
            direct: the call made the tensor, or wrote it and handed it out, so that its ``grad_fn`` is up to date.
                Else the ``grad_fn`` of a view is left alone: after a write of its base, the very reading would make
                autograd bring the view's graph up to date, at another moment than in the unwatched run.
        """
        version = describe.version(tensor)
        counter = record.counter
        if version != counter.version:
            self._log.unseen.append(
                RawUnseenWrite(record, counter.version, version, self._log.begun, counter.seen_at, self.site)
            )
            counter.note_write(describe_nodes.sequence_number(), counter.version)
            counter.version = version
        counter.seen_at = self.site
        layout = record.layout
        if layout is None or record.layout_at != version or (call is not None and call.facts.metadata_only):
            layout = record.layout = describe.layout(tensor)
            record.pointer = describe.pointer(tensor)
            record.layout_at = version
        node = None
        requires_grad = describe.requires_grad(tensor)
        if not layout.is_view:
            grad_fn = describe.grad_fn(tensor) if requires_grad else None
            if grad_fn is not None:
                node = self._number(grad_fn, call)
        elif direct or ((latest := record.latest) is not None and latest[VERSION] == version):
            grad_fn = describe.grad_fn(tensor)
            if grad_fn is not None:
                node = self._number(grad_fn, call)
                requires_grad = describe.requires_grad(tensor)
        elif requires_grad:
            node = UNREAD
        seen = record.latest = (record, record.storage, version, layout, record.pointer, requires_grad, node)
        return seen

    def _number(self, grad_fn: object, call: OpenCall | None) -> int:
        if call is None:
            return self._nodes.number(grad_fn, None)
        return self._nodes.number(grad_fn, call.index, call.sequence)
