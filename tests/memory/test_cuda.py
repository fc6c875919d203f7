"""The allocator's own account, on a machine with a GPU."""

from __future__ import annotations

import pytest
import torch
from memory.models import MODELS

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

    for view in ("memory", "lines"):
        frame = watch.report.to_frame(view)
        assert frame[frame["device"] == "cuda:0"]["net_bytes"].sum() == change


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
def test_the_watched_peak_is_the_unwatched_peak(name, level):
    step = step_on_gpu(name)
    torch.cuda.reset_peak_memory_stats()
    step()
    plain = torch.cuda.max_memory_allocated()

    torch.cuda.reset_peak_memory_stats()
    with inplace_magic.watch(level=level):
        step()

    assert torch.cuda.max_memory_allocated() == plain
