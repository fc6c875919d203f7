"""Where the time of one recorded call goes, at level ``calls``.

    python benchmarks/budget.py [--rounds 200]

Each row adds one part to the row above it: the call alone, under a function mode that does nothing, with the place of
the call looked up, with the rest of its opening, with its closing, and under a watch. Given are microseconds a call of
this thread's processor time, each the least of all rounds, so that a loaded machine hardly shows.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from empty_modes import EmptyFunctionMode
from torch.nn import functional as F

import inplace_magic
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.torch.functions import facts_of
from inplace_magic.record.options import WatchOptions

PARTS = ("torch's way to a mode", "place", "opening, the rest", "closing", "probe")
CALLS = 100


def seconds(run: Callable[[], object]) -> float:
    """Of one call, in warm caches."""
    for _ in range(CALLS):
        run()
    start = time.thread_time()
    for _ in range(CALLS):
        run()
    return (time.thread_time() - start) / CALLS


def recording(func: Callable[..., Any], args: tuple[Any, ...], upto: str) -> Callable[[], object]:
    """The call with a part of what a watch does around it."""
    recorder, facts, here = Recorder(WatchOptions()), facts_of(func), sys._getframe()
    recorder.sites.begin_at(here)

    def run() -> None:
        if upto == "place":
            recorder.sites.note(here)
            func(*args)
            return
        call = recorder.open(facts, args, {}, here)
        result = func(*args)
        if upto == "closing":
            recorder.close(call, result)
        recorder.drop(call)

    return run


def budget(func: Callable[..., Any], args: tuple[Any, ...], rounds: int) -> dict[str, float]:
    """Microseconds by part, and of the call alone."""
    opened_only = not facts_of(func).predicts_write  # else each look would find a write that nobody closed
    least: dict[str, float] = {}

    def note(name: str, taken: float) -> None:
        least[name] = min(least.get(name, taken), taken)

    stages = ["place", *(["opening"] if opened_only else []), "closing"]
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        note("alone", seconds(lambda: func(*args)))
        with EmptyFunctionMode():
            note("mode", seconds(lambda: func(*args)))
        for stage in stages:
            note(stage, seconds(recording(func, args, stage)))
        watch = inplace_magic.watch()
        watch.start()
        try:
            note("watch", seconds(lambda: func(*args)))
        finally:
            watch.leave()
            gc.enable()
    micro = {name: value * 1e6 for name, value in least.items()}
    mode, recorded = micro["mode"] - micro["alone"], micro["closing"] - micro["alone"]
    place = micro["place"] - micro["alone"]
    opening = micro["opening"] - micro["alone"] - place if opened_only else float("nan")
    closing = recorded - place - (opening if opened_only else 0)
    probe = micro["watch"] - micro["alone"] - mode - recorded
    return {"alone": micro["alone"], **dict(zip(PARTS, (mode, place, opening, closing, probe), strict=True))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    x, square = torch.randn(8, 16), torch.randn(16, 16)
    weight, bias = (torch.nn.Parameter(torch.randn(*shape)) for shape in ((16, 16), (16,)))
    programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "x.dim()": (torch.Tensor.dim, (x,)),
        "x.view(-1)": (torch.Tensor.view, (x, -1)),
        "x.add(1)": (torch.Tensor.add, (x, 1)),
        "x.mul_(0.5)": (torch.Tensor.mul_, (x, 0.5)),
        "F.linear(x, weight)": (F.linear, (x, square)),
        "the same with autograd": (F.linear, (x, weight, bias)),
    }
    print(f"{'':24}{'alone':>8}" + "".join(f"{part:>{len(part) + 2}}" for part in PARTS))
    for name, (func, args) in programs.items():
        row = budget(func, args, rounds)
        cells = [f"{row['alone']:8.2f}"]
        cells += [
            f"{row[part]:{len(part) + 2}.2f}" if row[part] == row[part] else " " * (len(part) + 1) + "-"
            for part in PARTS
        ]
        print(f"{name:24}" + "".join(cells))


if __name__ == "__main__":
    main()
