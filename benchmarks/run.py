"""``make bench``: what a watch costs, as ratios within one run on one machine.

    python benchmarks/run.py [--repeats 15] [--json FILE] [--only tiny]

The variants are interleaved (one step of each in turn), so that a slow moment of the machine hits all of them alike;
given is the median step and the ratio to the plain step. A watched step is a step inside ``with watch()``, the report
not included; the time to make the report follows in its own column.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from workloads import WORKLOADS

import inplace_magic


class EmptyFunctionMode(TorchFunctionMode):
    """The floor of level ``calls``: sees every call and does nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class EmptyDispatchMode(TorchDispatchMode):
    """With the above, the floor of level ``ops``."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def both_empty() -> Iterator[None]:
    with EmptyDispatchMode(), EmptyFunctionMode():
        yield


@contextmanager
def watched(level: str, reports: list[float]) -> Iterator[None]:
    w = inplace_magic.watch(level=level)
    w.start()
    try:
        yield
    finally:
        w.leave()
    start = time.perf_counter()
    w.stop()
    reports.append(time.perf_counter() - start)


def variants(reports: dict[str, list[float]]) -> dict[str, Callable[[], Any]]:
    return {
        "plain": nullcontext,
        "empty function mode": EmptyFunctionMode,
        "watch, level calls": lambda: watched("calls", reports["watch, level calls"]),
        "empty function + dispatch mode": both_empty,
        "watch, level ops": lambda: watched("ops", reports["watch, level ops"]),
        "anomaly mode": lambda: torch.autograd.detect_anomaly(check_nan=False),
    }


def measure(make_step: Callable[[], Callable[[], float]], repeats: int) -> dict[str, dict[str, float]]:
    step = make_step()
    reports: dict[str, list[float]] = {
        name: [] for name in variants({"watch, level calls": [], "watch, level ops": []})
    }
    contexts = variants(reports)
    times: dict[str, list[float]] = {name: [] for name in contexts}
    for turn in range(repeats + 2):
        for name, context in contexts.items():
            manager = context()
            with manager:
                start = time.perf_counter()
                step()
                elapsed = time.perf_counter() - start
            if turn >= 2:  # two rounds to warm up
                times[name].append(elapsed)
    plain = statistics.median(times["plain"])
    rows = {}
    for name, measured in times.items():
        quartiles = statistics.quantiles(measured, n=4)
        rows[name] = {
            "median_s": statistics.median(measured),
            "ratio": statistics.median(measured) / plain,
            "iqr_ratio": (quartiles[2] - quartiles[0]) / plain,
        }
        if reports[name]:
            rows[name]["report_s"] = statistics.median(reports[name])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results: dict[str, Any] = {"python": platform.python_version(), "torch": torch.__version__, "threads": 1}
    print(f"Python {results['python']}, torch {results['torch']}, 1 thread, medians of {options.repeats}, interleaved")
    for title, make_step in WORKLOADS.items():
        if options.only and options.only.lower() not in (title + make_step.__name__).lower():
            continue
        rows = measure(make_step, options.repeats)
        results[title] = rows
        print(f"\n{title}")
        print(f"  {'variant':32} {'median ms':>10} {'ratio':>7} {'IQR':>6} {'report ms':>10}")
        for name, row in rows.items():
            report = f"{row['report_s'] * 1e3:10.1f}" if "report_s" in row else ""
            print(f"  {name:32} {row['median_s'] * 1e3:10.2f} {row['ratio']:7.2f} {row['iqr_ratio']:6.2f} {report}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
