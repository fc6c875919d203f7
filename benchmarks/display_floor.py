"""Where the time of a report goes between the end of a cell and its page, and what of it does not grow with the calls.

    python benchmarks/display_floor.py [--steps 94 2000] [--repeats 7]

The training loop of ``story.py``, of so many steps, least processor times in milliseconds: *record* makes frozen
records of what was noted, *rules* looks for findings, *page* makes output and text. *One walk* goes through all calls
and asks each for its kind, once for each rule: no set of rules that look at every call can take less. The page of two
steps is the part that every report has.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import story
import torch

import inplace_magic
from inplace_magic.analysis.story import indexed_once
from inplace_magic.hazards import RULES, find_hazards
from inplace_magic.record.garbage import collection_paused
from inplace_magic.render import to_mimebundle
from inplace_magic.report import Report


def recorded(steps: int) -> tuple[Report, float]:
    """The report of a loop, and how long it took after its end."""
    names: dict[str, Any] = {}
    exec(story.SETUP, names)
    loop = compile(
        f"for _ in range({steps}):\n" + "".join(f"    {line}\n" for line in story.STEP.splitlines()), "", "exec"
    )
    watch = inplace_magic.watch()
    watch.start()
    exec(loop, names)
    watch.leave()
    seconds = timed(watch.stop)
    assert watch.report is not None
    return watch.report, seconds


def timed(work: Callable[[], Any]) -> float:
    """Processor seconds."""
    began = time.process_time()
    work()
    return time.process_time() - began


def walked(report: Report) -> None:
    """What the rules cannot do without, if each of them looks at every call."""
    for _rule in RULES:
        for call in report.trace.calls:
            call.kind  # noqa: B018  the look is what is timed


def measured(steps: int) -> tuple[int, list[float]]:
    """Calls, and seconds by part."""
    with collection_paused():
        report, together = recorded(steps)
        with indexed_once():  # as after a watched cell
            rules = timed(lambda: find_hazards(report.trace))
            page = timed(lambda: to_mimebundle(report))
        walk = timed(lambda: walked(report))
    return len(report.calls), [max(0.0, together - rules), rules, page, walk]


def main() -> None:
    """Prints a row for each length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="+", default=[94, 2000])
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured(50)  # what is loaded once is loaded here
    print(f"{'calls':>8}{'record':>10}{'rules':>10}{'page':>10}{'one walk':>10}   ms")
    for steps in [2, *options.steps]:
        runs = [measured(steps) for _ in range(options.repeats)]
        parts = (min(column) for column in zip(*(parts for _calls, parts in runs), strict=True))
        print(f"{runs[0][0]:>8,}" + "".join(f"{1000 * part:>10.1f}" for part in parts), flush=True)


if __name__ == "__main__":
    main()
