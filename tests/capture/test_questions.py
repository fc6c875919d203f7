"""A call that only asks is recorded by a shorter way than others, and nobody sees a difference."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from capture.watching import LEVELS, trace_of

import inplace_magic
from inplace_magic.capture.log import FACTS, SITE
from inplace_magic.capture.session import Session
from inplace_magic.capture.torch.functions import QUESTIONS
from inplace_magic.capture.torch.memory import MemoryMeter
from inplace_magic.capture.torch.questions import Questions
from inplace_magic.record.options import WatchOptions
from inplace_magic.record.trace import Trace


class Holder:
    """Holds a tensor that is written."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def write_unseen(x: torch.Tensor) -> None:
    """Its place is told by the calls before and after it."""
    with torch._C.DisableTorchFunction():
        x.add_(1)


def asking() -> None:
    """Each question several times: of what is new, written, seen or unseen, dying, held, shared, or requires grad."""
    x, one, lost = torch.ones(3, 4), torch.tensor(2.0, requires_grad=True), torch.ones(1)
    holder = Holder(torch.zeros(2))
    array = np.zeros(3, dtype=np.float32)
    for number in range(6):
        for name in sorted(QUESTIONS):
            getattr(x, name)()
        x.dim(), x.size(), x.size(0), x.t().is_contiguous(), torch.is_complex(x)
        x.stride(), write_unseen(x), x.numel()
        one.item(), one.item(), x[0, 0].item(), x.new_ones(1, dtype=torch.bool).item()
        for other in (x, lost):
            with suppress(RuntimeError):  # of several elements, and of one without memory from the fourth time on
                other.item()
        if number == 3:
            lost.untyped_storage().resize_(0)
        x.add_(1)
        x.dim()
        with torch.no_grad():
            holder.tensor.add_(number)
            holder.tensor.dim()
        leaf = torch.ones(2, requires_grad=True)
        leaf.exp().sum().backward()
        leaf.grad.dim()
        with pytest.raises(IndexError):
            x.size(7)
        if number == 3:
            shared = torch.from_numpy(array)
        if number > 3:
            array += 1
            shared.dim()


def _told(trace: Trace) -> Any:
    """A record without the addresses, and with autograd's numbers counted from its beginning."""
    first = trace.calls[0].sequence

    def plain(seen: Any) -> Any:
        return [replace(each, data_ptr=None, python_id=None) for each in seen]

    calls = [
        (
            replace(call, sequence=call.sequence - first, inputs=(), outputs=(), mutated=()),
            *map(plain, (call.inputs, call.outputs, call.mutated)),
        )
        for call in trace.calls
    ]
    nodes = [replace(node, sequence=node.sequence and node.sequence - first) for node in trace.nodes]
    rest = trace.unseen, trace.foreign, trace.storages, trace.saved, trace.holdings, trace.bindings, trace.ops
    return calls, nodes, rest


@pytest.mark.parametrize("level", LEVELS)
def test_a_question_is_told_as_any_other_call(level: Any) -> None:
    short = 0
    asked = Questions.noted

    def counted(self: Questions, *args: Any) -> bool:
        nonlocal short
        noted = asked(self, *args)
        short += noted
        return noted

    records = []
    for way in (counted, lambda *_: False):
        with patch.object(Questions, "noted", way), inplace_magic.watch(level=level) as w:
            asking()
        records.append(_told(trace_of(w)))

    assert records[0] == records[1]
    if MemoryMeter().idle:  # else, with a PyTorch built for a GPU, each call may find its memory changed
        assert short > 40, "none was recorded the shorter way, so nothing was compared"


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_a_question_cannot_fail_or_run_an_operator(name: str) -> None:
    plain = torch.ones(2, 3)
    others = (
        torch.tensor(1),
        torch.empty(0),
        torch.ones(2, dtype=torch.complex64).conj(),
        torch.ones(2, device="meta"),
    )
    tensors = (plain, plain.t(), torch.nn.Parameter(plain), plain.expand(4, 2, 3), *others)
    with inplace_magic.watch(level="ops") as w, torch.inference_mode():
        answers = [[getattr(tensor, name)() for _ in range(3)] for tensor in tensors]

    assert answers == [[getattr(tensor, name)()] * 3 for tensor in tensors]
    assert [call.name for call in trace_of(w).calls] == [f"Tensor.{name}"] * 3 * len(tensors)
    assert trace_of(w).ops == ()


def test_a_value_that_cannot_be_had_is_asked_for_as_any_other_call() -> None:
    several, lost = torch.ones(2), torch.ones(1)
    with inplace_magic.watch() as w:
        for _ in range(3):
            several.dim(), lost.item()
            lost.untyped_storage().resize_(0)
            for tensor in (several, lost):
                with pytest.raises(RuntimeError):
                    tensor.item()
            lost.untyped_storage().resize_(4)

    items = [call for call in trace_of(w).calls if call.name == "Tensor.item"]
    assert [call.error is None for call in items] == [True, False, False] * 3


def test_a_question_to_a_tensor_of_another_kind_fails_as_it_does_and_is_told_so() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with inplace_magic.watch() as w:
        for _ in range(3):
            with pytest.raises(RuntimeError):
                nested.size()

    assert [call.error is None for call in trace_of(w).calls] == [False] * 3


def test_a_question_is_the_latest_look_at_its_tensor() -> None:
    session = Session(WatchOptions())
    session.start(None, root_file=__file__)
    recorder = session._recorder
    looks = []

    def look(_: Any) -> None:
        looks.append(recorder.identity.tensors[id(x)].counter.seen_at)

    try:
        x = torch.ones(2)
        for _ in range(3):
            look(x.dim())
            look(x.stride())
        calls = recorder.log.calls[-2:]
    finally:
        session.leave()
        session.let_go()

    assert [call[FACTS].name for call in calls] == ["Tensor.dim", "Tensor.stride"]
    assert looks[-2:] == [call[SITE] for call in calls]
    assert looks[-2] != looks[-1]
