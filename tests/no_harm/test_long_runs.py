"""A watch that goes on for long, and many watches one after the other, need bounded memory and leave nothing behind."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from cells import run_cell
from no_harm.leaks import Nodes, count
from programs.score import unshown

import inplace_magic
from inplace_magic.capture.past import forgetting
from inplace_magic.record.options import WatchOptions
from inplace_magic.source import expressions

LOOP = """
    import json
    import tracemalloc
    import torch
    import inplace_magic

    def held():
        return tracemalloc.get_traced_memory()[0]

    torch.set_num_threads(1)
    x = torch.ones(4, requires_grad=True)
    total = torch.zeros(4)
    with inplace_magic.watch(level=LEVEL):  # what torch and we load at the first call is no call's
        torch.sigmoid(x).detach().add_(1)[1:]
    tracemalloc.start()
    seen = {0: held()}
    with inplace_magic.watch(level=LEVEL, max_events=BOUND) as w:
        for step in range(CALLS // 5):
            hidden = torch.sigmoid(x)
            total.add_(hidden.detach())
            view = total[1:]
            view *= 0.5
            if 5 * (step + 1) % (BOUND // 10) == 0:
                seen[5 * (step + 1)] = held()
        outside = total.clone()
    tracemalloc.stop()
    report = w.report
    print(json.dumps({
        "seen": seen,
        "calls": len(report.calls),
        "blindness": report.blindness,
        "faults": report.faults,
        "finite": bool(outside.isfinite().all()),
        "text": len(report.to_text()),
        "ops": len(report.trace.ops),
    }))
"""


@pytest.mark.parametrize(
    ("level", "bound", "calls", "bytes_a_call"), [("calls", 10_000, 30_000, 400), ("ops", 10_000, 30_000, 600)]
)
def test_past_the_bound_a_loop_needs_no_more_memory_and_the_report_says_so(
    level: str, bound: int, calls: int, bytes_a_call: int
) -> None:
    figures = in_a_process(LOOP, LEVEL=level, BOUND=bound, CALLS=calls)

    # Traced by Python, not asked of the system: how soon that gives pages back differs from machine to machine.
    # It comes and goes as calls are forgotten: the least of one half of what follows stands beside that of the other.
    seen = {int(key): held for key, held in figures["seen"].items()}
    start, at_bound, middle = seen[0], seen[bound], (bound + calls) // 2
    early, late = (min(seen[key] for key in seen if first < key <= first + middle - bound) for first in (bound, middle))
    print(
        f"level {level}: {(at_bound - start) / bound:.0f} bytes a call up to {bound:,} calls, then at least {early:,} "
        f"bytes up to {middle:,} calls and {late:,} up to {calls:,}"
    )
    assert figures["faults"] == []
    assert figures["finite"]
    assert bound / 2 <= figures["calls"] <= bound + 100  # forgetting keeps what the last lines still need
    assert (at_bound - start) / bound < bytes_a_call
    assert late - early < (at_bound - start) / 4
    assert max(seen.values()) < 4 * at_bound
    assert [line for line in figures["blindness"] if f"{bound:,}" in line]
    assert figures["text"] < 100_000


def test_a_graph_that_is_alive_as_a_whole_is_kept_without_looking_at_all_of_it_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing of it may be forgotten, since a backward needs it all; so it must not be searched at every call."""
    looked_at = 0
    true_kept_calls = forgetting.kept_calls

    def counting(calls: list[Any], *more: Any) -> list[Any]:
        nonlocal looked_at
        looked_at += len(calls)
        return true_kept_calls(calls, *more)

    monkeypatch.setattr(forgetting, "kept_calls", counting)
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch(max_events=100) as w:
        product = x
        for _ in range(2000):
            product = product * x
        torch.autograd.backward([product.sum()])

    assert w.report is not None
    assert w.report.faults == []
    assert looked_at < 20_000


def test_the_default_bound_is_the_one_that_is_tested() -> None:
    assert WatchOptions().max_events == 100_000


CELL = """\
%%inplace_watch -o report
w = torch.rand(4, 4, requires_grad=True)
h = torch.sigmoid(w @ w)
mark(h)
h[0] += 1
views = [h.view(-1), h.t(), h.detach()]
with torch.no_grad():
    w -= 0.1
torch.ones(3).numpy()[0] = 5
try:
    h.sum().backward()
except RuntimeError:
    pass
(w * w).sum().backward()
"""
PLAIN_CELL = CELL.split("\n", 1)[1]


@pytest.fixture
def _traced() -> Iterator[None]:
    gc.unfreeze()  # what other tests left may die at any moment, and is not what is counted here
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("_traced")
@pytest.mark.parametrize(("level", "seen"), [("calls", nullcontext), ("ops", unshown)], ids=["calls", "ops"])
def test_fifty_watched_cells_leave_nothing_behind(loaded_shell: Any, level: str, seen: Any) -> None:
    """Nor do their pages, which are the same code at both levels, and are made at one."""
    nodes = Nodes()
    names = loaded_shell.user_ns
    names.update(torch=torch, mark=nodes.mark)
    cell = CELL.replace("-o report", f"-o report --level {level}")

    def run(text: str, times: int) -> None:
        for _ in range(times):
            ran = run_cell(loaded_shell, text, store_history=False)
            assert ran.error is None
        if text is cell:
            assert names["report"].faults == []
        for name in ("w", "h", "views", "report"):
            names.pop(name, None)

    with seen():
        run(PLAIN_CELL, 3)
        run(cell, 20)
        before = count(nodes)
        run(cell, 50)
        after = count(nodes)

    print(f"level {level}: Python's memory grew by {after.python_bytes - before.python_bytes:,} bytes over 50 cells")
    assert nodes.marked() >= 60
    assert (before.nodes, after.nodes) == (0, 0)
    assert (after.tensors, after.storages) == (before.tensors, before.storages)
    assert after.ours == before.ours
    assert after.modes == before.modes
    assert after.python_bytes - before.python_bytes < 128 * 1024


def test_a_watch_that_is_over_holds_no_tensor_though_its_report_is_kept() -> None:
    nodes = Nodes()
    tracemalloc.start()
    try:
        before = count(nodes)
        reports = []
        for _ in range(5):
            with inplace_magic.watch() as w:
                x = torch.rand(1000, requires_grad=True)
                y = torch.sigmoid(x)
                nodes.mark(y)
                y.mul_(2)
            reports.append(w.report)
        del x, y
        after = count(nodes)
    finally:
        tracemalloc.stop()

    assert len(reports) == 5
    assert (after.tensors, after.storages, after.nodes) == (before.tensors, before.storages, 0)


def test_what_is_remembered_of_source_texts_is_bounded() -> None:
    assert (expressions.parse.cache_info().maxsize or 10**9) <= 4096


def in_a_process(program: str, **settings: Any) -> dict[str, Any]:
    """Runs a program that prints one JSON object in a Python of its own, with those names set; gives the object."""
    head = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
    ran = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert ran.returncode == 0, ran.stderr
    figures: dict[str, Any] = json.loads(ran.stdout)
    return figures
