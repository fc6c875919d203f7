"""Replays of a CUDA graph, which calls none of the operators that it runs again."""

from __future__ import annotations

import functools
import sys
from typing import Any

from inplace_magic.capture.stepping_aside.aside import REPLAYED, here


def counted(original: Any) -> Any:
    """For the part in C++ of ``CUDAGraph.replay``, to which a method that somebody keeps comes too. It does the same,
    and the watch of this thread counts it; what the graph wrote cannot be asked without waiting for the device."""
    if original is None:
        return None

    @functools.wraps(original)
    def replay(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        watch = here()
        if watch is not None and not watch.away:
            watch.count(REPLAYED, sys._getframe(1))
        return original(*args, **kwargs)

    return replay
