"""Calls that only ask a plain tensor what it looks like, as ``x.dim()``.

They write and allocate nothing, give no tensor, run no operator, warn of nothing and cannot fail. So such a call is one
row, written as it begins; a recurrent cell makes four of them at each step. ``x.item()`` is one of them where it cannot
fail and nobody sees its operator: of one element on the CPU, without a dispatch mode. Where anything about a question
is new (the tensor, its version, the place), nothing is noted here, and it is recorded as any other call.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.records import LAYOUT, POINTER, VERSION
from inplace_magic.capture.torch import describe, describe_nodes
from inplace_magic.capture.torch.functions import FunctionFacts

_PLAIN_TYPES = describe.PLAIN_TYPES
_is_grad_enabled, _sequence_number = torch.is_grad_enabled, describe_nodes.sequence_number
_dispatch_modes = torch._C._len_torch_dispatch_stack


class Questions:
    """Notes them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._log, self._running = recorder.log, recorder.running
        self._tensors, self._shared = recorder.identity.tensors, recorder.identity.shared
        self._deaths, self._node_deaths = recorder.identity.deaths, recorder.nodes.deaths
        self._held = recorder.holdings.held

    def noted(self, facts: FunctionFacts, tensor: Any, frame: FrameType | None) -> bool:
        """True if the call is noted now; if not, nothing was done."""
        if type(tensor) not in _PLAIN_TYPES or self._deaths or self._node_deaths:
            return False
        record = self._tensors.get(id(tensor))
        latest = None if record is None else record.latest
        if record is None or latest is None or latest[VERSION] is None or latest[LAYOUT].strides is None:
            return False  # the last two can be had of tensors alone whose questions cannot fail
        if facts.asks_value:
            layout = latest[LAYOUT]
            if layout.numel != 1 or layout.letter is None or tensor.data_ptr() != latest[POINTER] or _dispatch_modes():
                return False  # of several elements, on another device, without memory, or with an operator to be seen
        recorder, log, shared = self._recorder, self._log, self._shared
        if latest[VERSION] != tensor._version or record.serial in self._held or shared.digests or shared.aside:
            return False
        if len(log.calls) >= recorder.look_at or recorder.repeats.more:
            return False
        site = recorder.sites.note(frame)
        if site is None or site >= recorder.places_met:
            return False
        record.counter.seen_at = site
        recorder.observer.site = site
        running = self._running.here()
        parent = running[-1].index if running else None
        number = log.begun
        log.begun += 1  # first: an interrupt on the way leaves a number without a call, as elsewhere
        log.calls.append(
            (number, facts, "query", site, None, parent, _is_grad_enabled(), _sequence_number(), 1, 0, latest)
        )
        return True
