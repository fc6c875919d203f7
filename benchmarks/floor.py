"""What the facts cost in Python, and what a watch costs beside them.

    python benchmarks/floor.py [--only tiny dqn] [--repeats 15] [--levels calls ops]

*Facts kept* and *kept of both* are the modes of ``kept.py``: they ask for what a watch must know and keep it, in one
block of code, and do nothing else. *All kept* does what ``told.py`` says besides: nearly all that a watch owes. So a
goal below them cannot be had in Python; one above them may be out of reach.
Given are ratios to the plain run, of the least processor times and of the medians, variants in turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from empty_modes import EmptyDispatchMode, EmptyFunctionMode
from kept import FactsKept
from kept_ops import OpFactsKept
from told import Told
from workloads import WORKLOADS

import inplace_magic


@contextmanager
def _kept_of_both() -> Iterator[None]:
    with _kept() as calls, OpFactsKept(calls), calls:
        yield


@contextmanager
def _kept() -> Iterator[FactsKept]:
    calls = FactsKept()
    yield calls
    assert not calls.faults, calls.faults[0]


@contextmanager
def _calls_kept() -> Iterator[None]:
    with _kept() as calls, calls:
        yield


@contextmanager
def _all_kept() -> Iterator[None]:
    with _kept() as calls:
        calls.told = Told(calls.tensors, sys._getframe(2))
        with calls:
            yield


@contextmanager
def _both_empty() -> Iterator[None]:
    with EmptyDispatchMode(), EmptyFunctionMode():
        yield


@contextmanager
def _watched(level: str) -> Iterator[None]:
    watch = inplace_magic.watch(level=level)
    watch.start(frame=sys._getframe(2))  # that of the `with`, where callers end for people, too
    try:
        yield
    finally:
        watch.leave()


VARIANTS: dict[str, dict[str, Callable[[], Any]]] = {
    "calls": {
        "empty mode": EmptyFunctionMode,
        "facts kept": _calls_kept,
        "all kept": _all_kept,
        "watch": lambda: _watched("calls"),
    },
    "ops": {
        "empty modes": _both_empty,
        "kept of both": _kept_of_both,
        "watch, ops": lambda: _watched("ops"),
    },
}
"""By level; of each level the first is what torch takes."""


def measure(variants: dict[str, Callable[[], Any]], names: list[str], repeats: int) -> None:
    """Prints two rows for each workload: ratios of each variant to the first one, which is the plain run."""
    torch.set_num_threads(1)
    print(f"{'':18}" + "".join(f"{name:>14}" for name in list(variants)[1:]))
    for name in names:
        workload = WORKLOADS[name]()
        taken: dict[str, list[float]] = {variant: [] for variant in variants}
        for turn in range(repeats + 1):
            for variant, context in variants.items():
                with context():
                    began = time.process_time()
                    workload.step()
                    seconds = time.process_time() - began
                if turn:
                    taken[variant].append(seconds)
        for word, of in (("least", min), ("median", statistics.median)):
            plain, *others = map(of, taken.values())
            print(f"{name:10}{word:8}" + "".join(f"{had / plain:14.2f}" for had in others), flush=True)


def main() -> None:
    """Prints the rows of the workloads asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(WORKLOADS), default=list(WORKLOADS))
    parser.add_argument("--levels", nargs="*", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    variants: dict[str, Callable[[], Any]] = {"plain": nullcontext}
    for level in options.levels:
        variants |= VARIANTS[level]
    measure(variants, options.only, options.repeats)


if __name__ == "__main__":
    main()
