"""Whether the memory of level ``writes`` stays what it was, over a million calls.

    python benchmarks/long_run.py [--calls 1000000] [--kept 10000]

Training steps run under one watch that keeps the newest so many writes; a step makes 41 calls, and 4 of them write.
Printed are the calls so far and the memory of the process, in MB, eleven times: it grows until the ring is full.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import story
import torch
from torch.overrides import TorchFunctionMode

import inplace_magic


class Counting(TorchFunctionMode):
    """Counts the calls that a function mode sees."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


def resident() -> float:
    """Memory of this process now, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Runs, and prints as it goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--kept", type=int, default=10_000, help="writes in the ring; 100,000 unless told")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names: dict[str, Any] = {}
    exec(story.SETUP, names)
    step = compile(story.STEP, "<step>", "exec")
    exec(step, names)
    with Counting() as counted:
        exec(step, names)
    steps = -(-options.calls // counted.calls)
    with inplace_magic.watch(level="writes", max_events=options.kept):
        for number in range(steps + 1):
            if number % (steps // 10) == 0:
                print(f"{number * counted.calls:>10,} calls {resident():8.1f} MB", flush=True)
            exec(step, names)


if __name__ == "__main__":
    main()
