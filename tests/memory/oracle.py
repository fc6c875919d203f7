"""What PyTorch's own profiler says of CPU memory: it hears of every allocation from the allocator itself.

Run as a program, it prints how our account differs from the profiler's: ``python tests/memory/oracle.py``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode


class PassesOn(TorchDispatchMode):
    """What any dispatch mode changes in a program: it does nothing itself."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@dataclass
class Allocations:
    """What the profiler saw, in bytes."""

    sizes: Counter[int] = field(default_factory=Counter)
    """Every block allocated."""
    scratch: Counter[int] = field(default_factory=Counter)
    """Those of them that one dispatched operator allocated and freed again before it returned."""
    numbers: Counter[int] = field(default_factory=Counter)
    """Those that no operator allocated: the 8 B in which torch wraps a Python number, such as the 2 of `x.mul_(2)`."""
    kept: int = 0
    """Allocated less freed, of the blocks allocated under the profiler."""
    net: int = 0
    """Allocated less freed, older blocks included, scratch and numbers left out."""
    peak: int = 0
    """The most that was alive above what there was at the beginning, scratch and numbers left out."""


@dataclass(frozen=True)
class Event:
    """One block that came (positive) or went (negative)."""

    time: int
    address: int
    nbytes: int
    operators: tuple[int, ...]
    """Dispatched operators that were running, the outermost first."""


def allocations(run: Callable[[], Any]) -> tuple[Allocations, Any]:
    """Runs something under the profiler; gives what was allocated, and its result."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = run()
    found = Allocations()
    tree = profiler.profiler.kineto_results.experimental_event_tree()
    events = sorted(_memory_events(tree, ()), key=lambda event: event.time)
    there: dict[int, Event] = {}
    left_out: set[Event] = set()
    for event in events:
        if event.nbytes > 0:
            found.sizes[event.nbytes] += 1
            found.kept += event.nbytes
            there[event.address] = event
        elif event.address in there:
            made = there.pop(event.address)
            found.kept -= made.nbytes
            if not made.operators:
                found.numbers[made.nbytes] += 1
                left_out |= {made, event}
            elif made.operators[-1] in event.operators:
                found.scratch[made.nbytes] += 1
                left_out |= {made, event}
    for event in events:
        if event not in left_out:
            found.net += event.nbytes
            found.peak = max(found.peak, found.net)
    return found, result


def names_operators() -> bool:
    """Whether the profiler says which dispatched operator was running; that of torch 2.4 does not."""
    with PassesOn():
        seen, _ = allocations(lambda: (torch.ones(3) + 1).sum().item())
    return bool(seen.sizes - seen.numbers)


def _memory_events(nodes: list[Any], operators: tuple[int, ...]) -> Iterator[Event]:
    for node in nodes:
        if node.tag == _EventType.Allocation:
            fields = node.extra_fields
            yield Event(node.start_time_ns, fields.ptr, fields.alloc_size, operators)
        dispatched = node.tag == _EventType.TorchOp and node.name == "PythonDispatchMode"
        inside = (*operators, node.correlation_id) if dispatched else operators
        yield from _memory_events(node.children, inside)


def main() -> None:
    """Prints one row for each model."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from memory.models import MODELS, step_of

    import inplace_magic

    titles = ("blocks", "ours", "rows", "profiler", "scratch", "numbers", "residual", "net, residual", "peak, residual")
    print(f"{'bytes':20}" + "".join(f"{title:>16}" for title in titles))
    for name in MODELS:
        step = step_of(name)
        with inplace_magic.watch(level="ops") as warm:
            step()
        del warm

        def watched(step: Callable[[], None] = step) -> Any:
            with inplace_magic.watch(level="ops") as watch:
                step()
            return watch.report

        seen, report = allocations(watched)
        ours = Counter(s.nbytes for s in report.trace.storages if s.born is not None and s.nbytes)
        frame = report.to_frame("ops")
        figures = (
            sum(ours.values()),
            total(ours),
            int(frame["allocated_bytes"].sum()),
            total(seen.sizes),
            total(seen.scratch),
            total(seen.numbers),
            total(seen.sizes) - total(seen.scratch) - total(seen.numbers) - int(frame["allocated_bytes"].sum()),
            seen.net - int(frame["net_bytes"].sum()),
            seen.peak - (int(frame["peak_bytes"].max()) - older(report)),
        )
        print(f"{name:20}" + "".join(f"{figure:16,}" for figure in figures))


def older(report: Any) -> int:
    """Bytes that were alive when the watch began."""
    return sum(s.nbytes for s in report.trace.storages if s.born is None and s.born_op is None and not s.foreign)


def total(sizes: Counter[int]) -> int:
    """Bytes of all blocks."""
    return sum(size * count for size, count in sizes.items())


if __name__ == "__main__":
    main()
