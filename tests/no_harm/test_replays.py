"""Replays of CUDA graphs are counted, and what rests on nothing having happened in them is not said."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

import inplace_magic

pytestmark = pytest.mark.skipif(torch.backends.cuda.is_built(), reason="tests/cuda has real graphs")
GRAPH = torch.cuda.graphs._CUDAGraph
"""The part in C++ of PyTorch's class."""


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], Any]:
    """A graph of PyTorch's own class, whose part in C++ runs a function unseen, as a device its kernels."""
    kernels: dict[int, Callable[[], object]] = {}

    def replay(self: Any) -> None:
        with torch._C.DisableTorchFunction():
            kernels[id(self)]()

    monkeypatch.setattr(GRAPH, "replay", replay, raising=False)

    def made(function: Callable[[], object]) -> Any:
        found = object.__new__(torch.cuda.CUDAGraph)
        found._tracker = None
        kernels[id(found)] = function
        return found

    return made


def test_replays_are_counted_by_line_and_stand_in_the_verdict(graph: Callable[..., Any]) -> None:
    x = torch.zeros(3)
    add = graph(lambda: x.data.add_(1))
    with inplace_magic.watch() as watch:
        for _ in range(3):
            add.replay()
        y = x + 1
        add.replay()
    report = watch.report
    assert report is not None
    assert report.faults == []
    assert y.tolist() == [4.0] * 3
    line = report.calls[-1].callsite.line
    told = [re.search(r"`(.+)` \(.+:(\d+)\): (\d)\.", sentence) for sentence in report.blindness if "graph" in sentence]
    assert [match.groups() for match in told if match] == [
        ("add.replay()", str(line - 1), "3"),
        ("add.replay()", str(line + 1), "1"),
    ]
    assert report.verdict.endswith("Not seen: 4 replays of a CUDA graph.")


def test_gradients_that_a_graph_clears_are_no_gradients_that_nobody_clears(graph: Callable[..., Any]) -> None:
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    cleared = graph(lambda: [parameter.grad.data.zero_() for parameter in net.parameters()])

    def alarms(clear: Callable[[], object]) -> list[str]:
        with inplace_magic.watch() as watch:
            for batch in torch.ones(4, 2, 3):
                net(batch).square().mean().backward()
                optimizer.step()
                clear()
        assert watch.report is not None
        return [finding.code for finding in watch.report.hazards if finding.is_alarm]

    assert alarms(lambda: None) == ["gradient-not-cleared"]
    assert alarms(cleared.replay) == []


def test_the_method_is_pytorchs_own_again_and_an_error_of_it_comes_through(graph: Callable[..., Any]) -> None:
    def fails() -> None:
        ours.append(GRAPH.replay is not theirs)
        raise RuntimeError("no kernel")

    failing, theirs, ours = graph(fails), GRAPH.replay, []
    with pytest.raises(RuntimeError, match="no kernel"), inplace_magic.watch():
        failing.replay()
    assert ours == [True]
    assert GRAPH.replay is theirs


def test_another_thread_replays_as_it_does_unwatched(graph: Callable[..., Any]) -> None:
    ran: list[int] = []
    one = graph(lambda: ran.append(1))
    with inplace_magic.watch() as watch:
        thread = threading.Thread(target=one.replay)
        thread.start()
        thread.join()
    assert watch.report is not None
    assert ran == [1]
    assert not any("CUDA graph" in line for line in watch.report.blindness)
