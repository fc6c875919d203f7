"""Which names lead to the modules that optimizers move: noted where it says something, with nothing kept alive, and the
hook comes off again."""

from __future__ import annotations

import gc
import weakref

import torch
from torch import nn
from torch.optim import optimizer as optimizers

import inplace_magic


def _step(net: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def test_a_name_given_between_two_steps_is_known_by_its_time() -> None:
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with inplace_magic.watch() as watch:
        _step(net, optimizer)
        best = {"net": net}
        _step(net, optimizer)
    trace = watch.report.trace
    seen = {(entry.path, entry.since is None) for entry in trace.sightings}
    assert {("net", True), ('best["net"]', False)} <= seen
    assert len({entry.module for entry in trace.sightings}) == 1
    assert best["net"] is net


def test_a_module_that_no_optimizer_moves_is_not_told_of() -> None:
    net, other = nn.Linear(2, 1), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with inplace_magic.watch() as watch:
        other(torch.ones(1, 2))
        _step(net, optimizer)
    assert {entry.path for entry in watch.report.trace.sightings} == {"net"}


def test_a_long_loop_is_looked_at_a_few_dozen_times() -> None:
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with inplace_magic.watch() as watch:
        for step in range(300):
            held = {step: net}
            _step(net, optimizer)
    assert held[299] is net
    assert 24 < len({entry.path for entry in watch.report.trace.sightings}) < 100


def test_nothing_is_kept_alive_and_the_hooks_come_off() -> None:
    before = len(optimizers._global_optimizer_pre_hooks)
    net = nn.Sequential(nn.Linear(2, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with inplace_magic.watch():
        _step(net, optimizer)
        gone = weakref.ref(net[0])
        net[0] = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        gc.collect()
        assert gone() is None
        _step(net, optimizer)
    assert before == len(optimizers._global_optimizer_pre_hooks)
