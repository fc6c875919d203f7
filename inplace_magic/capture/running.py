"""A call while it runs: the only record that holds tensors."""

from __future__ import annotations

from dataclasses import dataclass
from threading import get_ident
from typing import Any

import torch

from inplace_magic.capture.graph.backward import Before
from inplace_magic.capture.records import Observation, TensorRecord
from inplace_magic.capture.torch.functions import FunctionFacts
from inplace_magic.record.events import Region


@dataclass(init=False, eq=False, repr=False, slots=True)
class OpenCall:
    """One call from its beginning to its end."""

    index: int
    facts: FunctionFacts
    tensors: list[torch.Tensor]
    before: list[Observation]
    """The tensors before the call."""
    site: int | None
    sequence: int
    nodes_before: int
    gradients: Before
    """Of a backward: the leaves' gradients when it began."""
    parent: int | None
    targets: list[torch.Tensor]
    """What the call announces to write."""
    uncounted: list[torch.Tensor]
    """What it is known to write without moving a version."""
    values: dict[int, Any]
    """Elements of small targets before the call, by ``id``."""
    region: Region | None
    """What ``x[index] = …`` writes."""
    keeps_layout: bool
    """Whether a write leaves shape, strides and memory as they are."""
    unseen: int
    """How many unseen writes had been noted when it began; only of a call that is not watched inside."""
    produced: list[torch.Tensor]
    ids: set[int] | None
    """Of what it produced, where that is a long list that was asked for a tensor before."""
    written: list[Written]


class OpenCalls:
    """The calls that have not returned.

    Each thread has its own: PyTorch runs backward of CUDA tensors on a thread for each device, and meanwhile that of
    CPU tensors on the thread that called backward, with the probes on all of them.
    """

    def __init__(self) -> None:
        self.begin_block()

    def begin_block(self) -> None:
        """The watched block runs on this thread, and nothing is open."""
        self._home = get_ident()
        self._at_home: list[OpenCall] = []
        self._elsewhere: dict[int, list[OpenCall]] = {}

    def here(self) -> list[OpenCall]:
        """Return those of this thread, outermost first. On a thread of the engine, the first is the backward it works
        for."""
        thread = get_ident()
        if thread == self._home:
            return self._at_home
        running = self._elsewhere.get(thread)
        if running is None or len(running) < 2:
            running = self._elsewhere[thread] = self._at_home[-1:]
        return running


Written = tuple[torch.Tensor, TensorRecord, int | None]
"""(tensor, record, version before)."""


FEW = 4
"""Up to so many tensors are gone through one by one, which costs less than a set of them. ``_foreach_`` operations give
as many as a network has parameters."""


def gives(call: OpenCall, tensor: torch.Tensor) -> bool:
    """True if this very tensor is one that the call produced."""
    if len(call.produced) > FEW:
        if call.ids is None:
            call.ids = set(map(id, call.produced))
        return id(tensor) in call.ids
    for other in call.produced:  # noqa: SIM110  not `in`, which asks for equality; and a generator costs more
        if tensor is other:
            return True
    return False
