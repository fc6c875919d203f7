"""One call of Paddle's while it runs, and what is kept of it: numbers, and no tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from inplace_magic.capture.paddle.functions import OpFacts
from inplace_magic.capture.paddle.identity import Observation
from inplace_magic.record.events import Dropped, Kind, Region


class RawMutation(NamedTuple):
    """A write, with the tensor as it was afterwards."""

    after: Observation
    before: int | None
    old: bytes | None = None
    new: bytes | None = None
    region: Region | None = None
    dropped: Dropped | None = None


@dataclass(init=False, eq=False, repr=False, slots=True)
class Call:
    """One call; `tensors`, `targets` and `arguments` only while it runs."""

    arguments: tuple[Any, ...]
    before: list[Observation]
    dropped: Dropped | None
    error: str | None
    facts: OpFacts
    grad_enabled: bool
    index: int
    kind: Kind
    mutations: list[RawMutation]
    old: bytes | None
    """What the first input held, where the call announces to write it and it is small."""
    outputs: list[Observation]
    parent: int | None
    sequence: int
    site: int | None
    targets: Sequence[Any]
    """What it announces to write."""
    tensors: Sequence[Any]
    unmoved: Sequence[Any]
    """What it writes without moving a version."""
