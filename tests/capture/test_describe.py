"""Live objects become plain facts: whatever cannot be known is None, and nothing raises."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from capture.watching import LEVELS, call_of, report_of
from empty_modes import EmptyDispatchMode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef

import inplace_magic
from inplace_magic.capture.torch import describe, describe_memory, describe_nodes, unpacking
from inplace_magic.errors import error_text


class Logged(torch.Tensor):
    """A subclass that tells of every torch function that reaches it."""

    heard: list[str] = []  # noqa: RUF012  one list for all, emptied by the test

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.heard.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def _inference() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(2)


def _fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.ones(2)


ODD: dict[str, Callable[[], torch.Tensor]] = {
    "sparse": lambda: torch.eye(2).to_sparse(),
    "sparse csr": lambda: torch.eye(2).to_sparse_csr(),
    "meta": lambda: torch.ones(2, device="meta"),
    "inference": _inference,
    "fake": _fake,
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.strided),
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
    "complex": lambda: torch.ones(2, dtype=torch.complex64),
    "conjugated": lambda: torch.ones(2, dtype=torch.complex64).conj(),
    "empty": lambda: torch.empty(0),
    "subclass": lambda: torch.ones(2).as_subclass(Logged),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "uninitialized": lambda: torch.nn.parameter.UninitializedParameter(),
}
FIELDS = ("shape", "strides", "offset", "dtype", "device", "nbytes", "is_view", "cls")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ODD)
def test_every_kind_of_tensor_is_described_without_raising(kind: str) -> None:
    tensor = ODD[kind]()
    facts = dict(zip(FIELDS, describe.layout(tensor).readable, strict=True))
    assert type(describe_memory.pointer(tensor)) in (int, type(None))
    assert facts["dtype"] != "unknown"
    assert type(describe.version(tensor)) in (int, type(None))
    for read in (describe.storage, describe.base, describe.grad_fn, describe.gradient):
        read(tensor)
    assert describe.requires_grad(tensor) is (kind in ("parameter", "uninitialized"))
    assert describe.is_view(tensor) in (True, False)
    describe_memory.flat(describe_memory.values(tensor, describe.layout(tensor), 64))


def dispatch_modes_take_subclasses() -> bool:
    """Whether a call on a subclass works under a dispatch mode that does nothing; not so in torch 2.4."""
    try:
        with EmptyDispatchMode():
            torch.clone(ODD["subclass"]())
    except RuntimeError:
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "uninitialized"])
def test_a_call_with_every_kind_of_tensor_is_recorded_without_a_fault(kind: str, level: str) -> None:
    tensor = ODD[kind]()
    if (kind, level) == ("subclass", "ops") and not dispatch_modes_take_subclasses():
        pytest.skip("under an empty dispatch mode, too, this PyTorch raises")
    with inplace_magic.watch(level=level) as watch:
        torch.clone(tensor)
    call = call_of(watch, "torch.clone")
    assert (len(call.inputs), len(call.outputs), call.kind) == (1, 1, "ordinary")
    assert report_of(watch).to_text()


@pytest.mark.parametrize("level", LEVELS)
def test_tensors_inside_vmap_and_grad_are_recorded_without_a_fault(level: str) -> None:
    x = torch.arange(6.0).reshape(2, 3)

    def square(row: torch.Tensor) -> torch.Tensor:
        return (row * row).sum()

    plain = torch.func.vmap(torch.func.grad(square))(x)
    with inplace_magic.watch(level=level) as watch:
        watched = torch.func.vmap(torch.func.grad(square))(x)
    assert torch.equal(watched, plain)
    assert call_of(watch, "Tensor.sum").inputs[0].storage is None


def test_an_inference_tensor_has_no_version_and_its_writes_are_known_all_the_same() -> None:
    with inplace_magic.watch() as watch, torch.inference_mode():
        x = torch.ones(2)
        x.add_(1)
    call = call_of(watch, "Tensor.add_")
    assert call.kind == "in-place"
    (mutation,) = call.mutations
    assert (mutation.version_before, mutation.version_after) == (None, None)
    assert (mutation.values_before, mutation.values_after) == ((1.0, 1.0), (2.0, 2.0))


def test_facts_that_a_tensor_does_not_have_are_unknown() -> None:
    assert describe.layout(torch.eye(2).to_sparse()).readable[:3] == ((2, 2), None, None)
    assert describe_memory.pointer(torch.eye(2).to_sparse()) is None
    assert describe.version(_inference()) is None


def test_the_memory_of_a_sparse_tensor_is_that_of_its_values_and_to_look_at_it_makes_no_node() -> None:
    by_place = torch.eye(2).to_sparse()
    assert describe.storage(by_place) is by_place.values().untyped_storage()
    by_row = torch.eye(2).to_sparse_csr().requires_grad_()
    begun = describe_nodes.sequence_number()
    found = describe.storage(by_row)
    assert describe_nodes.sequence_number() == begun
    assert found is by_row.values().untyped_storage()


def test_describing_a_subclass_runs_none_of_its_code() -> None:
    tensor = torch.ones(2).as_subclass(Logged)
    Logged.heard.clear()
    for read in (
        describe.layout,
        describe_memory.pointer,
        describe.version,
        describe.storage,
        describe.base,
        describe.grad_fn,
    ):
        read(tensor)
    describe.requires_grad(tensor)
    describe_memory.values(tensor, describe.layout(tensor), 64)
    assert Logged.heard == []


def test_a_subclass_under_a_watch_hears_what_it_hears_without() -> None:
    tensor = torch.ones(2).as_subclass(Logged)
    logs = []
    for on in (False, True):
        Logged.heard.clear()
        if on:
            with inplace_magic.watch():
                tensor.add_(1).mul(2)
        else:
            tensor.add_(1).mul(2)
        logs.append(list(Logged.heard))
    assert logs[0] == logs[1] != []


@pytest.mark.parametrize(
    ("tensor", "limit", "elements"),
    [
        (torch.tensor([[1, 2], [3, 4]]), 4, (1, 2, 3, 4)),
        (torch.tensor(2.5), 4, (2.5,)),
        (torch.tensor([True]), 4, (True,)),
        (torch.empty(0), 4, ()),
        (torch.ones(5), 4, None),
        (torch.tensor([[1.5, 2.5], [3.5, 4.5]]).t(), 4, (1.5, 3.5, 2.5, 4.5)),
        (torch.tensor([[1.0, 2.0]]).expand(2, 2), 4, (1.0, 2.0, 1.0, 2.0)),
        (torch.tensor([1.0, 2.0], dtype=torch.float16), 4, (1.0, 2.0)),
        (torch.arange(6)[1:4], 4, (1, 2, 3)),
        (torch.ones(2, dtype=torch.complex64), 4, None),
        (torch.eye(2).to_sparse(), 4, None),
        (torch.ones(2, device="meta"), 4, None),
        (torch.ones(2).as_subclass(Logged), 4, None),
    ],
)
def test_only_small_plain_tensors_have_their_elements_read(
    tensor: torch.Tensor, limit: int, elements: tuple[float, ...] | None
) -> None:
    assert describe_memory.flat(describe_memory.values(tensor, describe.layout(tensor), limit)) == elements


def test_an_exception_that_cannot_tell_its_text_is_told_by_its_type() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert error_text(Mute()) == "Mute"
    assert error_text(ValueError("no")) == "ValueError: no"


@pytest.mark.skipif(unpacking.NEEDED, reason="this PyTorch shows what was saved only right after the call")
def test_a_node_that_let_go_of_its_tensors_saves_nothing_any_more() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    node = y.grad_fn
    assert describe_nodes.still_saves(node)
    y.sum().backward()
    assert not describe_nodes.still_saves(node)


@pytest.mark.skipif(unpacking.NEEDED, reason="this PyTorch shows what was saved only right after the call")
def test_what_a_node_saved_can_be_read_after_it_was_overwritten() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    y.mul_(2)
    assert y.grad_fn is not None
    node: Any = y.grad_fn.next_functions[0][0]
    ((name, data, hooked),) = describe_nodes.saved_values(node)
    assert (name, hooked) == ("result", False)
    assert data.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    with pytest.raises(RuntimeError):
        _ = node._saved_result


@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.vmap])
def test_a_tensor_under_a_transform_has_no_memory_of_its_own_however_often_it_is_asked(transform: Any) -> None:
    asked = []

    def function(x: torch.Tensor) -> torch.Tensor:
        asked.extend((describe.storage(x), describe_memory.pointer(x)) for _ in range(2))
        return x.sum()

    transform(function)(torch.ones(3))
    assert asked == [(None, None), (None, None)]
    plain = torch.ones(3)
    assert (describe.storage(plain), describe_memory.pointer(plain)) == (plain.untyped_storage(), plain.data_ptr())


def test_a_storage_that_only_weak_references_are_left_of_is_not_asked_for_its_address() -> None:
    """In PyTorch 2.8 its Python object is still there, and the address of it is not asked for with impunity: the
    storage is freed once more, and a warning says so. In newer ones it has gone."""
    tensor = torch.ones(3)
    untyped = tensor.untyped_storage()
    left, of_python = StorageWeakRef(untyped), weakref.ref(untyped)
    del untyped, tensor
    assert left.expired()
    gone = of_python()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if gone is not None:
            assert describe_memory.storage_address(gone) is None
            assert describe_memory.memory_in(gone, 0, 4) == 0
    assert not warned


def test_a_storage_that_nobody_has_any_more_has_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    untyped = torch.ones(3).untyped_storage()
    assert describe_memory.storage_address(untyped) == untyped.data_ptr()
    monkeypatch.setattr(describe_memory, "_users", lambda cdata: 0)
    assert describe_memory.storage_address(untyped) is None
    assert describe_memory.memory_in(untyped, 0, 4) == 0
