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

from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile


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


def allocations(run: Callable[[], Any]) -> tuple[Allocations, Any]:
    """Runs something under the profiler; gives what was allocated, and its result."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = run()
    found = Allocations()
    open_blocks: dict[int, tuple[int, tuple[int, ...]]] = {}
    events = list(_memory_events(profiler.profiler.kineto_results.experimental_event_tree(), ()))
    for _, pointer, size, operators in sorted(events, key=lambda event: event[0]):
        if size > 0:
            found.sizes[size] += 1
            found.kept += size
            open_blocks[pointer] = (size, operators)
        elif pointer in open_blocks:
            made, makers = open_blocks.pop(pointer)
            found.kept -= made
            if not makers:
                found.numbers[made] += 1
            elif makers[-1] in operators:
                found.scratch[made] += 1
    return found, result


def _memory_events(nodes: list[Any], operators: tuple[int, ...]) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """(time, address, bytes, dispatched operators that were running, the outermost first) of each block made or
    freed."""
    for node in nodes:
        if node.tag == _EventType.Allocation:
            fields = node.extra_fields
            yield node.start_time_ns, fields.ptr, fields.alloc_size, operators
        dispatched = node.tag == _EventType.TorchOp and node.name == "PythonDispatchMode"
        inside = (*operators, node.correlation_id) if dispatched else operators
        yield from _memory_events(node.children, inside)


def main() -> None:
    """Prints one row for each model."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from memory.models import MODELS, step_of

    import inplace_magic

    head = f"{'model':20} {'storages':>9} {'ours, B':>12} {'rows, B':>12} {'not in profiler, B':>19}"
    print(f"{head} {'scratch, B':>12} {'numbers, B':>11} {'residual, B':>12}")
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
        rows = int(report.to_frame("ops")["allocated_bytes"].sum())
        rest = seen.sizes - ours - seen.scratch - seen.numbers
        print(
            f"{name:20} {sum(ours.values()):9} {total(ours):12,} {rows:12,} {total(ours - seen.sizes):19} "
            f"{total(seen.scratch):12,} {total(seen.numbers):11} {total(rest):12}"
        )


def total(sizes: Counter[int]) -> int:
    """Bytes of all blocks."""
    return sum(size * count for size, count in sizes.items())


if __name__ == "__main__":
    main()
