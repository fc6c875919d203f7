"""What one event costs, by kind: time while it is recorded, and bytes that stay."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import torch

import inplace_magic

EVENTS = 1_000
KEPT_OF = 8 * EVENTS
"""Events of the loop of which the bytes are counted: the latest few hundred are not packed yet."""
ROUNDS = 7


@dataclass(frozen=True)
class EventCost:
    """Of one kind of event."""

    kind: str
    plain_us: float
    """Microseconds without a watch."""
    added_us: dict[str, float]
    """Microseconds more, by level: medians of interleaved rounds."""
    kept_bytes: dict[str, float]
    """Bytes that the watch holds for each event until the report is made, by level."""


def _programs() -> dict[str, Callable[[], object]]:
    x, leaf = torch.randn(4), torch.randn(4, requires_grad=True)
    shaped = torch.randn(4)

    def backward() -> None:
        (leaf * leaf).sum().backward()

    return {
        "ordinary: x + 1": lambda: x + 1,
        "view: x[1:]": lambda: x[1:],
        "in-place: x.mul_(0.5)": lambda: x.mul_(0.5),
        "metadata: x.t_()": lambda: shaped.t_(),
        "query: x.dim()": lambda: x.dim(),
        "with autograd: leaf * 2": lambda: leaf * 2,
        "two calls and their backward": backward,
    }


def _seconds(program: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(EVENTS):
        program()
    return (time.perf_counter() - start) / EVENTS


def _watched(program: Callable[[], object], level: str) -> float:
    watch = inplace_magic.watch(level=level)
    watch.start()
    try:
        return _seconds(program)
    finally:
        watch.leave()


def _kept(program: Callable[[], object], level: str) -> float:
    watch = inplace_magic.watch(level=level)
    watch.start()
    try:
        program()  # what is remembered once for each function and line is none of the event's
        tracemalloc.start()
        try:
            for _ in range(KEPT_OF):
                program()
            return tracemalloc.get_traced_memory()[0] / KEPT_OF
        finally:
            tracemalloc.stop()
    finally:
        watch.leave()


def costs() -> list[EventCost]:
    """Of every kind."""
    found = []
    for kind, program in _programs().items():
        times: dict[str, list[float]] = {"plain": [], "calls": [], "ops": []}
        for _ in range(ROUNDS):
            times["plain"].append(_seconds(program))
            for level in ("calls", "ops"):
                times[level].append(_watched(program, level))
        plain = statistics.median(times["plain"]) * 1e6
        added = {level: statistics.median(times[level]) * 1e6 - plain for level in ("calls", "ops")}
        found.append(EventCost(kind, plain, added, {level: _kept(program, level) for level in ("calls", "ops")}))
    return found
