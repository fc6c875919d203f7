"""What a call announces to write, looked at before it does."""

from __future__ import annotations

from typing import Any

from inplace_magic.capture.identity import IdentityMap
from inplace_magic.capture.log import Log
from inplace_magic.capture.observer import Observer
from inplace_magic.capture.records import LAYOUT, POINTER
from inplace_magic.capture.running import OpenCall, written_region
from inplace_magic.capture.torch import describe, describe_memory
from inplace_magic.capture.torch.arguments import Keywords, tensors_in
from inplace_magic.record.blindness import MAY_HAVE_SKIPPED

_PLAIN_TYPES = describe.PLAIN_TYPES


class Targets:
    """Looks at the tensors that a call is about to write.

    Args:
        log: where values are noted that a write drops.
    """

    def __init__(self, identity: IdentityMap, observer: Observer, log: Log, limit: int) -> None:
        self._identity = identity
        self._observer = observer
        self._log = log
        self._limit = limit

    def look(self, call: OpenCall, args: tuple[Any, ...], kwargs: Keywords) -> None:
        """Notes what a call with these arguments says that it will write, with the values of small ones."""
        facts = call.facts
        if kwargs and "out" in kwargs:
            call.keeps_layout = False
        if facts.uncounted is not None:
            call.uncounted, certain = facts.uncounted(args, kwargs)
            if not certain:
                self._log.uncertain.add(call.index)
                self._log.not_seen[MAY_HAVE_SKIPPED, facts.name, call.site] = None
        announced = facts.announced_writes(args, kwargs)
        if not announced:
            return
        call.targets = tensors_in(announced, [])
        limit = self._limit
        for tensor in call.targets:
            latest = self._identity.register(tensor).latest
            if latest is None:
                continue
            if type(tensor) in _PLAIN_TYPES and (
                describe_memory.pointer(tensor) != latest[POINTER] or tensor.dtype is not latest[LAYOUT].dtype
            ):
                latest = self._observer.look_anew(tensor, call)
            values = describe_memory.values(tensor, latest[LAYOUT], limit)
            if values is not None:
                if not call.values:
                    call.values = {}
                call.values[id(tensor)] = values
        if facts.sets_item and call.before:
            call.region = written_region(call.before[0], args)
        if facts.dropped is not None:
            dropped = facts.dropped(args, kwargs)
            if dropped is not None:
                self._log.dropped[call.index] = dropped
