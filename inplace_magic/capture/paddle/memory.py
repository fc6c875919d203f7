"""What Paddle's allocators say of themselves: on the CPU, and on the device that the program computes on.

``host_memory_stat_current_value`` and ``device_memory_stat_current_value`` (``paddle.base.core``) count what tensors
and workspaces occupy, without a wait for the device. Neither counts what was allocated and freed in all, so of a call
that does both only the difference and the peak are known. Where they vanish, memory is summed up from tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import paddle

from inplace_magic.record.memory import MemoryReading

_core: Any = paddle.base.core
Ask = Callable[[str, int], int]


class Memory:
    """The readings of one watch."""

    def __init__(self) -> None:
        self._sources = tuple(_sources())
        self._ask = _asking([(ask, what, number) for _, ask, what, number in self._sources])
        self._read: list[tuple[int | None, tuple[int, ...]]] = []

    def read(self, call: int | None) -> None:
        """Notes what is occupied as a call begins or goes on.

        Args:
            call: the call that runs on from here; None: none.
        """
        self._read.append((call, self._ask()))

    def forget(self, before: int) -> None:
        """Drops the readings of calls that are forgotten."""
        self._read = [entry for entry in self._read if entry[0] is not None and entry[0] >= before]

    def frozen(self) -> tuple[MemoryReading, ...]:
        """Return the readings, oldest first."""
        return tuple(
            MemoryReading(call, self._sources[at][0], *numbers[at : at + 3])
            for call, numbers in self._read
            for at in range(0, len(numbers), 3)
        )


def _asking(sources: list[tuple[Ask, str, int]]) -> Callable[[], tuple[int, ...]]:
    """Return all readings in one call; of a computer without a device, which has three, without a loop."""
    if len(sources) != 3:
        return lambda: tuple([ask(what, number) for ask, what, number in sources])
    (used, in_use, at), (held, reserved, _), (most, _, _) = sources
    return lambda: (used(in_use, at), held(reserved, at), most(in_use, at))


def _sources() -> list[tuple[str, Ask, str, int]]:
    """Three for each device, in this order: in use, held, the most in use."""
    found: list[tuple[str, Ask, str, int]] = []
    gpus = paddle.device.cuda.device_count() if paddle.is_compiled_with_cuda() else 0
    for kind, count in (("host", 1), ("device", gpus)):
        current: Any = getattr(_core, f"{kind}_memory_stat_current_value", None)
        peak: Any = getattr(_core, f"{kind}_memory_stat_peak_value", None)
        for number in range(count if current is not None and peak is not None else 0):
            device = "cpu" if kind == "host" else f"gpu:{number}"
            found += (
                (device, current, "Allocated", number),
                (device, current, "Reserved", number),
                (device, peak, "Allocated", number),
            )
    return found
