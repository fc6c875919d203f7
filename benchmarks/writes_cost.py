"""What level ``writes`` costs beside an empty function mode: a training step of tiny layers, of ResNet-18 and of GPT.

    python benchmarks/writes_cost.py [--rounds 1.0] [--only tiny ...]

CPU time of this process, the two interleaved step by step of a few; each figure is the lower decile of its rounds, the
ratio that of the two. The middle half of the ratios of neighbouring rounds says how far a single one may lie.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from peers import EmptyFunctionMode, _watched
from workloads import WORKLOADS

ROUNDS = {"tiny": (300, 4), "resnet": (60, 1), "gpt": (60, 1)}
"""Rounds, and steps of each, by the workload's name."""


def seconds(context: AbstractContextManager[Any], step: Callable[[], None], steps: int) -> float:
    """CPU time of some steps inside a context, whose own beginning and end do not count; one step goes before."""
    with context:
        step()
        began = time.process_time()
        for _ in range(steps):
            step()
        return (time.process_time() - began) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=float, default=1.0, help="times as many rounds")
    parser.add_argument("--only", nargs="*", default=[], choices=ROUNDS, help="these workloads")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.only or ROUNDS:
        workload, pairs = WORKLOADS[name](), []
        rounds, steps = ROUNDS[name]
        for _ in range(max(3, int(rounds * options.rounds))):
            empty = seconds(EmptyFunctionMode(), workload.step, steps)
            pairs.append((empty, seconds(_watched("writes"), workload.step, steps)))
        empty, written = (1000 * statistics.quantiles(column, n=10)[0] for column in zip(*pairs, strict=True))
        low, middle, high = statistics.quantiles([written / empty for empty, written in pairs], n=4)
        told = f"ratio {written / empty:.3f}; of neighbours {middle:.3f}, middle half {low:.2f} to {high:.2f}"
        print(f"{workload.title}: empty {empty:.3f} ms, writes {written:.3f} ms, {told}", flush=True)


if __name__ == "__main__":
    main()
