"""One thread of PyTorch's own, so that sums are added in one order, and the previous number afterwards."""

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


@pytest.fixture
def cheap_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds nothing for accelerators that are not there. For each of them ``torch.manual_seed`` puts a call by with the
    whole stack as text, and below pytest that takes longer than what is seeded."""
    for device in (torch.cuda, torch.xpu, torch.mtia):
        if not device.is_available():
            monkeypatch.setattr(device, "manual_seed_all", lambda seed: None)


@pytest.fixture(autouse=True, scope="module")
def _imported_objects_are_not_walked_again() -> None:
    """They are, here: what a watch finds by the garbage collector is part of what is tested, and that passes over what
    is frozen; see the fixture of that name in ``tests/conftest.py``."""
    gc.unfreeze()
