"""A copy-on-write tensor (``torch._lazy_clone``) shares memory until it is written; being looked at writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import inplace_magic

if not hasattr(torch._C, "_is_cow_tensor"):
    pytest.skip("this PyTorch cannot tell copy-on-write tensors", allow_module_level=True)
is_shared = torch._C._is_cow_tensor


def cloned(x: torch.Tensor) -> list[torch.Tensor]:
    return [x, torch._lazy_clone(x)]


def view_of_a_clone(x: torch.Tensor) -> list[torch.Tensor]:
    clone = torch._lazy_clone(x)
    return [x, clone, clone.view(2, 2), clone[1:]]


def clone_written(x: torch.Tensor) -> list[torch.Tensor]:
    clone = torch._lazy_clone(x)
    clone.add_(1)
    return [x, clone]


def original_written(x: torch.Tensor) -> list[torch.Tensor]:
    clone = torch._lazy_clone(x)
    x[0] = 7
    return [x, clone]


def backward_through_it(x: torch.Tensor) -> list[torch.Tensor]:
    leaf = x.requires_grad_()
    clone = torch._lazy_clone(leaf * 2)
    clone.sigmoid().sum().backward()
    assert leaf.grad is not None
    return [leaf, clone, leaf.grad]


def read_in_many_ways(x: torch.Tensor) -> list[torch.Tensor]:
    clone = torch._lazy_clone(x)
    torch.equal(clone, x)
    clone.tolist()
    clone.sum()
    str(clone)
    return [x, clone]


def saved_then_cloned(x: torch.Tensor) -> list[torch.Tensor]:
    leaf = torch.ones(4, requires_grad=True)
    product = leaf * x  # saves x, and what a small saved tensor holds is looked at again before a backward
    clone = torch._lazy_clone(x)
    product.sum().backward()
    return [x, clone]


def handed_to_numpy_then_cloned(x: torch.Tensor) -> list[torch.Tensor]:
    array = x.numpy()
    clone = torch._lazy_clone(x)
    (x + 1).sum()
    return [x, clone, torch.from_numpy(array.copy())]


def array_from_outside(x: torch.Tensor) -> list[torch.Tensor]:
    clone = torch._lazy_clone(x)
    array = torch.ones(3).numpy()
    return [x, clone, torch.from_numpy(array), torch.from_numpy(array)]


def made_before(x: torch.Tensor) -> list[torch.Tensor]:
    return [x, BEFORE[0], BEFORE[0].view(2, 2)]


BEFORE: list[torch.Tensor] = []
PROGRAMS: tuple[Callable[[torch.Tensor], Any], ...] = (
    cloned,
    view_of_a_clone,
    clone_written,
    original_written,
    backward_through_it,
    read_in_many_ways,
    saved_then_cloned,
    handed_to_numpy_then_cloned,
    array_from_outside,
    made_before,
)


@pytest.mark.parametrize("level", ["calls", "ops"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_shares_memory_is_the_same_plain_and_watched(program: Callable[[torch.Tensor], Any], level: str) -> None:
    def run() -> list[tuple[bool, list[Any]]]:
        BEFORE[:] = [torch._lazy_clone(torch.zeros(4))]
        return [(is_shared(each), each.detach().tolist()) for each in program(torch.arange(4.0))]

    plain = run()
    BEFORE[:] = [torch._lazy_clone(torch.zeros(4))]
    with inplace_magic.watch(level=level) as watch:
        found = program(torch.arange(4.0))
    watched = [(is_shared(each), each.detach().tolist()) for each in found]
    assert watched == plain
    assert watch.report is not None
    assert watch.report.faults == []


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_the_error_of_a_write_within_a_parallel_loop_still_comes(level: str) -> None:
    materialize = getattr(torch, "_test_parallel_materialize", None)
    if materialize is None:
        pytest.skip("this PyTorch has no such operator")

    def program() -> None:
        x = torch.tensor([0, 1, 2, 3])
        clone = torch._lazy_clone(x)
        assert is_shared(x)
        with pytest.raises(RuntimeError, match="Materializing a storage in the loop function of at::parallel_for"):
            materialize(clone, 4, False)

    program()
    with inplace_magic.watch(level=level):
        program()
