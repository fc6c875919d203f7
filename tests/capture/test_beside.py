"""What ran beside the watched code: threads and processes are counted, told, and no statement is blamed for them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import inplace_magic
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")


def nothing() -> None:
    torch.ones(2)


def thread() -> None:
    worker = threading.Thread(target=nothing)
    worker.start()
    worker.join()


def named_thread() -> threading.Thread:
    worker = threading.Thread(target=nothing, name="worker")
    worker.start()
    worker.join()
    return worker


def pool_of_threads() -> None:
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(abs, [1]))


def process() -> None:
    worker = multiprocessing.get_context("fork").Process(target=abs, args=(1,))
    worker.start()
    worker.join()


def pool_of_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        list(pool.map(abs, [1]))


def fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def loader() -> None:
    list(torch.utils.data.DataLoader([1, 2], num_workers=1, multiprocessing_context="fork"))  # type: ignore[arg-type]  # a list will do


def another_program() -> None:
    subprocess.run(["true"], check=True)


def idle_pool() -> None:
    """As libraries make one when they are imported, and torch does."""
    globals()["_POOL"] = ThreadPoolExecutor(1)


def trace_of(work: Callable[[], Any]) -> tuple[Trace, Report]:
    with inplace_magic.watch() as watched:
        _kept = work()
    assert watched.report is not None
    assert watched.report.faults == []
    return watched.report.trace, watched.report


@pytest.mark.parametrize(
    ("work", "started"),
    [
        (nothing, (0, 0)),
        (thread, (1, 0)),
        (named_thread, (1, 0)),
        (pool_of_threads, (1, 0)),
        pytest.param(process, (0, 1), marks=can_fork),
        pytest.param(pool_of_processes, (0, 1), marks=can_fork),
        pytest.param(fork, (0, 1), marks=can_fork),
        pytest.param(loader, (0, 1), marks=can_fork),
        pytest.param(another_program, (0, 0), marks=can_fork),
        (idle_pool, (0, 0)),
    ],
)
def test_threads_and_processes_that_the_code_started_are_counted_and_told(
    work: Callable[[], Any], started: tuple[int, int]
) -> None:
    trace, report = trace_of(work)
    assert trace.threads_started == started[0]
    told = "\n".join(report.blindness)
    assert ("started other Python threads (1 or more)" in told) == bool(started[0])
    assert ("started other processes (1 or more)" in told) == bool(started[1])
    assert Report.from_json(report.to_json()).trace == trace


def test_a_progress_bar_s_thread_is_none_of_the_user_s() -> None:
    tqdm = pytest.importorskip("tqdm")
    trace, _ = trace_of(lambda: list(tqdm.tqdm([1], disable=False)))
    assert trace.threads_started == 0


def test_of_a_thread_that_writes_through_numpy_no_line_of_this_thread_is_blamed() -> None:
    array = np.ones(2, dtype=np.float32)
    weight = torch.ones(2, requires_grad=True)
    go, done = threading.Event(), threading.Event()

    def fill() -> None:
        go.wait()
        array.fill(5)
        done.set()

    worker = threading.Thread(target=fill)
    with inplace_magic.watch() as watched:
        worker.start()
        product = torch.from_numpy(array) * weight
        pass_the_time(go, done)
        product.sum().backward()
    worker.join()
    assert weight.grad is not None
    assert weight.grad.tolist() == [5.0, 5.0]  # PyTorch says nothing, and the gradient of ones is not these
    assert watched.report is not None
    (foreign,) = watched.report.trace.foreign
    assert (foreign.callsite, foreign.beside) == (None, True)
    (hazard,) = [hazard for hazard in watched.report.hazards if hazard.code == "saved-values-changed"]
    assert "while another Python thread was running" in hazard.message
    assert hazard.mutation is None


def pass_the_time(go: threading.Event, done: threading.Event) -> None:
    """``time.sleep`` of the program in which this was found."""
    go.set()
    done.wait()


def test_without_other_threads_the_statement_is_still_named() -> None:
    alone = [sys.executable, "-c", "import test_beside; test_beside.name_the_statement()"]
    told = subprocess.run(alone, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells whether a thread ran")
def test_threads_that_waited_all_the_time_wrote_nothing() -> None:
    """After one ``torch.compile`` a thread of the compiler's waits for work until the process ends."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(nothing).result()
        time.sleep(0.5)  # it has given its result, and may still be on its way to wait for more
        name_the_statement()


def name_the_statement() -> None:
    array = np.ones(2, dtype=np.float32)
    weight = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watched:
        product = torch.from_numpy(array) * weight
        array.fill(5)
        product.sum().backward()
    assert watched.report is not None
    (foreign,) = watched.report.trace.foreign
    assert foreign.callsite is not None
    assert (foreign.callsite.text, foreign.beside) == ("array.fill(5)", False)


def test_a_thread_that_ran_when_the_block_began_counts_as_company_to_its_end() -> None:
    array = np.ones(2, dtype=np.float32)
    weight = torch.ones(2, requires_grad=True)
    go = threading.Event()
    worker = threading.Thread(target=lambda: go.wait() and array.fill(5))
    worker.start()
    with inplace_magic.watch() as watched:
        product = torch.from_numpy(array) * weight
        let_it_go(go, worker)
        product.sum().backward()
    assert watched.report is not None
    (foreign,) = watched.report.trace.foreign
    assert (foreign.callsite, foreign.beside, watched.report.trace.threads_started) == (None, True, 0)


def let_it_go(go: threading.Event, worker: threading.Thread) -> None:
    go.set()
    worker.join()
