"""Four more things that any dispatch mode changes, ours as well as an empty one; listed in ``docs/no-harm.md``."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._mode_utils import no_dispatch

import inplace_magic
from tests.empty_modes import EmptyDispatchMode, EmptyFunctionMode

Around = Callable[[], AbstractContextManager[Any]]
AS_PLAIN = [
    pytest.param(nullcontext, id="plain"),
    pytest.param(EmptyFunctionMode, id="empty function mode"),
    pytest.param(inplace_magic.watch, id="calls"),
]
AS_EMPTY = [
    pytest.param(EmptyDispatchMode, id="empty dispatch mode"),
    pytest.param(partial(inplace_magic.watch, level="ops"), id="ops"),
]


def is_a_sparse_gradient_taken_over() -> bool:
    """Whether one of two leaves gets the very memory that a custom ``backward`` was given and handed on."""
    given = []

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return one + other

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            given.append((gradient._values().data_ptr(), gradient.to_dense()))
            return gradient, gradient

    one, other = torch.randn(10, 3, requires_grad=True), torch.randn(10, 3, requires_grad=True)
    table = Sum.apply(one, other)
    rows, bags = torch.tensor([1, 2, 2, 5]), torch.tensor([0, 2])
    torch.nn.functional.embedding_bag(rows, table, bags, sparse=True).sum().backward(retain_graph=True)
    assert one.grad is not None
    assert other.grad is not None
    assert torch.equal(one.grad.to_dense(), given[0][1])
    assert torch.equal(other.grad.to_dense(), given[0][1])
    return given[0][0] in (one.grad._values().data_ptr(), other.grad._values().data_ptr())


@pytest.mark.parametrize("around", AS_PLAIN)
def test_a_sparse_gradient_is_taken_over(around: Around) -> None:
    with around():
        assert is_a_sparse_gradient_taken_over()


@pytest.mark.parametrize("around", AS_EMPTY)
def test_a_sparse_gradient_is_copied_under_any_dispatch_mode(around: Around) -> None:
    with around():
        assert not is_a_sparse_gradient_taken_over()


class Reentrant(torch.Tensor):
    """Runs a differentiable operation inside its own ``__torch_dispatch__``."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket is torch.ops.aten.alias:
            with torch.overrides.enable_reentrant_dispatch():
                assert torch.rand(1, requires_grad=True).exp().grad_fn is not None
        with no_dispatch():
            return func(*args, **(kwargs or {}))


def dual() -> torch.Tensor:
    primal = torch.Tensor._make_subclass(Reentrant, torch.tensor(1.0))
    with forward_ad.dual_level():
        forward_ad.make_dual(primal, torch.tensor(2.0))
    return primal


@pytest.mark.parametrize("around", AS_PLAIN)
def test_a_dual_number_of_a_subclass_that_enters_dispatch_again_is_made(around: Around) -> None:
    with around():
        assert type(dual()) is Reentrant


@pytest.mark.parametrize("around", AS_EMPTY)
def test_a_dual_number_of_a_subclass_that_enters_dispatch_again_raises_under_any_dispatch_mode(around: Around) -> None:
    with around(), pytest.raises(RuntimeError, match="Hit Python dispatch key"):
        dual()


def profiled() -> Counter[tuple[str, bool]]:
    """How often the profiler tells each operator, with a sequence number and without."""
    with torch.autograd.profiler.profile(use_kineto=True) as profile:
        x, y = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
        (x + y).sum().backward()
    return Counter((event.name, event.sequence_nr >= 0) for event in profile.function_events)


@pytest.mark.parametrize("around", AS_PLAIN)
def test_the_profiler_counts_each_operator_once(around: Around) -> None:
    with around():
        seen = profiled()
    assert seen == profiled()
    assert (seen["aten::add", True], seen["aten::add", False]) == (1, 0)


@pytest.mark.parametrize("around", AS_EMPTY)
def test_the_profiler_counts_operators_twice_under_any_dispatch_mode(around: Around) -> None:
    with around():
        seen = profiled()
    more = seen - profiled()
    assert not profiled() - seen
    assert not any(numbered for _, numbered in more)  # the second entry of an operator has no sequence number
    assert (seen["aten::add", True], seen["aten::add", False]) == (1, 1)
    assert more["PythonDispatchMode", False] > 0


def through_a_kernel_for_the_cpu_alone(mode: str) -> tuple[bool, bool, int]:
    """Whether the result of an operator without a derivative of its own, whose body is differentiable, requires grad;
    whether the gradient came; and how many warnings."""
    before = torch._C._get_autograd_fallback_mode()
    torch._C._set_autograd_fallback_mode(mode)
    library = torch.library.Library("inplace_magic_for_the_cpu", "FRAGMENT")
    try:
        library.define("copied(Tensor self) -> Tensor")
        library.impl("copied", lambda x: x.clone(), "CPU")
        x = torch.ones(3, requires_grad=True)
        result = torch.ops.inplace_magic_for_the_cpu.copied.default(x)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if result.requires_grad:
                result.sum().backward()
        return result.requires_grad, x.grad is not None, len(told)
    finally:
        torch._C._set_autograd_fallback_mode(before)
        library._destroy()


@pytest.mark.parametrize("around", AS_PLAIN)
def test_an_operator_for_the_cpu_alone_is_differentiated_by_its_body(around: Around) -> None:
    with around():
        assert through_a_kernel_for_the_cpu_alone("nothing") == (True, True, 0)
        assert through_a_kernel_for_the_cpu_alone("warn") == (True, True, 1)


@pytest.mark.parametrize("around", AS_EMPTY)
def test_an_operator_for_the_cpu_alone_has_no_gradient_under_any_dispatch_mode(around: Around) -> None:
    with around():
        assert through_a_kernel_for_the_cpu_alone("nothing") == (False, False, 0)
        assert through_a_kernel_for_the_cpu_alone("warn") == (True, False, 1)
