"""Values that are asked for after a watch: read without touching the tensor, or not at all."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
import torch

import inplace_magic
from inplace_magic.capture.live import FIRST, WeakTensors


def test_reading_changes_neither_version_nor_gradient_nor_graph() -> None:
    x = torch.arange(4.0, requires_grad=True)
    y = x * 2
    before = (x._version, y._version, y.grad_fn, torch.is_grad_enabled())
    live = WeakTensors([(1, x), (2, y)])
    found = live.values(2)
    assert found is not None
    assert (found.first, found.smallest, found.largest, found.version) == ((0, 2, 4, 6), 0, 6, 0)
    assert (x._version, y._version, y.grad_fn, torch.is_grad_enabled()) == before
    y.sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (lambda: torch.tensor(3.0), (3.0,)),
        (lambda: torch.tensor([], dtype=torch.int64), ()),
        (lambda: torch.arange(6).reshape(2, 3).t(), (0, 3)),
        (lambda: torch.tensor([True, False]), (True, False)),
        (lambda: torch.arange(100), tuple(range(FIRST))),
        (lambda: torch.zeros(2, 0, 3).transpose(0, 2), ()),
    ],
)
def test_the_first_elements_are_given(make: Callable[[], torch.Tensor], first: tuple[float, ...]) -> None:
    tensor = make()
    found = WeakTensors([(1, tensor)]).values(1)
    assert found is not None
    assert found.first == first


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2).to_sparse(),
        lambda: torch.ones(2, device="meta"),
        lambda: torch.ones(2, dtype=torch.complex64),
    ],
    ids=["sparse", "meta", "complex"],
)
def test_what_cannot_be_read_plainly_is_unknown(make: Callable[[], torch.Tensor]) -> None:
    tensor = make()
    assert WeakTensors([(1, tensor)]).values(1) is None


def test_nothing_is_read_while_a_watch_runs_which_would_record_it() -> None:
    x = torch.ones(2)
    live = WeakTensors([(1, x)])
    with inplace_magic.watch() as w:
        assert live.values(1) is None
    assert w.report is not None
    assert w.report.calls == []
    assert live.values(1) is not None


def test_a_pickle_carries_no_tensor() -> None:
    x = torch.ones(2)
    assert pickle.loads(pickle.dumps(WeakTensors([(1, x)]))).values(1) is None
