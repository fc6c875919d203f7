"""What templates could save at most: a watch to which everything that a code position tells again is free.

    python benchmarks/templates.py [--only tiny dqn] [--repeats 15]

In a later pass of a loop the place of a call, the caller that stands in for it, the layout of its tensors and what its
nodes save are mostly those of the pass before. Here they are answered from memory without being asked for, each on top
of the ones before: such a watch records what is wrong as soon as anything differs, so this is a limit and no watch.
In the last column no node is looked at, as if a compiled helper did that in no time.
Given are ratios to the plain run: of each variant the least processor time of this process, variants in turn.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from empty_modes import EmptyFunctionMode
from workloads import WORKLOADS

import inplace_magic
from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.nodes import NodeMap
from inplace_magic.capture.torch import callers, describe, describe_nodes


def _place() -> Any:
    known: dict[tuple[int, int], int | None] = {}
    asked = CallsiteTable.note

    def note(self: CallsiteTable, frame: Any, function: Any = None) -> int | None:
        key = id(frame.f_code), frame.f_lasti
        if key not in known:
            known[key] = asked(self, frame, function)
        return known[key]

    return patch.object(CallsiteTable, "note", note)


def _stand_in() -> Any:
    return patch.object(callers.Callers, "like", lambda *_: callers.call_plainly)


def _layout() -> Any:
    always = describe.layout(torch.zeros(4))
    return patch.object(describe, "layout", lambda _: always)


def _saved() -> Any:
    nothing: list[Any] = []
    return patch.object(describe_nodes, "saved_values", lambda _: nothing)


def _nodes() -> Any:
    return patch.object(NodeMap, "number", lambda *_: 1)


FREE: dict[str, Callable[[], Any]] = {
    "its place free": _place,
    "and its stand-in": _stand_in,
    "and all layouts": _layout,
    "and what nodes save": _saved,
    "and nodes altogether": _nodes,
}


@contextmanager
def _watched(free: int) -> Iterator[None]:
    with ExitStack() as stack:
        for part in list(FREE.values())[:free]:
            stack.enter_context(part())
        watch = inplace_magic.watch()
        watch.start(frame=sys._getframe(2))  # that of the `with`, where callers end for people, too
        try:
            yield
        finally:
            watch.leave()


def main() -> None:
    """Prints a row for each workload."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    small = [name for name in WORKLOADS if name not in ("resnet", "gpt")]
    parser.add_argument("--only", nargs="*", choices=small, default=small)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    variants: dict[str, Callable[[], Any]] = {"plain": nullcontext, "empty mode": EmptyFunctionMode}
    for free, name in enumerate(("watch", *FREE)):
        variants[name] = lambda free=free: _watched(free)
    print(f"{'':10}" + "".join(f"{name:>21}" for name in list(variants)[1:]))
    for name in options.only:
        workload = WORKLOADS[name]()
        taken: dict[str, list[float]] = {variant: [] for variant in variants}
        for turn in range(options.repeats + 1):
            for variant, context in variants.items():
                with context():
                    began = time.process_time()
                    workload.step()
                    seconds = time.process_time() - began
                if turn:
                    taken[variant].append(seconds)
        plain = min(taken["plain"])
        ratios = [min(had) / plain for had in list(taken.values())[1:]]
        print(f"{name:10}" + "".join(f"{ratio:>21.2f}" for ratio in ratios), flush=True)


if __name__ == "__main__":
    main()
