"""Looks at tensors before or after a call, and notes what changed unseen since the last look."""

from __future__ import annotations

import torch

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import Log
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.records import (
    RECORD,
    STORAGE,
    SWAPPED,
    UNREAD,
    VERSION,
    Observation,
    StorageRecord,
    TensorRecord,
)
from inplace_magic.capture.running import OpenCall
from inplace_magic.capture.torch import describe, describe_memory, describe_nodes
from inplace_magic.record.events import ForeignWrite

_PLAIN_TYPES = describe.PLAIN_TYPES


class Observer:
    """Makes observations.

    Args:
        log: where writes are noted that no call made.
    """

    def __init__(self, log: Log, identity: IdentityMap, nodes: NodeMap) -> None:
        self._log = log
        self._identity = identity
        self._nodes = nodes
        self.site: int | None = None
        """The place of the call that is being looked at, or of the last one; None at the beginning of a block."""

    def look(self, tensor: torch.Tensor, record: TensorRecord, call: OpenCall | None, *, direct: bool) -> Observation:
        """Return the tensor as it is now.

        Args:
            call: the call that just returned; None for an input, before the call.
            direct: the call made the tensor, or wrote it and handed it out, so that its ``grad_fn`` is up to date.
                Else the ``grad_fn`` of a view is left alone: after a write of its base, the very reading would make
                autograd bring the view's graph up to date, at another moment than in the unwatched run.
        """
        plain = type(tensor) in _PLAIN_TYPES
        try:  # as `describe.version`, whose call costs more than its answer
            version = tensor._version if plain else describe.version(tensor)
        except RuntimeError:
            version = None
        if record.layout_at == SWAPPED:
            self._identity.after_swap(tensor, record)
        counter = record.counter
        if version != counter.version:
            self._log.note_unseen(counter, record.serial, version, self.site)
            counter.note_write(describe_nodes.sequence_number(), counter.version)
            counter.version = version
        counter.seen_at = self.site
        layout = record.layout
        if layout is None or record.layout_at != version or (call is not None and call.facts.metadata_only):
            pointer = describe_memory.pointer(tensor)
            if pointer != record.pointer is not None:  # ``set_`` gave it another memory, and no call tells
                self._identity.rebase(tensor, record, None)
            layout = record.layout = describe.layout(tensor)
            record.pointer = pointer
            record.layout_at = version
        node = None
        requires_grad = tensor.requires_grad if plain else describe.requires_grad(tensor)
        if self._nodes.full:
            if requires_grad and (layout.is_view or not describe.is_leaf(tensor)):
                node = self._nodes.leave_alone(self.site)
        elif not layout.is_view:
            if requires_grad:
                grad_fn = tensor.grad_fn if plain else describe.grad_fn(tensor)
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

    def look_anew(self, tensor: torch.Tensor, call: OpenCall) -> Observation:
        """Replaces what was seen of an argument of a call that begins, after the argument was moved unseen: on another
        thread ``t.data = …`` gives it other memory, and no version tells."""
        record = self._identity.register(tensor)
        record.layout_at = None
        seen = self.look(tensor, record, None, direct=False)
        call.before = [seen if before[RECORD] is record else before for before in call.before]
        return seen

    def look_at_moved(self) -> None:
        """Looks at every tensor written since its last look, so that nothing that runs next is taken for the writer."""
        for tensor, record in self._identity.live():
            if describe.version(tensor) != record.counter.version:
                self.look(tensor, record, None, direct=False)

    def moved(self, known: list[Observation]) -> list[tuple[torch.Tensor, Observation]]:
        """Return the tensors whose version is another than when last seen, one for each counter, with what they
        were."""
        counters = {seen[RECORD].counter for seen in known}
        found = []
        for tensor, record in self._identity.live():
            counter = record.counter
            if counter in counters or describe.version(tensor) == counter.version:
                continue
            counters.add(counter)
            latest = record.latest
            if latest is None or latest[VERSION] != counter.version:
                layout = record.layout or describe.layout(tensor)
                requires_grad = describe.requires_grad(tensor)
                node = UNREAD if requires_grad else None
                latest = (record, record.storage, counter.version, layout, record.pointer, requires_grad, node)
            found.append((tensor, latest))
        return found

    def look_at_shared(self, site: int | None) -> None:
        """Notes what code outside torch wrote to memory that is checked before each call.

        Args:
            site: the place of a call that begins, or None.
        """
        self._note_foreign(self._identity.shared.changed(), self.site, site)

    def look_aside(self, call: OpenCall | None, site: int | None) -> None:
        """Notes the same of memory that is checked seldom; the lines of such writes are unknown.

        Args:
            call: one that begins; None: the block ends.
        """
        used = None if call is None or call.facts.runs_backward else [seen[STORAGE] for seen in call.before]
        self._note_foreign(self._identity.shared.changed_aside(used), None, site)

    def _note_foreign(self, storages: list[StorageRecord], after_site: int | None, site: int | None) -> None:
        for storage in storages:
            write = ForeignWrite(storage.serial, self._log.begun, beside=self._log.beside.others())
            self._log.foreign.append((write, after_site, site))

    def _number(self, grad_fn: object, call: OpenCall | None) -> int:
        nodes = self._nodes
        made = nodes.number(grad_fn, None) if call is None else nodes.number(grad_fn, call.index, call.sequence)
        if nodes.cut:
            nodes.cut = False
            nodes.leave_alone(self.site)
        return made
