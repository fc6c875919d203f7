"""Backward on a thread of PyTorch's autograd engine, as with CUDA tensors, is recorded as on the caller's thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from imitation import engine_thread
from programs import packed

import inplace_magic
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report

LEVELS = ("calls", "ops")

USER_CODE_IN_BACKWARD = """
import threading, torch
from torch.utils.checkpoint import checkpoint
names = set()
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        names.add(threading.current_thread().name)
        g = g.clone()
        g.mul_(2)
        return g
def hook(g):
    g = g * 1.5
    g.add_(1)
    return g
def halve(p):
    p.grad.mul_(0.5)
w = torch.ones(4, 4, requires_grad=True)
h = checkpoint(lambda t: torch.tanh(t @ w).mul_(1.0), torch.ones(3, 4), use_reentrant=False)
y = Twice.apply(h)
y.register_hook(hook)
w.register_post_accumulate_grad_hook(halve)
y.sum().backward()
"""


@pytest.fixture
def on_engine_thread(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has backward run there from now on, when called."""

    def begin() -> None:
        for module in engine_thread.PLACES:
            monkeypatch.setattr(module, "_engine_run_backward", engine_thread.run_backward)

    return begin


def _watched(folder: Path, program: str, level: Any) -> tuple[Report, dict[str, Any]]:
    file = folder / "program.py"
    file.write_text(program)
    names: dict[str, Any] = {"__name__": "__main__"}
    with suppress(RuntimeError), inplace_magic.watch(level=level) as watch:
        exec(compile(program, str(file), "exec"), names)
    report = watch.report
    assert report is not None
    assert report.faults == []
    return report, names


def _lines(place: Callsite | None) -> list[int]:
    return [] if place is None else [place.line, *_lines(place.caller)]


def _facts(report: Report) -> Any:
    calls = [(call.name, call.kind, _lines(call.callsite), call.parent) for call in report.calls]
    findings = [(hazard.code, hazard.severity, _lines(hazard.mutation)) for hazard in report.hazards]
    ops = [(op.name, op.call, op.in_backward) for op in report.trace.ops]
    return calls, findings, ops, report.blindness, report.trace.threads_started


def test_the_imitation_has_no_frame_below_a_hook(on_engine_thread: Callable[[], None]) -> None:
    seen: list[tuple[bool, bool]] = []

    def hook(_gradient: torch.Tensor) -> None:
        import sys

        seen.append((threading.get_ident() == caller, sys._getframe().f_back is None))

    caller = threading.get_ident()
    on_engine_thread()
    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    (x * 2).sum().backward()
    assert seen == [(False, True)]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="forgets the imitated thread as it ends")
@pytest.mark.parametrize("level", LEVELS)
def test_the_users_code_in_backward_is_told_with_its_lines_and_the_line_that_called_backward(
    level: Any, tmp_path: Path, on_engine_thread: Callable[[], None]
) -> None:
    plain, names = _watched(tmp_path, USER_CODE_IN_BACKWARD, level)
    on_engine_thread()
    moved, there = _watched(tmp_path, USER_CODE_IN_BACKWARD, level)
    assert there["names"] != names["names"] == {"MainThread"}
    assert _facts(moved) == _facts(plain)


@pytest.mark.parametrize("level", [*LEVELS, "writes"])
@pytest.mark.parametrize("name", ["foreach_decay_before_backward", "softplus_assigned_back_into_column"])
def test_a_call_that_autograd_makes_from_no_frame_is_neither_the_users_nor_a_fault(
    name: str, level: Any, tmp_path: Path, on_engine_thread: Callable[[], None]
) -> None:
    """What it says of a view whose base was written sets ``_backward_hooks`` from C++."""
    program = packed.source_of(packed.FIRST, name)
    plain, _ = _watched(tmp_path, program, level)
    on_engine_thread()
    assert _facts(_watched(tmp_path, program, level)[0]) == _facts(plain)


