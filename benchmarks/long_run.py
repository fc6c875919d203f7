"""Whether the memory of a watch stays what it was, over a million calls, and how long its report and page take.

    python benchmarks/long_run.py [--calls 1000000] [--level writes] [--kept 10000]

Training steps run under one watch that keeps the newest so many writes, or at the other levels so many calls at most;
a step makes 41 calls, and 4 of them write. Printed are the calls so far, the memory of the process in MB and the time
since the line before, eleven times: memory grows until as much is kept as may be. Then the time from the end of the
loop to the report, with its findings, and that of the page, with its size. All times are of the processor.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import story
import torch
from torch.overrides import TorchFunctionMode

import inplace_magic
from inplace_magic.render import to_mimebundle


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
    parser.add_argument("--level", choices=("writes", "calls", "ops"), default="writes")
    parser.add_argument("--kept", type=int, default=10_000, help="`max_events`; 100,000 unless told")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names: dict[str, Any] = {}
    exec(story.SETUP, names)
    step = compile(story.STEP, "<step>", "exec")
    exec(step, names)
    with Counting() as counted:
        exec(step, names)
    steps = -(-options.calls // counted.calls)
    with inplace_magic.watch(level=options.level, max_events=options.kept) as watch:
        began = time.process_time()
        for number in range(steps + 1):
            if number % (steps // 10) == 0:
                now = time.process_time()
                print(f"{number * counted.calls:>10,} calls {resident():8.1f} MB {now - began:7.2f} s", flush=True)
                began = now
            exec(step, names)
        ended = time.process_time()
    made = time.process_time()
    html = to_mimebundle(watch.report)["text/html"]
    shown = time.process_time()
    print(f"report {made - ended:.2f} s, page {shown - made:.2f} s, {len(html) / 1e6:.2f} MB; {resident():.1f} MB")


if __name__ == "__main__":
    main()
