"""``torch.utils.swap_tensors`` refuses tensors with a weak reference; those of a watch do not count, all others do."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn.utils import parametrizations, parametrize

import inplace_magic


@pytest.fixture(autouse=True)
def _swapping() -> Iterator[None]:
    torch.__future__.set_swap_module_params_on_conversion(True)
    yield
    torch.__future__.set_swap_module_params_on_conversion(False)


def converted() -> Any:
    net = torch.nn.Linear(2, 2)
    net(torch.ones(1, 2)).sum().backward()
    net.zero_grad()
    gc.collect()
    net.double()
    return [*net.parameters(), net(torch.ones(1, 2).double())]


def converted_with_gradients() -> Any:
    net = torch.nn.Linear(2, 2)
    net.weight.grad = torch.ones(2, 2)
    net.double()
    return [*net.parameters(), net.weight.grad]


def loaded() -> Any:
    net, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    net.load_state_dict(other.state_dict())
    net.load_state_dict(other.state_dict(), assign=True)
    return [*net.parameters()]


def parametrized() -> Any:
    net = parametrizations.spectral_norm(torch.nn.Linear(3, 3))
    net(torch.ones(1, 3)).sum()
    net.double()
    parametrize.remove_parametrizations(net, "weight")
    return [*net.parameters()]


def swapped() -> Any:
    one, other = torch.zeros(2), torch.ones(3, dtype=torch.float64)
    other.add_(1)
    torch.utils.swap_tensors(one, other)
    one.mul_(2)
    return [one, other, one._version, other._version]


def with_a_weak_reference_of_the_users() -> Any:
    net = torch.nn.Linear(2, 2)
    reference = weakref.ref(net.weight)
    try:
        net.double()
    except RuntimeError as error:
        cause = error.__cause__
        assert cause is not None
        return [str(error), str(cause), [at.name for at in traceback.extract_tb(cause.__traceback__)]]
    return reference


PROGRAMS: tuple[Callable[[], Any], ...] = (
    converted,
    converted_with_gradients,
    loaded,
    parametrized,
    swapped,
    with_a_weak_reference_of_the_users,
)


def told(values: list[Any]) -> list[Any]:
    """Plain facts of what a program gave."""
    return [
        (each.dtype, each.tolist(), each._version, each.requires_grad) if isinstance(each, torch.Tensor) else each
        for each in values
    ]


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_swaps_does_the_same_watched(program: Callable[[], Any], level: str) -> None:
    torch.manual_seed(0)
    plain = told(program())
    torch.manual_seed(0)
    with inplace_magic.watch(level=level) as watch:
        watched = told(program())
    assert watched == plain
    assert watch.report is not None
    assert watch.report.faults == []


def test_after_the_watch_its_report_stands_in_nobodys_way() -> None:
    net = torch.nn.Linear(2, 2)
    with inplace_magic.watch() as watch:
        net(torch.ones(1, 2)).sum().detach()
    gc.disable()
    try:
        net.double()
    finally:
        gc.enable()
    assert net.weight.dtype is torch.float64
    assert watch.report is not None


def test_what_is_recorded_after_a_swap_is_the_new_inside() -> None:
    one, other = torch.zeros(2), torch.ones(3, 3)
    with inplace_magic.watch() as watch:
        one.add_(1)
        other.sigmoid()
        torch.utils.swap_tensors(one, other)
        one.mul_(2)
    assert watch.report is not None
    first, second, third = watch.report.calls
    assert third.inputs[0].tensor == first.inputs[0].tensor
    assert third.inputs[0].shape == (3, 3)
    assert third.inputs[0].storage == second.inputs[0].storage
    assert third.inputs[0].counter == second.inputs[0].counter
    assert watch.report.trace.unseen == ()


def test_the_function_is_torchs_own_again_after_the_last_of_several_watches() -> None:
    own = torch.utils.swap_tensors
    inside, over = threading.Event(), threading.Event()

    def elsewhere() -> None:
        with inplace_magic.watch():
            inside.set()
            over.wait(60)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    inside.wait(60)
    with inplace_magic.watch():
        swapped()
    assert torch.utils.swap_tensors is not own
    swapped()
    over.set()
    thread.join()
    assert torch.utils.swap_tensors is own