def scripted(gradient: torch.Tensor) -> torch.Tensor:
    return gradient * 3


@pytest.mark.parametrize("level", [*LEVELS, "writes"])
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_a_scripted_function_and_torchs_own_can_be_hooks(level: Any, on_engine_thread: Callable[[], None]) -> None:
    script = torch.jit.script(scripted)
    x = torch.ones(2, requires_grad=True)
    on_engine_thread()
    with inplace_magic.watch(level=level) as watch:
        y = x * 2
        for hook in (script, torch.neg, torch.nn.functional.relu6):
            y.register_hook(hook)
        (y * torch.tensor([-1.0, 1.0])).sum().backward()
    assert watch.report is not None
    assert watch.report.faults == []
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 0.0]


@pytest.mark.parametrize("level", LEVELS)
def test_a_compiled_backward_is_one_thing_there_too(level: Any, on_engine_thread: Callable[[], None]) -> None:
    on_engine_thread()
    compiled = torch.compile(lambda t: (t * 2).sin().sum(), backend="aot_eager")
    x = torch.ones(3, requires_grad=True)
    try:
        with inplace_magic.watch(level=level) as watch:
            compiled(x).backward()
            y = x * 2
    finally:
        torch._dynamo.reset()
    report = watch.report
    assert report is not None
    assert report.faults == []
    (said,) = [sentence for sentence in report.blindness if "ran compiled" in sentence and "backward()" in sentence]
    assert "`compiled(x).backward()`" in said
    assert not [op for op in report.trace.ops if "cos" in op.name or "sin" in op.name]
    assert report.calls[-1].name == "Tensor.mul", "the watch went on afterwards"
    assert y.tolist() == [2.0] * 3


@pytest.mark.parametrize("level", LEVELS)
def test_two_threads_that_run_one_backward_have_open_calls_of_their_own(level: Any) -> None:
    """As the engine's for two devices: each carries the probes. A call on one of them ends while a later one on the
    other still runs."""
    first_open, second_open, first_closed = threading.Event(), threading.Event(), threading.Event()
    leaves = [torch.ones(2, requires_grad=True) for _ in range(3)]
    modes: list[Any] = []

    def in_first(gradient: torch.Tensor) -> torch.Tensor:
        first_open.set()
        assert second_open.wait(10)
        return gradient.mul(1)

    def in_second(gradient: torch.Tensor) -> torch.Tensor:
        second_open.set()
        assert first_closed.wait(10)
        return gradient.add(1)

    def run(leaf: torch.Tensor, hook: Callable[[torch.Tensor], torch.Tensor]) -> None:
        for mode in modes:
            mode.__enter__()
        try:
            leaf.register_hook(hook)
            if hook is in_second:
                assert first_open.wait(10)
            torch.autograd.grad((leaf * 2).sum(), leaf)
            if hook is in_first:
                first_closed.set()
        finally:
            for mode in reversed(modes):
                mode.__exit__(None, None, None)

    def both(_gradient: torch.Tensor) -> None:
        modes[:] = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
        modes[:] += torch.overrides._get_current_function_mode_stack()
        threads = [threading.Thread(target=run, args=each) for each in zip(leaves[1:], (in_first, in_second))]  # noqa: B905
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    leaves[0].register_hook(both)
    with inplace_magic.watch(level=level) as watch:
        leaves[0].sum().backward()
    report = watch.report
    assert report is not None
    assert report.faults == []
    backward = [call.index for call in report.calls if call.name == "Tensor.backward"]
    grads = [call for call in report.calls if call.name == "torch.autograd.grad"]
    within = {call.name: call.parent for call in report.calls if call.name in ("Tensor.mul", "Tensor.add")}
    assert [call.parent for call in grads] == backward * 2
    assert [len(call.inputs) for call in grads] == [2, 2]
    assert within == {"Tensor.mul": grads[0].index, "Tensor.add": grads[1].index}
