"""What a long story and a long record cost: the prompt after cells of 100 steps, ``off``, and the page of many calls.

    python benchmarks/prompt.py [--cells 20] [--calls 100000]

Seconds of this process alone (CPU), so that other work on the machine counts less; for the prompt, wall time. Of
``off`` also the wall time in a kernel, as a reader waits for it: right after the last cell, as in "Run all", and three
seconds after it, when the kernel has made the report in the meantime.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import story
import torch
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel
from traitlets.config import Config

import inplace_magic

CELL = "for _ in range(100):\n" + "".join(f"    {line}\n" for line in story.STEP.splitlines())


def cells(count: int) -> None:
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    for text in ("%load_ext inplace_magic", story.SETUP, "%inplace_watch on"):
        story.run(shell, text)
    clock = story.Clock(shell)
    for _ in range(count):
        story.run(shell, CELL)
    calls, began = story.recorded(shell), time.process_time()
    story.run(shell, "%inplace_watch off")
    print(f"prompt after a cell of 100 steps: at most {1000 * max(clock.seconds[:count]):.0f} ms in {count} cells")
    print(f"off after {calls:,} calls: {time.process_time() - began:.2f} s")


def in_a_kernel(count: int, pause: float) -> float:
    """Seconds from sending ``off`` to its reply, so long after the last cell."""
    manager, client = start_new_kernel()

    def run(text: str) -> None:
        reply = client.execute_interactive(text, output_hook=lambda _: None, timeout=300)
        assert reply["content"]["status"] == "ok", reply["content"]

    try:
        for text in ("%load_ext inplace_magic", story.SETUP, "torch.set_num_threads(1)", "%inplace_watch on"):
            run(text)
        for _ in range(count):
            run(CELL)
        time.sleep(pause)
        began = time.perf_counter()
        run("%inplace_watch off")
        return time.perf_counter() - began
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def page(calls: int) -> None:
    names: dict[str, Any] = {}
    exec(story.SETUP, names)
    with inplace_magic.watch() as w:
        while w.recorded < calls - 14:
            exec(story.STEP, names)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert w.report is not None
    w.report._repr_mimebundle_()
    w.report.to_text()
    w.report.to_html()
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{len(w.report.calls):,} calls: output, text and page in {time.process_time() - began:.1f} s, {more:.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--calls", type=int, default=100_000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cells(options.cells)
    for pause in (0.0, 3.0):
        print(f"off in a kernel, {pause:.0f} s after the last cell: {in_a_kernel(options.cells, pause):.2f} s")
    page(options.calls)
