"""One thread of PyTorch's own, so that sums are added in one order, and the garbage collector's thresholds that a
user's program has; both as they were before, afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True, scope="module")
def _collected_as_in_a_users_process(pythons_rounds: tuple[int, int, int]) -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*pythons_rounds)
    yield
    gc.set_threshold(*before)
