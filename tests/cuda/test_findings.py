"""On a GPU the same is found as on the CPU, from the same lines, though no values are read there."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from on_device import AT, DEVICE, GPU, alarms, at_both_levels, needs_gpu, program, watched
from programs import score

from inplace_magic.render.tables.frames import COLUMNS

PROGRAMS = score.packed.FIRST
CASES = {case["case"]: case for case in score.cases_in(PROGRAMS)}


def judged(name: str, device: str, level: str) -> tuple[Any, ...]:
    """How an unchanged program ends there, what a watch makes of it, and whether that is what the labels want."""
    source = score.source_of(PROGRAMS, name)
    torch.set_default_device(device)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error, wrong, _names = score.outcome_of_file(source, None)
            seen, seen_wrong, names = score.outcome_of_file(source, level)
    finally:
        torch.set_default_device(None)
    report = names["report"]
    same = score.said(error) == score.said(seen) and wrong == seen_wrong
    right = dict(score.judge(CASES[name], source, report, above=0))
    return type(error), same, right, [code for code, _message in alarms(report)], report.faults


@needs_gpu
@at_both_levels
@pytest.mark.parametrize("name", CASES)
def test_a_labelled_program_is_judged_as_on_the_cpu(name: str, level: str) -> None:
    on_cpu, there = judged(name, "cpu", level), judged(name, DEVICE, level)
    if on_cpu[0] is not there[0]:
        pytest.skip("the program itself cannot be moved")
    assert there == on_cpu


@at_both_levels
@pytest.mark.parametrize("options", [{"fused": True}, {}, {"foreach": True}], ids=str)
def test_a_step_names_what_it_writes(options: dict[str, bool], level: str) -> None:
    weight = torch.ones(8, 8, device=DEVICE, requires_grad=True)
    optimizer = torch.optim.Adam([weight], **options)
    weight.grad = torch.ones_like(weight)
    report = watched(optimizer.step, level)
    written = [meta for call in report.calls for meta in call.mutated]
    assert any(meta.shape == (8, 8) and meta.requires_grad for meta in written)


SKIPPED = """
torch.manual_seed(0)
a, b = torch.nn.Linear(4, 4, device=D), torch.nn.Linear(4, 1, device=D)
optimizer = torch.optim.Adam(b.parameters(), lr=0.1, fused=FUSED)
scaler = torch.amp.GradScaler(D, init_scale=4.0)
x = torch.randn(3, 4, device=D)
out = b(torch.tanh(a(x)))
first, second = out.mean(), -out.mean()
scaler.scale(first).backward(retain_graph=True)
if INF:
    b.weight.grad[0, 0] = float("inf")
was = b.weight.detach().clone()
scaler.step(optimizer)
scaler.update()
unchanged = torch.equal(was, b.weight)
second.backward()
"""


@pytest.mark.parametrize("fused", [False, True])
def test_a_step_that_a_scaler_skips_is_not_accused(fused: bool, tmp_path: Path) -> None:
    names, report = program(SKIPPED, "calls", tmp_path, FUSED=fused, INF=True)
    assert report is not None
    assert names["unchanged"]
    assert alarms(report) == []


def test_of_a_fused_step_under_a_scaler_a_device_alone_knows_whether_it_wrote(tmp_path: Path) -> None:
    names, report = program(SKIPPED, "calls", tmp_path, FUSED=True, INF=False)
    assert report is not None
    assert not names["unchanged"]
    assert [code for code, _message in alarms(report)] == ([] if GPU else ["saved-values-changed"])
    assert any("may have skipped its writes" in sentence for sentence in report.blindness) is GPU


WITHIN_BACKWARD = """
import threading
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
ran_on = set()
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        ran_on.add(threading.get_ident())
        threading.current_thread().name
        g = g.clone()
        g.mul_(2)
        return g
def hook(g):
    kept.append(g)
    g = g * 1.5
    g.add_(1)
    return g
kept = []
w = torch.randn(4, 4, device=D, requires_grad=True)
x = torch.randn(3, 4, device=D)
h = checkpoint(lambda t: torch.tanh(t @ w).mul_(1.0), x, use_reentrant=False)
y = Twice.apply(h)
y.register_hook(hook)
def halve(p):
    p.grad.mul_(0.5)
w.register_post_accumulate_grad_hook(halve)
y.sum().backward()
"""


@needs_gpu
@at_both_levels
def test_users_code_within_backward_is_seen_on_the_thread_of_the_engine(level: str, tmp_path: Path) -> None:
    found = {}
    for device in ("cpu", DEVICE):
        names, report = program(WITHIN_BACKWARD, level, tmp_path, device)
        assert report is not None
        found[device] = (
            [
                (call.name, call.kind, call.callsite and call.callsite.line, call.parent is not None)
                for call in report.calls
                if call.name != "Tensor.get_device"  # PyTorch's checkpoint asks it of tensors on a GPU alone
            ],
            [(finding.code, finding.severity) for finding in report.hazards],
            report.trace.threads_started,
            [sentence for sentence in report.blindness if "thread" in sentence],
        )
    assert names["ran_on"] != {threading.get_ident()}
    assert found[DEVICE] == found["cpu"]


def test_copies_between_devices_make_write_or_give_the_same_tensor(tmp_path: Path) -> None:
    text = "a.copy_(b)\nc = a.to(D)\nd = b.to(D)\ne = b.cpu()\n"
    _names, report = program(text, "calls", tmp_path, a=torch.zeros(4), b=torch.ones(4, device=DEVICE))
    assert report is not None
    made = "ordinary" if GPU else "view"
    assert [(call.name, call.kind, len(call.mutations)) for call in report.calls] == [
        ("Tensor.copy_", "in-place", 1),
        ("Tensor.to", made, 0),
        ("Tensor.to", "view", 0),
        ("Tensor.cpu", made, 0),
    ]


def test_memory_that_comes_back_through_dlpack_is_known_and_its_write_is_reported() -> None:
    x = torch.randn(8, device=DEVICE, requires_grad=True)

    def run() -> None:
        out = torch.sigmoid(x)
        other = torch.from_dlpack(out.detach())
        other.zero_()
        out.sum().backward()

    assert [code for code, _message in alarms(watched(run))] == ["saved-values-changed"]


def test_a_cells_report_has_the_memory_of_the_device(loaded_shell: InteractiveShell) -> None:
    lines = ("%%inplace_watch --out report", "import torch", f"x = torch.ones(64, 64, device={DEVICE!r})")
    with capture_output() as shown:
        done = loaded_shell.run_cell("\n".join([*lines, "y = x @ x", "y.relu_()"]))
    assert done.success
    report = loaded_shell.user_ns["report"]
    frame = report.to_frame("memory")
    assert tuple(frame.columns) == COLUMNS["memory"]
    assert AT in set(frame["device"])
    assert AT in report.to_html()
    assert shown.outputs
