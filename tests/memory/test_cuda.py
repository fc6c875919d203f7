"""The allocator's own account, on a machine with a GPU."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import pytest
import torch
from memory.models import MODELS
from memory.oracle import PassesOn

import inplace_magic

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
LEVELS = ("calls", "ops")


def step_on_gpu(name: str):
    make, shape = MODELS[name]
    torch.manual_seed(0)
    model, x = make().cuda(), torch.randn(shape, device="cuda")

    def step() -> None:
        model(x).square().mean().backward()
        model.zero_grad()

    step()
    torch.cuda.synchronize()
    return step


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
def test_the_rows_sum_to_the_change_of_memory_allocated(name, level):
    make, shape = MODELS[name]
    before = torch.cuda.memory_allocated()
    with inplace_magic.watch(level=level) as watch:
        model, x = make().cuda(), torch.randn(shape, device="cuda")
        model(x).square().mean().backward()
    change = torch.cuda.memory_allocated() - before

    for view in ("memory", "lines", *(["ops"] if level == "ops" else [])):
        frame = watch.report.to_frame(view)
        assert frame[frame["device"] == "cuda:0"]["net_bytes"].sum() == change


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
def test_the_watched_peak_is_the_unwatched_peak(name, level):
    """At level `ops` that of a run under an empty dispatch mode: with any mode, PyTorch copies some gradients."""
    step = step_on_gpu(name)
    torch.cuda.reset_peak_memory_stats()
    with PassesOn() if level == "ops" else nullcontext():
        step()
    plain = torch.cuda.max_memory_allocated()

    torch.cuda.reset_peak_memory_stats()
    with inplace_magic.watch(level=level):
        step()

    assert torch.cuda.max_memory_allocated() == plain


FIRST_USE = """
import torch, inplace_magic
with inplace_magic.watch(level={level!r}) as watch:
    x = torch.randn(64, 64, device="cuda")
    y = x @ x
frame = watch.report.to_frame("memory")
assert watch.report.faults == []
assert frame["net_bytes"].sum() == torch.cuda.memory_allocated()
results = frame[~frame["name"].str.startswith("memory of no tensor")]
assert results["allocated_bytes"].sum() == 2 * 64 * 64 * 4, frame.to_string()
"""


@pytest.mark.parametrize("level", LEVELS)
def test_the_first_use_of_a_gpu_is_in_the_sum_and_the_workspace_on_a_row_of_its_own(level):
    subprocess.run([sys.executable, "-c", FIRST_USE.format(level=level)], check=True, timeout=120)


def test_cuda_is_not_initialised_by_a_watch():
    code = "import torch, inplace_magic\nwith inplace_magic.watch(): torch.ones(2) + 1\n"
    check = "assert not torch.cuda.is_initialized() and not torch.cuda._is_in_bad_fork()"
    subprocess.run([sys.executable, "-c", code + check], check=True, timeout=120)
