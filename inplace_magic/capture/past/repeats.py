"""A call that comes again and again, with nothing in between, is one row: a loop of nothing but ``x.add_(1)``.

The first calls in a row are recorded in full. Of the next ones it is known beforehand what a full record would say:
one function, at one place, on one tensor that autograd does not follow, with plain numbers besides, and nobody has
looked at the tensor meanwhile. So it is only noted that they ran, and to which version they brought the tensor; the row
of the call before them then says that it stands for so many, and is billed for their memory on an accelerator. Whatever
is new ends that: another call, another place, an argument that is no number, a version that no such call wrote, a
tensor that was moved, another grad mode, a death.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import COUNTS, HEAD, Log
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.observer import Observer
from inplace_magic.capture.records import LAYOUT, POINTER, RECORD, VERSION, TensorRecord
from inplace_magic.capture.running import OpenCall, OpenCalls, gives
from inplace_magic.capture.torch import describe, describe_memory, describe_nodes
from inplace_magic.capture.torch.functions import FunctionFacts
from inplace_magic.record.options import WatchOptions

FULL = 64
"""Calls in a row that are recorded in full. No file asks anything of more than the first 64 writes of a place."""
_PLAIN_TYPES = describe.PLAIN_TYPES
_NUMBERS = frozenset((int, float, bool))
_is_grad_enabled, _sequence_number = torch.is_grad_enabled, describe_nodes.sequence_number
_AFTER, _OLD, _NEW = 0, 2, 3
"""Where the entries of a mutation have the tensor afterwards, and its values before and afterwards."""


class Repeats:
    """Knows the calls that ran in a row.

    Args:
        log: the calls.
        identity: the tensors met.
        nodes: the autograd nodes met.
        sites: the places.
        running: the calls that have not returned.
        observer: knows the place of the last call.
        options: those of the watch.
    """

    def __init__(
        self,
        log: Log,
        identity: IdentityMap,
        nodes: NodeMap,
        sites: CallsiteTable,
        running: OpenCalls,
        observer: Observer,
        options: WatchOptions,
    ) -> None:
        self._log, self._sites, self._running = log, sites, running
        self._observer = observer
        self._tensors, self._shared = identity.tensors, identity.shared
        self._deaths, self._node_deaths = identity.deaths, nodes.deaths
        self._limit = options.max_values
        self._least: float = float("inf") if options.full else FULL
        self._facts: FunctionFacts | None = None
        self._record: TensorRecord | None = None
        self._site: int | None = None
        self._begun = -1
        """How many calls had begun when the last one in a row had ended."""
        self._in_a_row = 0
        self._grad = False
        self._sequence = 0
        self.inside = False
        """Whether such a call is running: what operators it runs is known from the one before."""
        self.more = 0
        """How many calls the last row stands for, besides its own; :meth:`settle` writes it down."""

    def note(self, call: OpenCall) -> None:
        """A call that wrote has ended and is the last of the log."""
        facts, site = call.facts, call.site
        record, before, latest = call.before[0][RECORD], call.before[0], call.before[0][RECORD].latest
        if self._facts is facts and self._record is record and self._site == site and self._begun == call.index:
            self._in_a_row += 1
        else:
            self._facts = None
            layout, storage = before[LAYOUT], record.storage
            plain = site is not None and call.parent is None and len(call.before) == len(call.produced) == 1
            alone = storage is not None and storage.counter is record.counter and record.counter.neighbour is None
            known = latest is not None and layout.strides is not None and layout.dtype is not torch.uint8
            if not plain or not alone or not known or not before[POINTER] or not gives(call, call.tensors[0]):
                return
            self._facts, self._record, self._site, self._in_a_row = facts, record, site, 1
        self._begun = self._log.begun
        self._grad, self._sequence = _is_grad_enabled(), call.sequence

    def again(self, facts: FunctionFacts, args: tuple[Any, ...], frame: FrameType | None) -> bool:
        """True if a call that is about to run is one more of them.

        Args:
            facts: the function's.
            args: the call's; it has no others.
            frame: the one that called it.
        """
        if facts is not self._facts or self._in_a_row < self._least or self._log.begun != self._begun:
            return False
        tensor, record = args[0], self._record
        if type(tensor) not in _PLAIN_TYPES or self._tensors.get(id(tensor)) is not record or record is None:
            return False
        latest = record.latest
        if latest is None or latest[VERSION] != tensor._version or tensor.data_ptr() != latest[POINTER]:
            return False
        if self._deaths or self._node_deaths or self._shared.digests or self._shared.aside:
            return False
        for value in args[1:]:
            if type(value) not in _NUMBERS:
                return False
        if tensor.requires_grad or _is_grad_enabled() is not self._grad or self._running.here() or self._sites.hooks:
            return False
        self.inside = self._sites.note(frame) == self._site
        return self.inside

    def passed(self) -> None:
        """Such a call ran."""
        self.inside = False
        record = self._record
        tensor = None if record is None else record()
        if record is None or tensor is None or record.latest is None:
            return
        _record, storage, before, layout, pointer, requires_grad, node = record.latest
        version = tensor._version
        sequence = _sequence_number()
        if sequence != self._sequence:
            self._sequence = sequence
            record.counter.note_write(sequence, before)
        record.counter.version = record.layout_at = version
        record.latest = record, storage, version, layout, pointer, requires_grad, node
        self._observer.site = self._site
        self.more += 1

    def failed(self, tensor: Any) -> bool:
        """True if such a call raised and had done nothing; one that an interrupt follows had written, and is noted."""
        self.inside, record = False, self._record
        if record is None or record.latest is None or tensor._version == record.latest[VERSION]:
            return True
        self.passed()
        return False

    def settle(self) -> None:
        """Writes down in the last row for how many calls it stands, before something else is looked at."""
        more, self.more, record = self.more, 0, self._record
        if not more or record is None or record.latest is None:
            return
        latest, calls = record.latest, self._log.calls
        row = [*calls[-1]]
        outputs = HEAD + row[COUNTS]
        mutation = outputs + row[COUNTS + 1]
        row[outputs:mutation] = [latest] * (mutation - outputs)
        row[mutation + _AFTER] = latest
        if row[mutation + _NEW] is not None:
            tensor = record()
            if tensor is None or tensor._version != latest[VERSION]:
                row[mutation + _OLD] = row[mutation + _NEW] = None
            else:
                row[mutation + _NEW] = describe_memory.values(tensor, latest[LAYOUT], self._limit)
        calls[-1] = tuple(row)
        self._log.repeats[row[0]] = self._log.repeats.get(row[0], 0) + more
        self._log.light += more

    def end(self) -> None:
        """The block is over: the next call is the first of another."""
        self.settle()
        self._facts = self._record = None
