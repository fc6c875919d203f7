"""How many autograd nodes may be looked at, so that the graph can still be freed.

From torch 2.13 on, a node that was given a Python object (by reading ``grad_fn`` or ``next_functions``) keeps it until
it dies, and such a node is freed by recursion: 190 to 340 bytes of C stack for each one on a path of the graph, where
nodes without an object are freed in a loop. Of a chain of 150,000 nodes, which torch frees without any trouble, 44,000
that were looked at exhaust a stack of 8 MiB: the process dies.

So no path may hold more than :func:`levels` of them. A node that lies *shallow*, with everything behind it looked at
and less than half of the levels on any path from it, counts for nothing: a model of 100,000 small graphs is seen
whole. The others share the other half, all those that are alive in the process together.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from functools import cache

from inplace_magic.capture.torch import describe_nodes

BYTES_A_LEVEL = 512
"""Of C stack; with half as much again as was measured, for what else is on it."""
_MOST_LEVELS = 20_000
_UNKNOWN_STACK = 1 << 20
"""Windows: what a main program gets unless it was built otherwise."""
_MACS_THREAD = 1 << 19


def levels() -> int:
    """How many nodes that were looked at may lie on one path, for the smallest stack on which the graph may die."""
    return max(64, min(_MOST_LEVELS, _stack_bytes() // BYTES_A_LEVEL))


def most_nodes() -> int:
    """How many more nodes may be looked at at once, so that their graph can still be freed."""
    return max(64, levels() - DEEP.alive)


def _stack_bytes() -> int:
    """Of the main thread, of threads that Python begins, and of those that the autograd engine has for a device: any of
    them may drop the last reference."""
    if sys.platform == "win32":
        return threading.stack_size() or _UNKNOWN_STACK
    import resource

    sizes = [_new_threads_stack(), threading.stack_size(), resource.getrlimit(resource.RLIMIT_STACK)[0]]
    return min([size for size in sizes if size > 0])  # 0 and -1: not asked for, no limit


@cache
def _new_threads_stack() -> int:
    """What a thread gets that asks for nothing: the limit as it was when the process began, or 2 MiB where there was
    none (glibc)."""
    attributes, size = (ctypes.c_char * 128)(), ctypes.c_size_t()
    try:
        threads = ctypes.CDLL(None)
        threads.pthread_getattr_default_np(attributes)
        threads.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    except (AttributeError, OSError):
        return _MACS_THREAD
    return size.value or _MACS_THREAD


class DeepNodes:
    """The nodes of this process that were looked at and do not lie shallow.

    One count for all watches, those that are over too: the objects stay with the nodes. It is kept without a lock;
    two watches at the same moment may miscount by a few, of thousands.
    """

    def __init__(self) -> None:
        self.alive = 0

    def died(self) -> None:
        """One is gone."""
        if self.alive:
            self.alive -= 1

    def recount(self) -> None:
        """Nobody tells of deaths after a watch; as another one begins, the objects that are left are counted."""
        if self.alive:
            known: dict[type, bool] = {}
            is_node: Callable[[type], bool] = describe_nodes.is_node_class
            left = 0
            for found in gc.get_objects():
                kind = type(found)
                left += known[kind] if kind in known else known.setdefault(kind, is_node(kind))
            self.alive = min(self.alive, left)


DEEP = DeepNodes()
