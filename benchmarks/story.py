"""What ``%inplace_watch on`` costs between two cells: the time from the end of a cell to the prompt.

    python benchmarks/story.py [--calls 1000 10000] [--repeats 5]

A story of so many calls is recorded, in cells of training steps; then one more cell runs. Given is the median of the
time that the story takes after such a cell: for a cell with torch calls, after which the report of the whole story is
made anew, and for a cell without any. Beside them, the same for a cell while no story is on.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

SETUP = """\
import torch
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(8, 16)
"""
STEP = """\
opt.zero_grad()
loss = model(x).pow(2).mean()
loss.backward()
opt.step()
"""


class Clock:
    """Two callbacks around ours: the time between the first ``post_execute`` and the last ``post_run_cell``."""

    def __init__(self, shell: Any) -> None:
        self.seconds: list[float] = []
        self._ended = 0.0
        shell.events.register("post_execute", self.ended)
        shell.events.callbacks["post_execute"].insert(0, shell.events.callbacks["post_execute"].pop())
        shell.events.register("post_run_cell", self.prompt)

    def ended(self) -> None:
        self._ended = time.perf_counter()

    def prompt(self, _: Any) -> None:
        self.seconds.append(time.perf_counter() - self._ended)


def run(shell: Any, text: str) -> None:
    with capture_output():
        shell.run_cell(text, store_history=True).raise_error()


def recorded(shell: Any) -> int:
    from inplace_magic.magics.extension import _sessions

    story = _sessions[id(shell)].story
    return story.watch.recorded if story is not None else 0


def median(shell: Any, clock: Clock, text: str, repeats: int) -> float:
    clock.seconds.clear()
    for _ in range(repeats):
        run(shell, text)
    return 1000 * statistics.median(clock.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    run(shell, "%load_ext inplace_magic")
    clock = Clock(shell)
    run(shell, SETUP)
    print(f"{'calls':>8}  {'cell with torch calls':>22}  {'without':>10}")
    off = [median(shell, clock, text, options.repeats) for text in (STEP, "1 + 1")]
    print(f"{'off':>8}  {off[0]:>19.2f} ms  {off[1]:>7.2f} ms")
    for calls in options.calls:
        run(shell, "%inplace_watch on")
        steps = 0
        while recorded(shell) < calls:
            # Many small reports on the way would be measured by nobody, so the steps of a cell double.
            run(shell, f"for _ in range({max(1, steps)}):\n" + "".join(f"    {line}\n" for line in STEP.splitlines()))
            steps = min(2 * max(1, steps), max(1, (calls - recorded(shell)) // 25))
        on = [median(shell, clock, text, options.repeats) for text in (STEP, "1 + 1")]
        print(f"{recorded(shell):>8,}  {on[0]:>19.2f} ms  {on[1]:>7.2f} ms")
        run(shell, "%inplace_watch off")


if __name__ == "__main__":
    main()
