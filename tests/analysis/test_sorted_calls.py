"""The calls of a trace by what they do and where they stand."""

from __future__ import annotations

from dataclasses import replace

import torch

import inplace_magic
from inplace_magic.record.sorted_calls import SortedCalls
from inplace_magic.report import Report


def loop() -> Report:
    with inplace_magic.watch() as w:
        total, few = torch.zeros(2), torch.zeros(2, dtype=torch.uint8)
        for _ in range(3):
            total.add_(torch.nn.functional.dropout(total, 0.5))
            few[:] = torch.tensor([300, 300])
    assert w.report is not None
    return w.report


def test_the_calls_of_some_places_come_in_their_order() -> None:
    sorted_calls = SortedCalls(loop().trace)
    everywhere = sorted_calls.at(sorted_calls.sites)
    assert everywhere == [call for call in sorted_calls.trace.calls if call.callsite is not None]
    adding = [key for key, site in sorted_calls.sites.items() if site.expression.startswith("total.add_")]
    assert [call.name for call in sorted_calls.at(adding)] == ["Tensor.add_"] * 3
    assert sorted_calls.at([]) == []


def test_calls_that_do_one_of_several_things_come_once_and_in_their_order() -> None:
    sorted_calls = SortedCalls(loop().trace)
    found = sorted_calls.doing("shifts", "sets item", "adds")
    assert [call.name for call in found] == ["Tensor.add_", "Tensor.__setitem__"] * 3
    assert len({call.index for call in found}) == len(found)


def test_writes_that_kept_less_than_they_were_given_are_told_with_it() -> None:
    dropping = SortedCalls(loop().trace).dropping
    assert [(call.name, dropped.kind) for call, _mutation, dropped in dropping] == [("Tensor.__setitem__", "range")] * 3


def test_writes_of_a_line_are_counted_and_equal_places_are_one() -> None:
    trace = loop().trace
    counted = [count for call, _mutation, count in SortedCalls(trace).writes_counted if call.name == "Tensor.add_"]
    assert counted == [0, 1, 2]
    apart = [replace(call, callsite=replace(call.callsite)) for call in trace.calls if call.callsite is not None]
    again = SortedCalls(replace(trace, calls=tuple(apart))).writes_counted
    assert [count for call, _mutation, count in again if call.name == "Tensor.add_"] == counted


def test_an_opened_report_has_one_object_for_each_place_and_for_the_traits_of_an_operation() -> None:
    report = loop()
    opened = Report.from_json(report.to_json())
    assert opened.trace.calls == report.trace.calls
    for asked in (lambda call: call.callsite, lambda call: call.traits):
        assert len({id(asked(call)) for call in opened.trace.calls}) == len(
            {asked(call) for call in report.trace.calls}
        )
