"""What a watch packs of what is over comes out of it as it went in."""

from __future__ import annotations

import gc
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import inplace_magic
from inplace_magic.capture.past import room
from inplace_magic.capture.records import TensorRecord
from inplace_magic.capture.session import Session
from inplace_magic.record.options import WatchOptions
from inplace_magic.source.places import Sources


def training() -> None:
    """Saved tensors, a view that is written, gradients, an error, small values before and after, memory that grows."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.BatchNorm1d(4), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(6):
        x = torch.randn(5, 3)
        x[0] = 1.0
        kept = model(x).sigmoid()
        optimizer.zero_grad()
        kept.square().mean().backward(retain_graph=True)
        optimizer.step()
    torch.empty(0).resize_(4000).zero_().view(4, 1000).t_().add_(1)  # too many to keep: new memory may hold NaN
    with pytest.raises(RuntimeError):
        torch.ones(3) + torch.ones(4)


def failing() -> None:
    """A backward that must raise, and one whose saved values were written unseen."""
    for _ in range(4):
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        y.data.mul_(2)
        y.sum().backward()
    z = torch.ones(3, requires_grad=True).sigmoid()
    z.add_(1)
    with pytest.raises(RuntimeError):
        z.sum().backward()


def functional() -> None:
    """Tensors without memory of their own."""
    for _ in range(4):
        torch.func.grad(lambda w: F.mse_loss(w * 2, torch.zeros(3)))(torch.ones(3))


@pytest.mark.parametrize("program", [training, failing, functional])
@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_record_that_was_packed_on_the_way_is_the_record(program: Any, level: str) -> None:
    session = Session(WatchOptions(level=level))
    session.start(None, root_file=__file__)
    try:
        program()
    finally:
        session.leave()
    gc.collect()  # what hangs in circles (a model, the frames of an error) dies now, and not between two readings
    recorder = session._recorder

    def trace() -> Any:
        return session.trace(sources=Sources(), namespace={}, error=None, last=False)

    before = trace()
    calls, storages, nodes = [*recorder.log.calls], recorder.identity.storages, recorder.nodes.records
    recorder.room.packed.take(recorder.log, recorder.identity, recorder.nodes, recent=0)
    packed = trace()
    left = len(recorder.log.calls), len([r for r in recorder.nodes.records if r.ended is not None])
    recorder.log.calls, recorder.identity.storages, recorder.nodes.records = calls, storages, nodes
    twice = trace()  # an interrupt struck before they were taken out
    session.let_go()

    assert len(before.calls) > 10
    assert left == (0, 0)
    assert packed == before
    assert twice == before
    assert before.faults == ()


def test_a_long_loop_has_all_its_calls_in_their_order() -> None:
    few = patch.multiple(room, _AT_ONCE=16, _RECENT=8)
    with few, inplace_magic.watch() as w:
        x = torch.zeros(2, requires_grad=True)
        for _ in range(40):
            (x.exp() * x).sum().backward()

    assert w.report is not None
    trace = w.report.trace
    assert trace.faults == ()
    assert [call.index for call in trace.calls] == list(range(40 * 4 + 1))
    assert [call.name for call in trace.calls[1:5]] == ["Tensor.exp", "Tensor.mul", "Tensor.sum", "Tensor.backward"]
    assert {node.call for node in trace.nodes if node.name == "ExpBackward0"} == set(range(1, 161, 4))
    assert [storage.storage for storage in trace.storages] == sorted(storage.storage for storage in trace.storages)


def test_a_tensor_that_died_leaves_nothing_for_the_garbage_collector() -> None:
    def records() -> int:
        return sum(type(found) is TensorRecord for found in gc.get_objects())

    gc.collect()
    gc.disable()
    before = records()
    session = Session(WatchOptions())
    session.start(None, root_file=__file__)
    recorder = session._recorder
    try:
        x = torch.ones(2) + 1
        alive = records()
        del x
        recorder.bury()
        recorder.room.packed.take(recorder.log, recorder.identity, recorder.nodes, recent=0)
        after = records()
    finally:
        session.leave()
        gc.enable()
        session.let_go()

    assert alive > before
    assert after == before
