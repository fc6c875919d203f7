"""What is alive in this process that a watch could have left behind: tensors, autograd nodes, records, modes, bytes."""

from __future__ import annotations

import ctypes
import gc
import sys
import tracemalloc
import weakref
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch
from conftest import hooks_left


class Mark:
    """In an autograd node's ``metadata`` it lives as long as the node, which itself refuses weak references."""


@dataclass(frozen=True)
class Alive:
    """One count of everything."""

    tensors: int
    storages: int
    """Bytes of CPU memory behind all live tensors."""
    nodes: int
    """Autograd nodes that a cell marked."""
    ours: Counter[str]
    """Objects of classes of this package, by class."""
    modes: tuple[str, ...]


class Nodes:
    """Marks autograd nodes and counts those that are alive."""

    def __init__(self) -> None:
        self._marks: list[weakref.ref[Mark]] = []

    def mark(self, tensor: torch.Tensor) -> None:
        """Marks every node behind a tensor."""
        todo = [tensor.grad_fn]
        while todo:
            node: Any = todo.pop()
            if node is not None and "mark" not in node.metadata:
                node.metadata["mark"] = mark = Mark()
                self._marks.append(weakref.ref(mark))
                todo += [behind for behind, _ in node.next_functions]

    def marked(self) -> int:
        """How many were ever marked."""
        return len(self._marks)

    def alive(self) -> int:
        """How many of them live."""
        return sum(mark() is not None for mark in self._marks)


def _memory(tensor: torch.Tensor) -> tuple[int, int]:
    """Address and bytes of its storage; (0, 0) where it has none, such as a fake tensor that another test left."""
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError):
        return 0, 0


def count(nodes: Nodes) -> Alive:
    """Counts, after a collection of garbage."""
    gc.collect()
    ours: Counter[str] = Counter()
    tensors: list[torch.Tensor] = []
    for thing in gc.get_objects():
        kind = type(thing)
        if issubclass(kind, torch.Tensor):
            tensors.append(thing)
        elif str(kind.__module__).startswith("inplace_magic"):
            ours[kind.__qualname__] += 1
    memory = dict(map(_memory, tensors))
    counted = len(tensors), sum(memory.values())
    del tensors, thing
    return Alive(*counted, nodes.alive(), ours, tuple(hook.split(" of ")[0] for hook in hooks_left()))


_FIELDS = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class _InUse(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS]


_told_by_malloc: Any = getattr(ctypes.CDLL(None), "mallinfo2", None) if sys.platform == "linux" else None
if _told_by_malloc is not None:
    _told_by_malloc.restype = _InUse
EACH_BY_MALLOC = {"PYTHONMALLOC": "malloc"}
"""In the environment of a process whose bytes are counted: each object of Python's has a block of malloc's then."""


def bytes_in_use() -> int:
    """What programs have of memory now, and not the process's pages: how soon the system gets those back differs from
    machine to machine. The allocator of glibc counts it all the time. Elsewhere Python traces what it allocates from
    the first look on, and takes four times as long for all it does."""
    if _told_by_malloc is not None:
        told = _told_by_malloc()
        return int(told.uordblks + told.hblkhd)
    if not tracemalloc.is_tracing():
        tracemalloc.start()
    return tracemalloc.get_traced_memory()[0]
