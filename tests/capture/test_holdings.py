"""Which objects held a tensor when a line wrote it, and when lines read it after that."""

from __future__ import annotations

import gc
import weakref
from typing import NamedTuple

import pytest
import torch

import inplace_magic
from inplace_magic.record.blindness import NAMES_LIMITED
from inplace_magic.record.names import Holding
from inplace_magic.record.trace import Trace


class Node:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class Pair(NamedTuple):
    tensor: torch.Tensor
    count: int


class Slim:
    __slots__ = ("tensor",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class Touchy:
    """An object whose attributes are computed, and which cannot be asked for its hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.asked = 0

    @property
    def twice(self) -> torch.Tensor:
        self.asked += 1
        return self.tensor * 2

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return False


def doubled(node: Node) -> None:
    node.tensor.mul_(2.0)


def summed(node: Node) -> torch.Tensor:
    return node.tensor.sum()


def held(trace: Trace, name: str) -> list[Holding]:
    """What was seen at the calls of that name."""
    calls = {call.index for call in trace.calls if call.name == name}
    return [holding for holding in trace.holdings if holding.call in calls]


def test_two_objects_around_one_tensor_are_told_apart() -> None:
    with inplace_magic.watch() as watcher:
        first = Node(torch.ones(2))
        second = Node(first.tensor)
        doubled(second)
        summed(first)
    (written,) = (h for h in held(watcher.report.trace, "Tensor.mul_") if h.level == 0)
    (read,) = (h for h in held(watcher.report.trace, "Tensor.sum") if h.level == 0)
    assert (written.path, written.kind, written.is_sure) == ("node.tensor", "Node", True)
    assert (read.path, read.kind, read.tensor) == ("node.tensor", "Node", written.tensor)
    assert read.object != written.object
    outer = {(h.path, h.object) for h in held(watcher.report.trace, "Tensor.mul_") if h.level == 1}
    assert outer == {("first.tensor", read.object), ("second.tensor", written.object)}


def test_the_number_of_a_dict_and_of_an_object_with_slots_is_not_sure() -> None:
    with inplace_magic.watch() as watcher:
        kept, slim = {"a": torch.ones(2)}, Slim(torch.ones(2))
        kept["a"].add_(1.0)
        slim.tensor.sub_(1.0)
    assert {h.path: h.is_sure for h in held(watcher.report.trace, "Tensor.add_")} == {'kept["a"]': False}
    assert {h.path: h.is_sure for h in held(watcher.report.trace, "Tensor.sub_")} == {"slim.tensor": False}


def test_the_fields_of_a_named_tuple_hold() -> None:
    with inplace_magic.watch() as watcher:
        pair = Pair(torch.ones(2), 3)
        pair.tensor.mul_(2.0)
    assert [(h.path, h.kind) for h in held(watcher.report.trace, "Tensor.mul_")] == [("pair.tensor", "Pair")]


def test_what_holds_the_whole_is_told_of_a_written_view() -> None:
    with inplace_magic.watch() as watcher:
        kept = [torch.ones(2, 2)]
        row = kept[0][1]
        row.mul_(3.0)
    (holding,) = held(watcher.report.trace, "Tensor.mul_")
    whole = next(call for call in watcher.report.trace.calls if call.name == "torch.ones").outputs[0]
    assert (holding.path, holding.kind, holding.tensor) == ("kept[0]", "list", whole.tensor)


def test_nothing_is_kept_alive_and_no_code_of_the_users_runs() -> None:
    with inplace_magic.watch() as watcher:
        node = Touchy(torch.ones(2))
        node.tensor.mul_(2.0)
        node.tensor.sum()
        assert node.asked == 0
        gone, tensor = weakref.ref(node), weakref.ref(node.tensor)
        del node
        assert gone() is None
        assert tensor() is None
    assert watcher.report.faults == []
    assert held(watcher.report.trace, "Tensor.mul_")


def test_a_line_that_writes_again_and_again_is_asked_a_few_times() -> None:
    with inplace_magic.watch() as watcher:
        kept = {"total": torch.zeros(())}
        for _ in range(200):
            kept["total"] += 1.0
    assert 1 < len({holding.call for holding in watcher.report.trace.holdings}) < 40


@pytest.mark.parametrize("kind", [list, tuple])
def test_what_nobody_writes_is_asked_of_nobody(kind: type) -> None:
    with inplace_magic.watch() as watcher:
        kept = kind([torch.ones(2), torch.ones(2)])
        (kept[0] + kept[1]).sum()
    gc.collect()
    assert watcher.report.trace.holdings == ()


@pytest.mark.parametrize(
    ("where", "limit"),
    [
        ("inplace_magic.capture.naming.holdings", "_MOST"),
        ("inplace_magic.capture.naming.passing_names", "_MOST_BINDINGS"),
        ("inplace_magic.capture.naming.passing_names", "_MOST_STEPS"),
        ("inplace_magic.capture.log", "_MOST_REGISTRATIONS"),
    ],
)
def test_what_is_noted_up_to_a_limit_is_said_to_be_limited_once_it_is_reached(
    where: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program() -> None:
        for tensor in (torch.zeros(2), torch.ones(2)):
            node = Node(tensor)
            node.tensor += 1
        one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        other.weight = one.weight

    with inplace_magic.watch() as watch:
        program()
    assert NAMES_LIMITED not in watch.report.blindness
    monkeypatch.setattr(f"{where}.{limit}", 1)
    with inplace_magic.watch() as watch:
        program()
    assert NAMES_LIMITED in watch.report.blindness
