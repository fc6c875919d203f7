"""``make bench``: what a watch costs, as ratios within one run on one machine.

    python benchmarks/run.py [--repeats 15] [--seconds 8] [--only tiny resnet gpt events growth] [--longest 100000]
                             [--json build/bench.json] [--write docs/measured/cost.md]

The variants are interleaved (one step of each in turn), so that a slow moment of the machine hits all of them alike.
Given are the median, its ratio to the plain step, and the spread of the middle half as a ratio too. A variant is run
until it has had its share of seconds; some other tools take longer than that for one run, and then have one.
Other tools are optional: `pip install .[bench]`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from events import costs
from growth import LENGTHS, growth
from peers import VARIANTS, quietly, version_of
from tables import as_text
from workloads import WORKLOADS, Workload

from inplace_magic import __version__


def compare(workload: Workload, repeats: int, seconds: float) -> list[dict[str, Any]]:
    """One row for each variant."""
    times: dict[str, list[float]] = {variant.name: [] for variant in VARIANTS if variant.installed}
    failed: dict[str, str] = {}
    for turn in range(repeats + 1):
        for variant in VARIANTS:
            had = times.get(variant.name)
            if had is None or variant.name in failed or sum(had) > seconds:
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
    plain = {"step": statistics.median(times["plain"]), "forward": statistics.median(times["plain, forward only"])}
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        row: dict[str, Any] = {"variant": variant.name, "part": variant.part}
        if not variant.installed:
            row["missing"] = "not installed"
        elif variant.name in failed:
            row["missing"] = failed[variant.name]
        else:
            had = times[variant.name]
            low, _, high = statistics.quantiles(had, n=4) if len(had) > 1 else (had[0], 0, had[0])
            row |= {
                "runs": len(had),
                "median_ms": statistics.median(had) * 1e3,
                "ratio": statistics.median(had) / plain[variant.part],
                "iqr_ratio": (high - low) / plain[variant.part],
            }
        rows.append(row)
    return rows


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
    parser.add_argument("--only", nargs="*", choices=[*WORKLOADS, "events", "growth"], default=[])
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="calls of the longest cell")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--write", type=Path, help="the same as a page of documentation")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wanted = options.only or [*WORKLOADS, "events", "growth"]
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
    }
    for name, make in WORKLOADS.items():
        if name in wanted:
            print(f"{name} ...", file=sys.stderr)
            workload = make()
            results["steps"][workload.title] = compare(workload, options.repeats, options.seconds)
    if "events" in wanted:
        print("events ...", file=sys.stderr)
        results["events"] = [asdict(cost) for cost in costs()]
    if "growth" in wanted:
        print("growth ...", file=sys.stderr)
        results["growth"] = [asdict(row) for row in growth(options.longest)]
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
