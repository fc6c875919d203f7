"""What a watch tells does not depend on which addresses the process gives out again: Python gives the ``id`` of what
died to the next frame, module or object of the same size, or to none of them, by what else it has freed."""

from __future__ import annotations

import sys
from types import FrameType, ModuleType

import pytest
import torch
from torch import nn

import inplace_magic

PINNED: list[FrameType] = []
AGAIN = pytest.mark.parametrize("again", [True, False], ids=["ids are given again", "no id is given again"])


@pytest.fixture(autouse=True)
def _unpinned() -> None:
    PINNED.clear()


def pin(again: bool) -> None:
    """Keeps the frame of who calls, whose ``id`` no other frame gets then, unless ids shall be given again."""
    if not again:
        PINNED.append(sys._getframe(1))


def doubled(given: torch.Tensor, again: bool) -> torch.Tensor:
    pin(again)
    return given * 2


@AGAIN
def test_a_function_that_is_called_by_another_line_is_read_again(again: bool) -> None:
    one, two = torch.ones(3), torch.zeros(3)
    with inplace_magic.watch() as watch:
        one.sum()
        two.sum()
        doubled(one, again)
        doubled(two, again)
    trace = watch.report.trace
    met = [call.inputs[0].tensor for call in trace.calls[:2]]
    assert [each.tensor for each in trace.bindings if each.target == "given"] == met


def part(given: torch.Tensor, odd: bool) -> torch.Tensor:
    return given.mean() if odd else given.sum()


def whole(batch: torch.Tensor, odd: bool, again: bool) -> None:
    pin(again)
    part(batch, odd)


@AGAIN
def test_one_that_waits_where_it_stood_is_not_read_again_in_a_later_pass(again: bool) -> None:
    with inplace_magic.watch() as watch:
        for odd, batch in enumerate((torch.ones(3), torch.zeros(3))):
            whole(batch, bool(odd), again)
    of_whole = [each for each in watch.report.trace.bindings if each.place.function == "whole"]
    assert [each.target for each in of_whole] == ["batch"]


class Meter:
    def __init__(self, total: torch.Tensor) -> None:
        self.total = total

    def count(self) -> None:
        self.total.add_(1)


def test_an_object_has_a_number_of_its_own_also_where_it_has_the_id_of_a_dead_one() -> None:
    total = torch.zeros(3)
    with inplace_magic.watch() as watch:
        for _ in range(8):
            Meter(total).count()
    assert len({each.object for each in watch.report.trace.methods}) == 8


def run_in_two(x: torch.Tensor, first: list[nn.Module], second: list[nn.Module]) -> torch.Tensor:
    net = nn.Sequential(*first)
    x = net(x)
    x = x * 2
    x = x + 1
    x = x - 1
    x = x / 2
    del net
    net = nn.Sequential(*second)
    x = net(x)
    return x + 2


def test_the_parameters_of_a_network_are_not_taken_for_those_of_one_that_died() -> None:
    one, other = ([nn.Linear(2, 2) for _ in range(20)] for _ in range(2))
    with inplace_magic.watch() as watch:
        run_in_two(torch.ones(2), one, other)
    trace = watch.report.trace
    last = next(call for call in reversed(trace.calls) if call.name == "F.linear").inputs[1].tensor
    named = {(each.tensor, each.name) for each in trace.local_names if each.function == "run_in_two"}
    assert (last, "net[19].weight") in named


def test_what_a_module_of_some_name_is_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class says of which module it is, and the module may be there later only, or be another one by then."""
    kind = type("Kept", (Meter,), {"__module__": "late_module_of_mine"})
    for file in (None, "late_module_of_mine.py"):
        if file is not None:
            module = ModuleType("late_module_of_mine")
            module.__file__ = file
            monkeypatch.setitem(sys.modules, module.__name__, module)
        with inplace_magic.watch() as watch:
            kept = kind(torch.zeros(3))
            kept.count()
        assert ("kept.total" in {each.name for each in watch.report.trace.names}) == (file is not None)


def test_what_several_hooks_keep_is_told_in_the_order_of_the_hooks() -> None:
    """And not in that in which the garbage collector lists their modules: what it has looked at comes last there."""
    norm = nn.BatchNorm1d(2)
    block = nn.Sequential(nn.Linear(2, 2), norm)
    kept: dict[str, torch.Tensor] = {}
    for name, layer in (("block", block), ("norm", norm)):
        layer.register_forward_hook(lambda _layer, _given, out, name=name: kept.update({name: out}))
    net = nn.Sequential(block, nn.ReLU(inplace=True))
    with inplace_magic.watch() as watch:
        for _ in range(3):
            net(torch.randn(4, 2))
    assert [each.key for each in watch.report.trace.kept_by_hooks] == ["block", "norm"] * 3
