"""Notes what code outside torch wrote to memory that it shares with tensors, between two calls."""

from __future__ import annotations

from inplace_magic.capture.log import Log, RawForeignWrite
from inplace_magic.capture.observer import Observer
from inplace_magic.capture.records import STORAGE
from inplace_magic.capture.running import OpenCall
from inplace_magic.capture.witness import SharedMemory


class ForeignWrites:
    """Looks at shared memory.

    Args:
        log: where writes are noted.
    """

    def __init__(self, log: Log, shared: SharedMemory, observer: Observer) -> None:
        self._log = log
        self._shared = shared
        self._observer = observer

    def exported(self, call: OpenCall) -> None:
        """Watch the memory of a call's inputs from now on."""
        for seen in call.before:
            storage = seen[STORAGE]
            if storage is not None:
                self._shared.add(storage)

    def look(self, site: int | None) -> None:
        """Note writes to the shared memory that is checked before each call.

        Args:
            site: the place of a call that begins, or None.
        """
        for storage in self._shared.changed():
            beside = self._log.beside.others()
            self._log.foreign.append(RawForeignWrite(storage, self._log.begun, self._observer.site, site, beside))

    def look_aside(self, call: OpenCall | None, site: int | None) -> None:
        """Note writes to shared memory that is checked seldom; their lines are unknown.

        Args:
            call: one that begins; None: the block ends.
        """
        used = None if call is None or call.facts.runs_backward else [seen[STORAGE] for seen in call.before]
        for storage in self._shared.changed_aside(used):
            beside = self._log.beside.others()
            self._log.foreign.append(RawForeignWrite(storage, self._log.begun, None, site, beside))
