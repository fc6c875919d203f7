"""A watch never waits for the GPU: a watched training step on CUDA has no synchronisation that the step has not.

``torch.cuda.set_sync_debug_mode`` makes PyTorch raise or warn at each operation that synchronises
(https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html). It does not know of all of them,
but of those that reading a tensor's values would be: ``item``, ``tolist``, copies to the CPU.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import torch
from on_device import LEVELS, needs_gpu, trainer, watched
from torch import nn
from torch.profiler import ProfilerActivity, profile

pytestmark = needs_gpu
at_every_level = pytest.mark.parametrize("level", [*LEVELS, "writes"])


@pytest.fixture
def step() -> Callable[[], None]:
    """A step without any synchronisation of its own, warmed up: with small tensors, in-place writes, statistics that
    no version counts, and saved tensors small enough to be digested if they were on the CPU."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 2)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(4, 8, device="cuda")
    weight = torch.ones(2, device="cuda")

    def run() -> None:
        optimizer.zero_grad()
        out = model(x)
        out[:, 0] = 0
        (out * weight).square().mean().backward()
        weight.mul_(0.9)
        optimizer.step()

    run()
    torch.cuda.synchronize()
    return run


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    mode = torch.cuda.get_sync_debug_mode()
    yield
    torch.cuda.set_sync_debug_mode(mode)


@at_every_level
def test_a_watched_step_runs_where_synchronising_is_an_error(step: Callable[[], None], level: str) -> None:
    torch.cuda.set_sync_debug_mode("error")
    step()
    assert watched(step, level).calls or level == "writes"


@at_every_level
def test_no_synchronisation_of_ours_is_tried_and_its_error_swallowed(step: Callable[[], None], level: str) -> None:
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        watched(step, level)
    assert [str(warning.message) for warning in caught if "synchroniz" in str(warning.message)] == []


@at_every_level
def test_the_profiler_counts_as_many_waits_and_copies_to_the_host_as_unwatched(level: str) -> None:
    _model, step = trainer("GPT block", lambda parameters: torch.optim.AdamW(parameters, 1e-3, fused=True))

    def counted(run: Callable[[], object]) -> Counter[str]:
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            run()
        kinds = ("Synchronize", "DtoH", "cudaMalloc", *([] if level == "ops" else ["cudaLaunchKernel"]))
        return Counter(kind for event in seen.events() for kind in kinds if kind in event.name)

    for _ in range(2):
        step()
        watched(step, level)
    plain, again, seen = counted(step), counted(step), counted(lambda: watched(step, level))
    assert plain != again or seen == plain
