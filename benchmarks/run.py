"""``make bench``: what a watch costs, as ratios within one run on one machine.

    python benchmarks/run.py [--repeats 15] [--seconds 8] [--only tiny dqn events growth long] [--longest 100000]
                             [--json build/bench.json] [--write docs/measured/cost.md]

The variants are interleaved (one step of each in turn), so that a slow moment of the machine hits all of them alike.
Given are the median, its ratio to the plain step, and the spread of the middle half as a ratio too. A variant is run
until it has had its share of seconds; some other tools take longer than that for one run, and then have one.
Tools that change what runs after them (torchlens wraps torch's functions for good, a watch right after the profiler
takes half as long again) run in a process of their own, after the plain runs that they are compared with.
Other tools are optional: `pip install .[bench]`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from events import costs
from growth import LENGTHS, growth
from long_loops import LONG, cost
from loops import Loop
from peers import VARIANTS, Variant, quietly, version_of
from tables import as_text
from workloads import WORKLOADS, Workload

from inplace_magic import __version__


def compare(name: str, repeats: int, seconds: float) -> tuple[str, list[dict[str, Any]]]:
    """The workload's title, and one row for each variant."""
    workload = WORKLOADS[name]()
    variants = [variant for variant in VARIANTS if variant.fits(workload)]
    together = [variant for variant in variants if variant.installed and not variant.apart]
    times, failed = timed_in_turn(workload, together, repeats, seconds)
    rows: list[dict[str, Any]] = []
    for variant in variants:
        plain = statistics.median(times[next(other.name for other in together if other.part == variant.part)])
        row: dict[str, Any] = {"variant": variant.name, "part": variant.part}
        if not variant.installed:
            row["missing"] = "not installed"
        elif variant.apart:
            row |= timed_apart(name, variant, repeats, seconds)
        elif variant.name in failed:
            row["missing"] = failed[variant.name]
        else:
            row |= summary(times[variant.name], plain)
        rows.append(row)
    return workload.title, rows


def timed_in_turn(
    workload: Workload | Loop, variants: Sequence[Variant], repeats: int, seconds: float
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Seconds of each run of each variant; and what those said that cannot run this workload."""
    times: dict[str, list[float]] = {variant.name: [] for variant in variants}
    failed: dict[str, str] = {}
    for turn in range(repeats + 1):
        for variant in variants:
            had = times[variant.name]
            if variant.name in failed or sum(had) > seconds:
                continue
            try:
                had.append(quietly(variant, workload))
            except Exception as error:  # a peer that cannot run this model is a row that says so
                failed[variant.name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        assert_nothing_is_left()
        if turn == 0:  # the first round warms up, except where it was long enough to be warm
            for had in times.values():
                if sum(had) < seconds / 2:
                    had.clear()
    return times, failed


def timed_apart(name: str, variant: Variant, repeats: int, seconds: float) -> dict[str, Any]:
    """A variant in a process of its own, after the plain runs there: it leaves torch changed."""
    command = [sys.executable, __file__, "--only", name, "--apart", variant.name]
    command += ["--repeats", str(repeats), "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"missing": (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]}
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def apart(name: str, variant: Variant, repeats: int, seconds: float) -> dict[str, Any]:
    """What such a process does."""
    workload = WORKLOADS[name]()
    plain = next(other for other in VARIANTS if other.part == variant.part)
    before, _ = timed_in_turn(workload, [plain], repeats, seconds)
    times, failed = timed_in_turn(workload, [variant], repeats, seconds)
    if failed:
        return {"missing": failed[variant.name]}
    return summary(times[variant.name], statistics.median(before[plain.name]))


def summary(had: list[float], plain: float) -> dict[str, Any]:
    """Median, its ratio to the plain run, and the spread of the middle half."""
    low, _, high = statistics.quantiles(had, n=4) if len(had) > 1 else (had[0], 0, had[0])
    median = statistics.median(had)
    return {"runs": len(had), "median_ms": median * 1e3, "ratio": median / plain, "iqr_ratio": (high - low) / plain}


def assert_nothing_is_left() -> None:
    """While nothing is watched, nothing is hooked."""
    assert torch._C._len_torch_function_stack() == 0
    assert torch._C._len_torch_dispatch_stack() == 0
    assert sys.getprofile() is None
    assert sys.gettrace() is None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--only", nargs="*", choices=[*WORKLOADS, "events", "growth", "long"], default=[])
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="calls of the longest cell")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--apart", metavar="VARIANT", help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help="the same as a page of documentation")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.apart:
        variant = next(variant for variant in VARIANTS if variant.name == options.apart)
        print(json.dumps(apart(options.only[0], variant, options.repeats, options.seconds)))
        return 0
    wanted = options.only or [*WORKLOADS, "events", "growth", "long"]
    peers = ("transformers", "torchlens", "torchviz", "torchview")
    results: dict[str, Any] = {
        "versions": {
            "inplace_magic": __version__,
            "Python": platform.python_version(),
            "torch": torch.__version__,
            **{package: version_of(package) for package in peers},
        },
        "machine": {
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "threads": 1,
            "system": platform.system(),
        },
        "steps": {},
        "events": [],
        "growth": [],
        "long": [],
    }
    for name in WORKLOADS:
        if name in wanted:
            print(f"{name} ...", file=sys.stderr)
            title, rows = compare(name, options.repeats, options.seconds)
            results["steps"][title] = rows
    if "events" in wanted:
        print("events ...", file=sys.stderr)
        results["events"] = [asdict(cost) for cost in costs()]
    if "growth" in wanted:
        print("growth ...", file=sys.stderr)
        results["growth"] = [asdict(row) for row in growth(options.longest)]
    if "long" in wanted:
        print("long loops ...", file=sys.stderr)
        results["long"] = [asdict(cost(name, rounds=3)) for name in LONG]
    assert_nothing_is_left()
    results["left"] = "After each watch no function mode, dispatch mode, profile or trace function is left (asserted)."
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    page = as_text(results)
    print(page)
    if options.write:
        options.write.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
