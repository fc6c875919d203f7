"""What level ``writes`` costs beside an empty function mode: a training step of tiny layers, of ResNet-18 and of GPT.

    python benchmarks/writes_cost.py [--rounds 15] [--only tiny ...]

CPU seconds of this process, the two interleaved; each figure is the lower quartile of as many rounds, and the ratio the
median of the ratios of the rounds.
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

STEPS = {"tiny": 40, "resnet": 1, "gpt": 1}
"""Steps of one round, by the workload's name."""


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
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", nargs="*", default=[], choices=STEPS, help="these workloads")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.only or STEPS:
        workload, steps, pairs = WORKLOADS[name](), STEPS[name], []
        for _ in range(options.rounds):
            empty = seconds(EmptyFunctionMode(), workload.step, steps)
            pairs.append((empty, seconds(_watched("writes"), workload.step, steps)))
        lower = [1000 * statistics.quantiles(column, n=4)[0] for column in zip(*pairs, strict=True)]
        ratio = statistics.median(written / empty for empty, written in pairs)
        print(f"{workload.title}: empty {lower[0]:.2f} ms, writes {lower[1]:.2f} ms, ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
