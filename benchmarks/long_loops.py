"""What a watch of a long loop costs, as ratios within one run; the record and its findings count with it.

    python benchmarks/long_loops.py [--only writes tiny dqn] [--rounds 3] [--share 1.0]

Given are least processor times of the rounds, variants in turn, as ratios to the plain loop. *In full* is
``full=True``; of calls in a row that are the same write, a watch records else the first ones alone. The other loops
have no such calls.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from empty_modes import EmptyFunctionMode
from tables import long_loops
from workloads import WORKLOADS

import inplace_magic


@dataclass(frozen=True)
class Cost:
    """One loop."""

    loop: str
    plain_s: float
    ratios: dict[str, float]
    """By variant."""
    ran: int
    """Calls."""
    rows: int
    """Calls that have a row of their own."""


def writes(count: int) -> None:
    """One tensor is written again and again, with nothing in between."""
    x = torch.zeros(3)
    for _ in range(count):
        x.add_(1)


def _steps(name: str) -> Callable[[int], None]:
    workload = WORKLOADS[name]()

    def run(count: int) -> None:
        for _ in range(count):
            workload.step()

    return run


@dataclass(frozen=True)
class Long:
    """A long loop."""

    title: str
    make: Callable[[], Callable[[int], None]]
    count: int
    rounds: int = 3
    """So many at most: all loops together take a quarter of an hour."""


LONG: dict[str, Long] = {
    "writes": Long("{count:,} × x.add_(1)", lambda: writes, 100_000),
    "lbfgs": Long("{count:,} × 2 steps of L-BFGS on a scalar", lambda: _steps("lbfgs"), 10, 2),
    "tiny": Long("{count:,} steps of 50 × (Linear(16) + in-place ReLU)", lambda: _steps("tiny"), 2000, 1),
    "dqn": Long("{count:,} × 20 steps of a DQN", lambda: _steps("dqn"), 50, 2),
    "lstm": Long("{count:,} × 100 steps of an LSTMCell", lambda: _steps("lstm"), 50, 2),
    "messages": Long("{count:,} × messages over 1,000 graphs", lambda: _steps("messages"), 1, 2),
    "gpt": Long("{count:,} steps of a small GPT", lambda: _steps("gpt"), 200, 1),
}
IN_FULL = "calls, in full"
VARIANTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "plain": nullcontext,
    "empty mode": EmptyFunctionMode,
    "anomaly mode": torch.autograd.detect_anomaly,
    "calls": inplace_magic.watch,
    IN_FULL: lambda: inplace_magic.watch(full=True),
    "ops": lambda: inplace_magic.watch(level="ops"),
    "writes": lambda: inplace_magic.watch(level="writes"),
}


def cost(name: str, rounds: int, share: float = 1.0) -> Cost:
    """Runs one loop under each variant.

    Args:
        name: of :data:`LONG`.
        rounds: how often, at most.
        share: of the loop's length.
    """
    loop = LONG[name]
    count, run = max(1, int(loop.count * share)), loop.make()
    run(1)
    entries = {variant: entered for variant, entered in VARIANTS.items() if variant != IN_FULL or name == "writes"}
    times: dict[str, list[float]] = {variant: [] for variant in entries}
    ran = rows = 0
    for _ in range(min(rounds, loop.rounds)):
        for variant, entered in entries.items():
            gc.collect()
            began = time.process_time()
            with entered() as watch:
                run(count)
            times[variant].append(time.process_time() - began)
            if variant == "calls":
                ran, rows = watch.report.trace.ran, len(watch.report.trace.calls)
    least = {variant: min(found) for variant, found in times.items()}
    ratios = {variant: found / least["plain"] for variant, found in least.items() if variant != "plain"}
    return Cost(loop.title.format(count=count), least["plain"], ratios, ran, rows)


def main() -> None:
    """Runs, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=[*LONG], default=[*LONG])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--share", type=float, default=1.0, help="of the length of each loop")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(long_loops([asdict(cost(name, options.rounds, options.share)) for name in options.only]))


if __name__ == "__main__":
    main()
