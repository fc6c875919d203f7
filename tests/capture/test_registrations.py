"""What modules are given: told where it says something, with nothing kept alive, and the hook comes off again."""

from __future__ import annotations

import copy
import gc
import weakref

import torch
from torch import nn
from torch.nn.modules import module as modules

import inplace_magic
from inplace_magic.record.autograd import Registration
from inplace_magic.record.trace import Trace


def given(trace: Trace) -> list[tuple[str, bool, bool]]:
    """(name, whether another parameter stood there, whether a shallow copy shares it) of what was told."""
    return [(entry.name, entry.replaced is not None, entry.shared) for entry in trace.registrations]


def test_a_module_that_makes_its_parameters_and_keeps_them_tells_nothing() -> None:
    with inplace_magic.watch() as watch:
        net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
        net(torch.ones(2, 3)).sum().backward()
    assert watch.report.trace.registrations == ()


def test_a_tie_and_a_load_that_undoes_it_are_told_with_their_lines() -> None:
    with inplace_magic.watch() as watch:
        one, other = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        other.weight = one.weight
        one.load_state_dict({"weight": torch.ones(2, 2)}, assign=True)
    trace = watch.report.trace
    assert given(trace) == [("weight", True, False)] * 2
    tie, load = trace.registrations
    assert tie.tensor == load.replaced
    assert [entry.callsite.text for entry in (tie, load) if entry.callsite is not None] == [
        "other.weight = one.weight",
        'one.load_state_dict({"weight": torch.ones(2, 2)}, assign=True)',
    ]


def test_a_shallow_copy_is_known_by_its_dict_and_a_deep_one_is_another_module() -> None:
    net = nn.Linear(2, 2)
    with inplace_magic.watch() as watch:
        net.weight = nn.Parameter(torch.ones(2, 2))
        shallow, deep = copy.copy(net), copy.deepcopy(net)
        for twin in (shallow, deep):
            twin.bias = nn.Parameter(torch.zeros(2))
    assert given(watch.report.trace) == [("weight", True, False), ("bias", True, True), ("bias", True, False)]


def test_a_parameter_that_lies_where_something_was_computed_is_told() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    with inplace_magic.watch() as watch:
        layer = nn.Linear(2, 2, bias=False)
        layer.register_parameter("made", nn.Parameter(weight * 2))
    assert given(watch.report.trace) == [("made", False, False)]


def test_nothing_is_kept_alive_and_the_hook_comes_off() -> None:
    before = dict(modules._global_parameter_registration_hooks)
    with inplace_magic.watch() as watch:
        assert len(modules._global_parameter_registration_hooks) == len(before) + 1
        layer = nn.Linear(2, 2)
        layer.weight = nn.Parameter(torch.ones(2, 2))
        alive = weakref.ref(layer)
        del layer
        gc.collect()
        assert alive() is None
    assert dict(modules._global_parameter_registration_hooks) == before
    assert len(watch.report.trace.registrations) == 1


def test_a_parameter_that_somebody_elses_hook_replaces_is_the_one_that_the_module_gets() -> None:
    def doubled(module: nn.Module, name: str, parameter: nn.Parameter) -> nn.Parameter:
        return nn.Parameter(parameter.detach() * 2)

    handle = modules.register_module_parameter_registration_hook(doubled)
    try:
        with inplace_magic.watch():
            layer = nn.Module()
            layer.weight = nn.Parameter(torch.ones(2))
    finally:
        handle.remove()
    assert layer.weight.tolist() == [2.0, 2.0]


def test_a_registration_is_saved_and_read_back() -> None:
    with inplace_magic.watch() as watch:
        layer = nn.Linear(2, 2)
        layer.weight = nn.Parameter(torch.ones(2, 2))
    again = type(watch.report).from_json(watch.report.to_json())
    assert again.trace.registrations == watch.report.trace.registrations
    assert isinstance(again.trace.registrations[0], Registration)


def test_the_hooks_of_the_user_have_the_numbers_that_they_have_without_a_watch() -> None:
    def numbers() -> list[int]:
        net = nn.Linear(2, 2)
        first = net.register_forward_hook(lambda *_: None)
        return [first.id, net.register_forward_pre_hook(lambda *_: None).id, *net._forward_hooks]

    plain = numbers()
    with inplace_magic.watch(level="calls"):
        watched = numbers()
    assert watched == [number + 2 for number in plain]
