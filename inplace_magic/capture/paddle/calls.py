"""One call of Paddle's while it runs, and what is kept of it: numbers, and no tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inplace_magic.capture.paddle.functions import OpFacts
from inplace_magic.capture.paddle.identity import Observation, TensorRecord
from inplace_magic.record.autograd import Backward


@dataclass(init=False, eq=False, repr=False, slots=True)
class Call:
    """One call; `tensors`, `targets` and `arguments` only while it runs."""

    arguments: tuple[Any, ...]
    backward: Backward
    """Of a run of the engine: what it was asked for."""
    before: list[Observation]
    facts: OpFacts
    gradients: dict[TensorRecord, int | None]
    """Of a run of the engine: by leaf, the address of its gradient when it began; None where it had none."""
    grad_enabled: bool
    index: int
    mutations: list[Any]
    """Of each write the entries of :data:`.capture.log.EACH`."""
    old: bytes | None
    """What the first input held, where the call announces to write it and it is small."""
    outputs: list[Observation]
    parent: int | None
    reached: set[int]
    """Of a run of the engine: numbers of the nodes to which it comes."""
    sequence: int
    site: int | None
    targets: Sequence[Any]
    """What it announces to write."""
    tensors: Sequence[Any]
    unmoved: Sequence[Any]
    """What it writes without moving a version."""
