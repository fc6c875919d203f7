"""Level ``ops`` counts the writes of every operator that writes a list of tensors as PyTorch does."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch

import inplace_magic
from tests.empty_modes import EmptyDispatchMode


def list_writers() -> dict[str, Any]:
    """By name, the operators of ATen whose schema writes a list."""
    found = {}
    for full in torch._C._dispatch_get_all_op_names():
        space, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        if space != "aten":
            continue
        op = getattr(getattr(torch.ops.aten, name), overload or "default", None)
        if op is not None and any(_writes_list(argument) for argument in op._schema.arguments):
            found[full] = op
    return found


def _is_written(argument: Any) -> bool:
    return argument.alias_info is not None and bool(argument.alias_info.is_write)


def _writes_list(argument: Any) -> bool:
    return _is_written(argument) and isinstance(argument.type, torch.ListType)


def _sample(kind: str, shape: tuple[int, ...]) -> Any:
    samples: dict[str, Any] = {
        "Tensor": torch.full(shape, 0.5),
        "List[Tensor]": [torch.full((2, 2), 0.5)],
        "List[int]": [1],
        "List[number]": [0.5],
        "List[float]": [0.5],
        "number": 0.5,
        "float": 0.5,
        "int": 1,
        "bool": False,
        "str": "none",
    }
    return None if kind.startswith("Optional") else samples[kind]


def versions(op: Any, shape: tuple[int, ...], around: Callable[[], AbstractContextManager[Any]]) -> list[int]:
    """How far one run moves the versions of what the schema writes. A first run gives each ``out`` its size."""
    args, kwargs, written = [], {}, []
    for argument in op._schema.arguments:
        if argument.has_default_value() and not _is_written(argument):
            continue
        value = _sample(str(argument.type), shape)
        if _is_written(argument):
            written += value if isinstance(value, list) else [value]
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    op(*args, **kwargs)
    before = [tensor._version for tensor in written]
    with around():
        op(*args, **kwargs)
    return [tensor._version - start for tensor, start in zip(written, before, strict=True)]


def test_every_operator_that_writes_a_list_counts_as_unwatched() -> None:
    wrong, compared, empty_differs = {}, set(), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, op in list_writers().items():
            for shape in ((), (1,), (2, 2), (2,)):
                try:
                    plain = versions(op, shape, nullcontext)
                except (RuntimeError, IndexError, KeyError):
                    continue  # not for the CPU, or this is no sample for it
                compared.add(name)
                watched = versions(op, shape, lambda: inplace_magic.watch(level="ops"))
                if watched != plain:
                    wrong[name] = (plain, watched)
                if versions(op, shape, EmptyDispatchMode) != plain:
                    empty_differs.add(name)
                break
    assert wrong == {}
    assert len(compared) >= 120
    assert len(empty_differs) >= 100
    assert "aten::_amp_foreach_non_finite_check_and_unscale_" in compared - empty_differs
    assert any(name.endswith("out") for name in empty_differs)


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_scaler_that_unscales_leaves_the_versions_of_gradients_as_unwatched(level: str) -> None:
    def run() -> int:
        gradient = torch.ones(3)
        torch._amp_foreach_non_finite_check_and_unscale_([gradient], torch.zeros(1), torch.ones(1))
        return gradient._version

    plain = run()
    with inplace_magic.watch(level=level):
        assert run() == plain == 0


@torch.library.custom_op("inplace_magic_tests::add_one", mutates_args=("x",))
def add_one(x: torch.Tensor) -> None:
    x.add_(1)


def test_a_custom_operators_own_writes_are_counted_as_without_a_watch() -> None:
    """Under a dispatch mode PyTorch runs the body below the layer that counts; level ``ops`` makes up for that."""

    def run() -> int:
        x = torch.ones(3)
        add_one(x)
        return x._version

    assert run() == 2
    with EmptyDispatchMode():
        assert run() == 1
    with inplace_magic.watch(level="ops"):
        assert run() == 2
    with inplace_magic.watch():
        assert run() == 2


def _scaled_and_counted(tensors: list[torch.Tensor], factor: float) -> None:
    """As the fast kernels for CUDA: writes below the layer that counts, and then counts by itself."""
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView)):
        for tensor in tensors:
            tensor.mul_(factor)
    for tensor in tensors:
        torch.autograd.graph.increment_version(tensor)


def test_a_kernel_that_counts_by_itself_is_not_counted_again() -> None:
    def run() -> tuple[int, list[float]]:
        x = torch.ones(3)
        torch._foreach_mul_([x], 0.5)
        return x._version, x.tolist()

    with warnings.catch_warnings(), torch.library._scoped_library("aten", "IMPL") as library:
        warnings.simplefilter("ignore")  # a kernel is replaced, which is what this is for
        library.impl("_foreach_mul_.Scalar", _scaled_and_counted, "CPU")
        plain = run()
        with inplace_magic.watch(level="ops"):
            assert run() == plain == (1, [0.5] * 3)
    with inplace_magic.watch(level="ops"):
        assert run() == plain, "and the kernel of torch's own leaves it to the mode"


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_tensor_that_stands_twice_in_a_list_is_counted_twice(level: Any) -> None:
    def run() -> int:
        x = torch.ones(3)
        torch._foreach_mul_([x, x], 0.5)
        return x._version

    plain = run()
    with inplace_magic.watch(level=level):
        assert run() == plain == 2
