"""Serial numbers: one for each object, never used twice, and nothing kept alive."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
import torch
from capture.watching import LEVELS, call_of, calls_of, report_of, trace_of

import inplace_magic
from inplace_magic.capture.identity import IdentityMap
from inplace_magic.record.events import TensorMetadata


def output(watch: inplace_magic.watch, name: str) -> TensorMetadata:
    return call_of(watch, name).outputs[0]


def test_serial_numbers_are_not_reused_when_addresses_are() -> None:
    with inplace_magic.watch() as watch:
        for _ in range(3000):
            torch.ones(2).add_(1)
    made = [call.outputs[0] for call in calls_of(watch, "torch.ones")]
    triples = {(meta.python_id, meta.data_ptr, meta.version) for meta in made}
    assert len(triples) < 3000, "no address was reused, so this run proves nothing"
    assert len({meta.tensor for meta in made}) == 3000
    assert len({meta.storage for meta in made}) == 3000


def test_a_tensor_with_the_id_of_one_that_just_died_has_a_number_of_its_own() -> None:
    identity = IdentityMap(lambda: 0)
    tensor = torch.ones(2)
    key, first = id(tensor), identity.register(tensor).serial
    del tensor
    others = []
    while id(another := torch.ones(2)) != key and len(others) < 1000:
        others.append(another)
    assert id(another) == key, "the id was not used again, so this run proves nothing"
    assert identity.register(another).serial != first


def test_a_tensor_keeps_its_number_and_its_real_addresses_are_facts() -> None:
    x = torch.ones(2)
    with inplace_magic.watch() as watch:
        x.add_(1)
        x.mul(2)
    first, then = call_of(watch, "Tensor.add_").inputs[0], call_of(watch, "Tensor.mul").inputs[0]
    assert first.tensor == then.tensor
    assert (then.python_id, then.data_ptr, then.version) == (id(x), x.data_ptr(), 1)


def test_a_view_is_another_tensor_on_the_same_storage_and_counter() -> None:
    with inplace_magic.watch() as watch:
        x = torch.ones(4)
        x.view(2, 2)
    base, view = output(watch, "torch.ones"), output(watch, "Tensor.view")
    assert base.tensor != view.tensor
    assert (base.storage, base.counter) == (view.storage, view.counter)


def test_data_counts_apart_while_detach_shares_the_counter() -> None:
    with inplace_magic.watch() as watch:
        x = torch.ones(4)
        through_data, through_detach = x.data, x.detach()
        through_data.add_(1)
        through_detach.mul_(2)
    base, data, detached = (output(watch, name) for name in ("torch.ones", "Tensor.data", "Tensor.detach"))
    assert base.storage == data.storage == detached.storage
    assert detached.counter == base.counter
    assert data.counter != base.counter
    (of_data,) = call_of(watch, "Tensor.add_").mutations
    (of_detached,) = call_of(watch, "Tensor.mul_").mutations
    assert (of_data.version_before, of_data.version_after) == (0, 1)
    assert (of_detached.version_before, of_detached.version_after) == (0, 1)
    assert x._version == 1


def test_a_view_taken_before_the_watch_shares_the_counter_of_its_base() -> None:
    x = torch.zeros(4)
    view = x[1:]
    with inplace_magic.watch() as watch:
        view.add_(1)
        x.mul_(2)
    of_view, of_base = call_of(watch, "Tensor.add_").mutations[0], call_of(watch, "Tensor.mul_").mutations[0]
    assert of_view.counter == of_base.counter
    assert (of_base.version_before, of_base.version_after) == (1, 2)


def test_empty_tensors_are_not_one_although_all_have_the_address_zero() -> None:
    with inplace_magic.watch() as watch:
        kept = [torch.empty(0) for _ in range(3)]
    made = [call.outputs[0] for call in calls_of(watch, "torch.empty")]
    assert len(kept) == 3
    assert {meta.data_ptr for meta in made} == {0}
    assert len({meta.storage for meta in made}) == 3


def test_two_tensors_on_one_array_are_one_storage() -> None:
    array = np.zeros(4, dtype=np.float32)
    one, other = torch.from_numpy(array), torch.from_numpy(array)
    with inplace_magic.watch() as watch:
        one.add(1)
        other.mul(2)
    assert call_of(watch, "Tensor.add").inputs[0].storage == call_of(watch, "Tensor.mul").inputs[0].storage


def test_a_storage_is_born_at_the_call_that_made_it_and_ends_when_it_dies() -> None:
    older = torch.ones(2)
    with inplace_magic.watch() as watch:
        x = older.add(1)
        y = x.mul(2)
        del x
        y.sub(1)
    by_number = {storage.storage: storage for storage in trace_of(watch).storages}
    of_older = by_number[call_of(watch, "Tensor.add").inputs[0].storage or 0]
    of_x = by_number[output(watch, "Tensor.add").storage or 0]
    of_y = by_number[output(watch, "Tensor.mul").storage or 0]
    assert (of_older.born, of_older.ended) == (None, None)
    assert (of_x.born, of_x.ended) == (0, 2)
    assert (of_y.born, of_y.ended, of_y.nbytes) == (1, None, 8)


def test_a_tensor_that_is_given_other_memory_is_found_on_it() -> None:
    x, other = torch.ones(2), torch.zeros(3)
    with inplace_magic.watch() as watch:
        x.set_(other)  # type: ignore[call-overload]  # torch's stubs do not know of it
        x.add_(1)
        other.mul(2)
    assert call_of(watch, "Tensor.add_").inputs[0].storage == call_of(watch, "Tensor.mul").inputs[0].storage


def test_a_tensor_that_was_met_and_is_given_other_memory_then_is_found_on_it() -> None:
    """``set_`` is no call that a probe sees."""
    x, other = torch.ones(2), torch.zeros(3)
    with inplace_magic.watch() as watch:
        x.neg()
        x.set_(other)  # type: ignore[call-overload]  # torch's stubs do not know of it
        x.add_(1)
        other.mul(2)
    on_it = call_of(watch, "Tensor.mul").inputs[0].storage
    assert call_of(watch, "Tensor.neg").inputs[0].storage != on_it
    assert call_of(watch, "Tensor.add_").inputs[0].storage == on_it
    assert call_of(watch, "Tensor.add_").mutations[0].storage == on_it


@pytest.mark.parametrize("level", LEVELS)
def test_tensors_storages_and_graphs_die_at_the_line_where_they_die_unwatched(level: str) -> None:
    plain = _deaths()
    with inplace_magic.watch(level=level) as watch:
        watched = _deaths()
    assert report_of(watch).calls
    assert watched == plain
    assert plain == [
        "made",
        "x died",
        "memory of x died",
        "x deleted",
        "y died",
        "y deleted",
        "z died",
        "memory of y died",
        "memory of z died",
        "z deleted",
    ]


def _deaths() -> list[str]:
    log: list[str] = []

    def follow(name: str, tensor: torch.Tensor) -> torch.Tensor:
        weakref.finalize(tensor, log.append, f"{name} died")
        weakref.finalize(tensor.untyped_storage(), log.append, f"memory of {name} died")
        return tensor

    x = follow("x", torch.ones(2))
    y = follow("y", torch.ones(2, requires_grad=True).exp())  # its node saves its memory
    z = follow("z", y + x)
    x.add_(1).mul_(2)
    log.append("made")
    del x
    log.append("x deleted")
    del y
    log.append("y deleted")
    del z
    log.append("z deleted")
    return log


def test_a_refused_call_keeps_nothing_alive() -> None:
    with inplace_magic.watch():
        x = torch.ones(2)
        reference = weakref.ref(x)
        with pytest.raises(RuntimeError):
            x.add_(torch.ones(3))
        del x
        gone = reference() is None
    assert gone


@torch.no_grad()
def test_memory_first_seen_in_a_backward_stays_one_storage_afterwards() -> None:
    identity = IdentityMap(clock=lambda: 0)
    identity.in_backward = True
    gradient, other = torch.ones(2, 2), torch.ones(4)
    storage = identity.register(gradient).storage
    assert storage is not None
    assert storage.nbytes == 16
    view = gradient.view(-1)
    assert identity.register(view).storage is storage
    assert identity.register(other).storage is not storage
    assert _users(gradient) == 2, "the two tensors; a storage object would be a third"
    identity.in_backward = False
    identity.backward_is_over()
    assert identity.register(gradient.t()).storage is storage
    del gradient
    identity.bury()
    assert storage.ended is None
    del view
    identity.bury()
    assert storage.ended == 0


@torch.no_grad()
def test_memory_that_was_freed_in_a_backward_is_not_taken_for_the_next_at_its_address() -> None:
    identity = IdentityMap(clock=lambda: 0)
    identity.in_backward = True
    serials = set()
    for _ in range(50):
        storage = identity.register(torch.ones(3)).storage
        assert storage is not None
        serials.add(storage.serial)
    assert len(serials) == 50
    identity.backward_is_over()
    assert not identity._passing


def _users(tensor: torch.Tensor) -> int:
    return torch._C._storage_Use_Count(torch._C._storage_address(tensor))
