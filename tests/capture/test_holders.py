"""Which names held which tensor, and since when, where no call's result tells it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import inplace_magic
from inplace_magic.record.trace import Trace


def seen(trace: Trace) -> set[tuple[str, str]]:
    """(function, name) of what was seen."""
    return {(binding.place.function, binding.target) for binding in trace.bindings}


def helper(given: torch.Tensor, keep: bool) -> torch.Tensor:
    second = given if keep else given.clone()
    made = second * 2
    return made + given


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.skip = nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.skip(x)
        return torch.sigmoid(y)


def test_a_name_that_was_given_without_a_call_is_seen_with_its_tensor_and_its_function() -> None:
    with inplace_magic.watch() as watcher:
        first = torch.ones(3)
        helper(first, True)
        Block()(first)
    trace = watcher.report.trace
    assert {("helper", "given"), ("helper", "second"), ("Block.forward", "x"), ("Block.forward", "y")} <= seen(trace)
    made = next(call for call in trace.calls if call.name == "torch.ones")
    of_helper = [binding for binding in trace.bindings if binding.place.function == "helper"]
    assert {binding.tensor for binding in of_helper} == {made.outputs[0].tensor}
    assert all(binding.call == made.index for binding in of_helper)
    assert {call.callsite.caller for call in trace.calls if call.callsite and call.callsite.function == "helper"} == {
        binding.place.caller for binding in of_helper
    }


def test_a_name_for_the_result_of_a_call_is_not_told_twice() -> None:
    with inplace_magic.watch() as watcher:
        first = torch.ones(3)
        second = first * 2
        second.sum()
    names = {name for function, name in seen(watcher.report.trace) if function.startswith("test_a_name")}
    assert names.isdisjoint({"first", "second"})


def test_a_name_that_is_bound_to_another_tensor_is_seen_again() -> None:
    with inplace_magic.watch() as watcher:
        pair = torch.ones(3), torch.zeros(3)
        current = pair[0]
        current.sum()
        current = pair[1]
        current.mean()
    bound = [binding.tensor for binding in watcher.report.trace.bindings if binding.target == "current"]
    assert len(bound) == len(set(bound)) == 2


def test_what_was_seen_survives_in_a_saved_report() -> None:
    with inplace_magic.watch() as watcher:
        helper(torch.ones(3), True)
    report = watcher.report
    assert report.trace.bindings
    assert inplace_magic.Report.from_json(report.to_json()).trace.bindings == report.trace.bindings


def test_objects_of_a_class_in_the_users_own_file_are_gone_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "meters_of_mine.py").write_text(
        "import torch\nclass Meter:\n    def __init__(self):\n        self.total = torch.zeros(3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    meters = importlib.import_module("meters_of_mine")
    with inplace_magic.watch() as watcher:
        meter = meters.Meter()
        meter.total.add_(1)
    sys.modules.pop("meters_of_mine")
    assert "meter.total" in {entry.name for entry in watcher.report.trace.names}


def test_no_code_of_an_object_runs_while_it_is_gone_through() -> None:
    asked = []

    class Watched:
        def __init__(self) -> None:
            self.total = torch.zeros(3)

        def __getattribute__(self, name: str) -> object:
            asked.append(name)
            return object.__getattribute__(self, name)

    Watched.__module__ = "__main__"
    with inplace_magic.watch() as watcher:
        held = Watched()
        held.total.add_(1)
        torch.ones(1).sum()
    assert asked == ["total"]
    assert "held.total" in {entry.name for entry in watcher.report.trace.names}
