"""Threads and processes that a script starts: the script runs as ever, and nobody who is innocent is blamed."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from situations.running import told

FAILING = """\
    probs = torch.sigmoid(torch.ones(3, requires_grad=True))
    probs *= 2
    probs.sum().backward()
"""
POOL = """\
import multiprocessing, sys, torch
def work(number):
{work}
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(work, [1]))
"""
METHODS = ["fork", "spawn"] if hasattr(os, "fork") else ["spawn"]


@pytest.mark.parametrize("method", METHODS)
def test_the_error_of_a_pool_s_process_is_blamed_on_no_line_of_this_one(tmp_path: Path, method: str) -> None:
    plain, said = told(tmp_path, POOL.format(work=FAILING), method)
    assert plain.returncode == 1
    assert "comes from code outside the watch, such as a process or a thread" in said
    assert "was overwritten by" not in said
    assert "put `with inplace_magic.watch():` into the function that runs there" in said


@pytest.mark.parametrize("method", METHODS)
def test_of_work_that_a_pool_did_nothing_is_called_right(tmp_path: Path, method: str) -> None:
    _, said = told(tmp_path, POOL.format(work="    return (torch.ones(3) * number).sum().item()"), method)
    assert "Nothing was judged: no torch call was seen; the work may have run in 1 process" in said
    assert "✓" not in said


@pytest.mark.skipif(importlib.util.find_spec("joblib") is None, reason="joblib is not installed")
def test_of_work_that_joblib_did_nothing_is_called_right(tmp_path: Path) -> None:
    _, said = told(
        tmp_path,
        "import joblib, math, torch\n"
        "print(sum(joblib.Parallel(n_jobs=2)(joblib.delayed(math.sqrt)(n) for n in range(4))))\n",
    )
    assert "the work may have run in" in said
    assert "✓" not in said


THREADS = f"""\
import torch
from concurrent.futures import ThreadPoolExecutor
def work(number):
{FAILING}
with ThreadPoolExecutor(1) as pool:
    list(pool.map(work, [1]))
"""


def test_the_error_of_a_pool_s_thread_is_blamed_on_no_line_of_this_one(tmp_path: Path) -> None:
    plain, said = told(tmp_path, THREADS)
    assert plain.returncode == 1
    assert "such as a process or a thread that the watched lines started" in said
    assert "was overwritten by" not in said


ARRAY = """\
import threading, time, torch
import numpy as np
array = np.ones(2, dtype=np.float32)
weight = torch.ones(2, requires_grad=True)
go = threading.Event()
def fill():
    go.wait()
    array.fill(5)
worker = threading.Thread(target=fill)
worker.start()
product = torch.from_numpy(array) * weight
go.set()
time.sleep(0.6)
worker.join()
product.sum().backward()
print(weight.grad.tolist())
"""


def test_a_line_that_waits_while_a_thread_writes_through_numpy_is_not_blamed(tmp_path: Path) -> None:
    plain, said = told(tmp_path, ARRAY)
    assert (plain.stdout, plain.stderr) == ("[5.0, 5.0]\n", ""), "wrong, and PyTorch says nothing"
    assert "overwritten between two torch calls, while another Python thread was running" in said
    assert "sleep" not in said


LOADER = """\
import sys, torch
class Modes(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return torch.tensor([len(torch.overrides._get_current_function_mode_stack()), "inplace_magic" in sys.modules])
if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Modes(), num_workers=1, multiprocessing_context=sys.argv[1])
    modes, ours = zip(*(batch[0].tolist() for batch in loader))
    print(modes, ours if sys.argv[1] == "spawn" else "")
"""


@pytest.mark.parametrize("method", METHODS)
def test_the_workers_of_a_loader_are_not_watched(tmp_path: Path, method: str) -> None:
    plain, said = told(tmp_path, LOADER, method)
    assert plain.stdout.startswith("(0, 0) "), "no mode is on there, watched as unwatched"
    assert "Traceback" not in said
