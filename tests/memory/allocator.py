"""The counters of CUDA's caching allocator, for tests where there is no GPU."""

from __future__ import annotations

from typing import Any

ROUNDED = 512
SEGMENT = 2 << 20


class Allocator:
    """Counts as PyTorch documents it (https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management): blocks
    are rounded up to 512 B and cut from segments, which stay reserved. No GPU was asked.

    Args:
        devices: how many there are.
    """

    def __init__(self, devices: int = 2) -> None:
        self._used = [dict.fromkeys(("current", "peak", "allocated", "freed"), 0) for _ in range(devices)]
        self._reserved = [dict(each) for each in self._used]
        self._asked = [0] * devices
        self.backend = "native"

    def allocate(self, nbytes: int, device: int = 0, *, for_tensor: bool = True) -> None:
        """Gives a block.

        Args:
            nbytes: as many as are asked for.
            device: on which GPU.
            for_tensor: of what the trace knows; else it would count as a workspace of a library.
        """
        size = -(-nbytes // ROUNDED) * ROUNDED
        self._asked[device] += nbytes if for_tensor else 0
        _grow(self._used[device], size)
        missing = self._used[device]["current"] - self._reserved[device]["current"]
        if missing > 0:
            _grow(self._reserved[device], -(-missing // SEGMENT) * SEGMENT)

    def free(self, nbytes: int, device: int = 0, *, for_tensor: bool = True) -> None:
        """Takes a block back."""
        size = -(-nbytes // ROUNDED) * ROUNDED
        self._asked[device] -= nbytes if for_tensor else 0
        self._used[device]["current"] -= size
        self._used[device]["freed"] += size

    def empty_cache(self, device: int = 0) -> None:
        """Gives back what no block is cut from."""
        spare = self._reserved[device]["current"] - self._used[device]["current"]
        spare -= spare % SEGMENT
        self._reserved[device]["current"] -= spare
        self._reserved[device]["freed"] += spare

    def reset_accumulated(self, device: int = 0) -> None:
        """``reset_accumulated_memory_stats``."""
        for counts in (self._used[device], self._reserved[device]):
            counts["allocated"] = counts["freed"] = 0

    def reset_peak(self, device: int = 0) -> None:
        """``reset_peak_memory_stats``."""
        for counts in (self._used[device], self._reserved[device]):
            counts["peak"] = counts["current"]

    def stats(self, device: int) -> dict[str, Any]:
        """``memory_stats_as_nested_dict``, as far as it is read."""
        used = self._used[device]
        return {
            "allocated_bytes": {"all": dict(used)},
            "active_bytes": {"all": dict(used)},
            "requested_bytes": {"all": {"current": self._asked[device]}},
            "reserved_bytes": {"all": dict(self._reserved[device])},
        }


def _grow(counts: dict[str, int], size: int) -> None:
    counts["current"] += size
    counts["allocated"] += size
    counts["peak"] = max(counts["peak"], counts["current"])
