"""A watch that goes on for long, and many watches one after the other, need bounded memory and leave nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from no_harm.leaks import EACH_BY_MALLOC, Nodes, count

import inplace_magic
from inplace_magic.capture.past import room
from inplace_magic.capture.past.packed import Packed
from inplace_magic.record.options import WatchOptions
from inplace_magic.source import expressions

LOOP = """
    import gc
    import json
    import torch
    import inplace_magic
    from no_harm.leaks import bytes_in_use

    def figures(level):
        x = torch.ones(4, requires_grad=True)
        total = torch.zeros(4)
        with inplace_magic.watch(level=level):  # what torch and we load at the first call is no call's
            torch.sigmoid(x).detach().add_(1)[1:]
        gc.collect()
        seen = {0: bytes_in_use()}
        with inplace_magic.watch(level=level, max_events=BOUND) as w:
            for step in range(CALLS // 5):
                hidden = torch.sigmoid(x)
                total.add_(hidden.detach())
                view = total[1:]
                view *= 0.5
                if 5 * (step + 1) % (BOUND // 10) == 0:
                    seen[5 * (step + 1)] = bytes_in_use()
            outside = total.clone()
        report = w.report
        return {
            "seen": seen,
            "calls": len(report.calls),
            "blindness": report.blindness,
            "faults": report.faults,
            "finite": bool(outside.isfinite().all()),
            "text": len(report.to_text()),
        }

    torch.set_num_threads(1)
    print(json.dumps({level: figures(level) for level in ("calls", "ops")}))
"""
BOUND, CALLS = 10_000, 30_000


@cache
def loop_figures() -> dict[str, Any]:
    return in_a_process(LOOP, BOUND=BOUND, CALLS=CALLS)


@pytest.mark.parametrize(("level", "bytes_a_call"), [("calls", 400), ("ops", 600)])
def test_past_the_bound_a_loop_needs_no_more_memory_and_the_report_says_so(level: str, bytes_a_call: int) -> None:
    figures, bound, calls = loop_figures()[level], BOUND, CALLS

    # It comes and goes as calls are forgotten: the least of one half of what follows stands beside that of the other.
    seen = {int(key): held - figures["seen"]["0"] for key, held in figures["seen"].items()}
    at_bound, middle = seen[bound], (bound + calls) // 2
    early, late = (min(seen[key] for key in seen if first < key <= first + middle - bound) for first in (bound, middle))
    print(
        f"level {level}: {at_bound / bound:.0f} bytes a call up to {bound:,} calls, then at least {early:,} "
        f"bytes up to {middle:,} calls and {late:,} up to {calls:,}"
    )
    assert figures["faults"] == []
    assert figures["finite"]
    assert bound / 2 <= figures["calls"] <= bound + 100  # forgetting keeps what the last lines still need
    assert at_bound / bound < bytes_a_call
    assert late - early < at_bound / 4
    assert max(seen.values()) < 4 * at_bound
    assert [line for line in figures["blindness"] if f"{bound:,}" in line]
    assert figures["text"] < 100_000


def test_a_graph_that_is_alive_as_a_whole_is_kept_without_looking_at_all_of_it_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing of it may be forgotten, since a backward needs it all; so it must not be searched at every call."""
    looked_at = 0
    true_thin = room._thin_calls

    def counting(packed: Packed, *others: Any) -> Any:
        nonlocal looked_at
        looked_at += packed.count
        return true_thin(packed, *others)

    monkeypatch.setattr(room, "_thin_calls", counting)
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
%%inplace_watch -o report --level {level}
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
CELLS = """
    import json
    from contextlib import nullcontext

    import torch
    from cells import run_cell
    from IPython.core.interactiveshell import InteractiveShell
    from no_harm.leaks import Nodes, bytes_in_use, count
    from programs.score import unshown
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "inplace_magic")
    names, nodes = shell.user_ns, Nodes()
    names.update(torch=torch, mark=nodes.mark)

    def run(text, times):
        for _ in range(times):
            ran = run_cell(shell, text, store_history=False)
            assert ran.error is None
        if text.startswith("%%"):
            assert names["report"].faults == []
        for name in ("w", "h", "views", "report"):
            names.pop(name, None)

    def counted():
        return {**vars(count(nodes)), "bytes": bytes_in_use()}

    def figures(cell, seen):
        with seen():
            run(cell.split("\\n", 1)[1], 3)
            run(cell, 20)
            before = counted()
            run(cell, 50)
            return before, counted(), nodes.marked()

    print(json.dumps([figures(CELL.format(level=level), seen)
        for level, seen in (("calls", nullcontext), ("ops", unshown))]))
"""


@cache
def cell_figures() -> list[Any]:
    return in_a_process(CELLS, CELL=CELL)


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_fifty_watched_cells_leave_nothing_behind(level: str) -> None:
    """Nor do their pages, which are the same code at both levels, and are made at one."""
    before, after, marked = cell_figures()[["calls", "ops"].index(level)]
    grown = after.pop("bytes") - before.pop("bytes")

    print(f"level {level}: memory grew by {grown:,} bytes over 50 cells")
    assert marked >= 60
    assert (before["nodes"], after["nodes"]) == (0, 0)
    assert after == before
    assert grown < 128 * 1024


def test_a_watch_that_is_over_holds_no_tensor_though_its_report_is_kept() -> None:
    nodes = Nodes()
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

    assert len(reports) == 5
    assert (after.tensors, after.storages, after.nodes) == (before.tensors, before.storages, 0)


def test_what_is_remembered_of_source_texts_is_bounded() -> None:
    assert (expressions.parse.cache_info().maxsize or 10**9) <= 4096


def in_a_process(program: str, **settings: Any) -> Any:
    """Runs a program that prints JSON in a Python of its own, with those names set; gives what it prints."""
    head = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
    tests = Path(__file__).resolve().parents[1]
    paths = os.pathsep.join([str(tests), str(tests.parent)])
    ran = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": paths, **EACH_BY_MALLOC},
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
