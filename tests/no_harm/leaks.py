"""What is alive in this process that a watch could have left behind: tensors, autograd nodes, records, modes."""

from __future__ import annotations

import gc
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
    python_bytes: int


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
    """Counts, after a collection of garbage. ``tracemalloc`` must be running."""
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
    return Alive(
        *counted,
        nodes.alive(),
        ours,
        tuple(hook.split(" of ")[0] for hook in hooks_left()),
        tracemalloc.get_traced_memory()[0],
    )
