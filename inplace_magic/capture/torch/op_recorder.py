"""What one aten operator read, wrote and gave; at level ``ops``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inplace_magic.capture.log import ACCESSES
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch import describe
from inplace_magic.capture.torch.arguments import WITHOUT_TENSORS, Keywords, tensors_in
from inplace_magic.capture.torch.ops import OpFacts, VersionBefore, restore_versions
from inplace_magic.record import blindness

_PLAIN_TYPES = describe.PLAIN_TYPES


class OpRecorder:
    """Bills operators to the calls that a recorder has open."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._running = recorder.running
        self._log = recorder.log
        self._identity = recorder.identity
        self._meter = recorder.meter
        self._repeats = recorder.repeats
        self._deaths, self._node_deaths = recorder.identity.deaths, recorder.nodes.deaths

    def begins(self) -> None:
        """What an accelerator's memory is from here on is billed to the operator that is about to run."""
        running = self._running.here()
        if running or not self._repeats.inside:
            self._meter.read(running[-1].index if running else None, self._log.op_count)

    def not_seen(self, func: Any) -> None:
        """Notes a higher-order operator under the innermost open call."""
        running = self._running.here()
        site = running[-1].site if running else None
        self._log.not_seen[blindness.HIGHER_ORDER, f"torch.ops.higher_order.{func.name()}", site] = None

    def ended(
        self,
        facts: OpFacts | None,
        args: tuple[Any, ...],
        kwargs: Keywords,
        result: Any,
        counted: Sequence[VersionBefore],
    ) -> None:
        """Notes an aten operator that ran under the innermost open call."""
        if self._deaths or self._node_deaths:
            self._recorder.bury()
        if counted:
            restore_versions(counted)
        if facts is None:
            return
        open_calls = self._running.here()
        if self._repeats.inside and not open_calls:
            return
        running = open_calls[-1] if open_calls else None
        call = running.index if running is not None else None
        in_backward = running is not None and running.facts.runs_backward
        # What backward's operators read may be older than the watch; a forward operator's unknown input was made by
        # the call itself, below the dispatcher (`torch.tensor` does).
        given = None if in_backward else call
        identity = self._identity
        known = identity.tensors
        serial = identity.serial_inside
        written = facts.written_positions
        row: list[Any] = [facts.name, call, in_backward, 0]
        for position, value in enumerate(args):
            kind = type(value)
            if kind in _PLAIN_TYPES:
                record = known.get(id(value))
                number = serial(value, given) if record is None else record.serial
                row.append(~number if position in written else number)
            elif kind not in WITHOUT_TENSORS:
                for tensor in tensors_in((value,), []):
                    row.append(~serial(tensor, given) if position in written else serial(tensor, given))
        for name, value in kwargs.items() if kwargs else ():
            for tensor in tensors_in((value,), []):
                row.append(~serial(tensor, given) if name in facts.written_names else serial(tensor, given))
        row[ACCESSES] = len(row)
        number = identity.op = self._log.op_count
        try:
            if type(result) in _PLAIN_TYPES:
                record = known.get(id(result))
                row.append(serial(result, call) if record is None else record.serial)
            elif result is not None:
                row += [serial(tensor, call) for tensor in tensors_in((result,), [])]
        finally:
            identity.op = None
        if facts.may_resize:
            for tensor in tensors_in((args, kwargs.values()), []):
                identity.look_at_size(tensor, call, number)
        self._log.ops.append(tuple(row))
        identity.ops = number + 1
