"""Kinds of calls, writes with their versions and values, and what lies beyond a watch's sight."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from capture.watching import LEVELS, call_of, calls_of, report_of, trace_of
from conftest import torch_modes
from torch import nn

import inplace_magic

KINDS: dict[str, tuple[Callable[[torch.Tensor], Any], str, str]] = {
    "x.sigmoid()": (lambda x: x.sigmoid(), "Tensor.sigmoid", "ordinary"),
    "torch.add(x, 1)": (lambda x: torch.add(x, 1), "torch.add", "ordinary"),
    "x[mask]": (lambda x: x[[True, False]], "Tensor.__getitem__", "ordinary"),
    "x.contiguous() of a transposed": (lambda x: x.t().contiguous(), "Tensor.contiguous", "ordinary"),
    "x.view(-1)": (lambda x: x.view(-1), "Tensor.view", "view"),
    "x[0]": (lambda x: x[0], "Tensor.__getitem__", "view"),
    "x.data": (lambda x: x.data, "Tensor.data", "view"),
    "x.T": (lambda x: x.T, "Tensor.T", "view"),
    "x.detach()": (lambda x: x.detach(), "Tensor.detach", "view"),
    "x.expand": (lambda x: x.expand(3, 2, 2), "Tensor.expand", "view"),
    "x.chunk(2)": (lambda x: x.chunk(2), "Tensor.chunk", "view"),
    "x.contiguous() of itself": (lambda x: x.contiguous(), "Tensor.contiguous", "view"),
    "x.add_(1)": (lambda x: x.add_(1), "Tensor.add_", "in-place"),
    "x += 1": (lambda x: x.__iadd__(1), "Tensor.add_", "in-place"),
    "x[0] = 1": (lambda x: x.__setitem__(0, 1), "Tensor.__setitem__", "in-place"),
    "F.relu(x, inplace=True)": (lambda x: F.relu(x, inplace=True), "F.relu", "in-place"),
    "out=x": (lambda x: torch.exp(torch.zeros(2, 2), out=x), "torch.exp", "in-place"),
    "x.zero_()": (lambda x: x.zero_(), "Tensor.zero_", "in-place"),
    "a write through a view": (lambda x: x[0].mul_(2), "Tensor.mul_", "in-place"),
    "torch._foreach_mul_": (lambda x: torch._foreach_mul_([x, x.clone()], 2), "torch._foreach_mul_", "in-place"),
    "x.t_()": (lambda x: x.t_(), "Tensor.t_", "metadata"),
    "x.unsqueeze_(0)": (lambda x: x.unsqueeze_(0), "Tensor.unsqueeze_", "metadata"),
    "x.resize_(1)": (lambda x: x.resize_(1), "Tensor.resize_", "metadata"),
    "x.requires_grad_()": (lambda x: x.requires_grad_(), "Tensor.requires_grad_", "metadata"),
    "x.tolist()": (lambda x: x.tolist(), "Tensor.tolist", "query"),
    "x.size()": (lambda x: x.size(), "Tensor.size", "query"),
    "torch.equal(x, x)": (lambda x: torch.equal(x, x), "torch.equal", "query"),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("expression", KINDS)
def test_a_call_is_of_the_kind_of_what_it_did(expression: str, level: str) -> None:
    does, name, kind = KINDS[expression]
    x = torch.ones(2, 2)
    with inplace_magic.watch(level=level) as watch:
        does(x)
    assert call_of(watch, name).kind == kind


def test_looking_at_a_property_is_no_call() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        _ = (x.shape, x.requires_grad, x.grad, x.is_leaf, x.dtype, x.grad_fn)
    assert report_of(watch).calls == []


@pytest.mark.parametrize("level", LEVELS)
def test_a_parameter_that_was_frozen_is_seen_frozen_although_no_version_moves(level: Any) -> None:
    w = nn.Parameter(torch.ones(2))
    with inplace_magic.watch(level=level) as watch:
        for trained in (True, False, True):
            w.requires_grad = trained
            w.mul(2)

    assert [call.inputs[0].requires_grad for call in calls_of(watch, "Tensor.mul")] == [True, False, True]


@pytest.mark.parametrize("level", LEVELS)
def test_a_write_has_its_versions_and_the_values_around_it(level: str) -> None:
    x = torch.tensor([1.0, 2.0])
    with inplace_magic.watch(level=level) as watch:
        x.mul_(3)
    call = call_of(watch, "Tensor.mul_")
    (mutation,) = call.mutations
    assert (mutation.version_before, mutation.version_after) == (0, 1)
    assert (mutation.values_before, mutation.values_after) == ((1.0, 2.0), (3.0, 6.0))
    assert (call.inputs[0].version, call.mutated[0].version) == (0, 1)
    assert call.outputs[0].tensor == call.inputs[0].tensor == mutation.tensor


def test_values_are_kept_up_to_the_size_that_was_asked_for() -> None:
    x = torch.ones(3)
    with inplace_magic.watch(max_values=2) as watch:
        x.mul_(3)
        x[:2].add_(1)
    assert call_of(watch, "Tensor.mul_").mutations[0].values_before is None
    assert call_of(watch, "Tensor.add_").mutations[0].values_before == (3.0, 3.0)


def test_a_refused_write_is_an_in_place_call_with_its_error_and_no_mutation() -> None:
    w = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError) as error, inplace_magic.watch() as watch:
        w.add_(1)
    call = call_of(watch, "Tensor.add_")
    assert (call.kind, call.mutations) == ("in-place", ())
    assert call.error == f"RuntimeError: {error.value}"


@pytest.mark.parametrize("level", LEVELS)
def test_batchnorm_writes_its_statistics_although_no_version_moves(level: str) -> None:
    bn = nn.BatchNorm1d(2)
    before = bn.running_mean._version  # type: ignore[union-attr]  # it tracks statistics
    with inplace_magic.watch(level=level) as watch:
        bn(torch.randn(4, 2))
    assert bn.running_mean._version == before  # type: ignore[union-attr]  # as above
    call = call_of(watch, "F.batch_norm")
    written = [meta.shape for meta in call.mutated]
    assert (call.kind, written) == ("in-place", [(2,), (2,)])
    assert all(mutation.version_before == mutation.version_after for mutation in call.mutations)


def test_batchnorm_in_eval_mode_writes_nothing() -> None:
    bn = nn.BatchNorm1d(2).eval()
    with inplace_magic.watch() as watch:
        bn(torch.randn(4, 2))
    assert call_of(watch, "F.batch_norm").mutations == ()


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_fused_step_writes_its_parameters_although_no_version_moves(kind: str, level: str) -> None:
    w = torch.ones(2, requires_grad=True)
    optimizer = getattr(torch.optim, kind)([w], lr=0.1, fused=True)
    w.sum().backward()
    with inplace_magic.watch(level=level) as watch:
        optimizer.step()
    assert w._version == 0
    call = next(call for call in trace_of(watch).calls if "_fused_" in call.name)
    serial = call.inputs[0].tensor
    assert [m.version_before for m in call.mutations if m.tensor == serial] == [0]
    assert [m.version_after for m in call.mutations if m.tensor == serial] == [0]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop"])
def test_foreach_optimizers_move_versions_as_they_do_unwatched(level: str, kind: str) -> None:
    plain = _versions_after_step(kind)
    with inplace_magic.watch(level=level) as watch:
        watched = _versions_after_step(kind)
    assert report_of(watch).calls
    assert watched == plain
    assert all(version > 0 for version in plain)


def _versions_after_step(kind: str) -> list[int]:
    weights = [torch.ones(2, requires_grad=True) for _ in range(2)]
    optimizer = getattr(torch.optim, kind)(weights, lr=0.1, foreach=True)
    torch.stack(weights).sum().backward()
    optimizer.step()
    optimizer.step()
    return [weight._version for weight in weights]


@pytest.mark.parametrize("level", LEVELS)
def test_a_foreach_write_between_forward_and_backward_still_raises(level: str) -> None:
    y = torch.ones(2, requires_grad=True).exp()
    with inplace_magic.watch(level=level):
        torch._foreach_mul_([y], 2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_the_engine_runs_of_the_users_code_belongs_to_the_backward_call() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x * 2
        y.register_hook(lambda grad: grad.clamp(max=0.5))
        y.sum().backward()
    backward = call_of(watch, "Tensor.backward")
    inside = call_of(watch, "Tensor.clamp")
    assert inside.parent == backward.index
    assert backward.parent is None
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_call_knows_whether_autograd_was_recording() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        x.exp()
        with torch.no_grad():
            x.sigmoid()
    assert call_of(watch, "Tensor.exp").grad_enabled
    assert not call_of(watch, "Tensor.sigmoid").grad_enabled


def test_a_backward_is_recorded_with_its_roots_and_inputs() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x.exp().sum()
        torch.autograd.grad(y, (x,), retain_graph=True)
        y.backward()
    of_grad, of_backward = trace_of(watch).backwards
    leaf = call_of(watch, "Tensor.exp").inputs[0].tensor
    root = call_of(watch, "Tensor.sum").outputs[0].node
    assert (of_grad.roots, of_grad.inputs, of_grad.retain_graph) == ((root,), (leaf,), True)
    assert (of_backward.roots, of_backward.inputs, of_backward.retain_graph) == ((root,), None, False)


def test_a_write_on_another_thread_is_noticed_and_no_line_of_this_one_is_blamed_for_it() -> None:
    x = torch.ones(2)
    with inplace_magic.watch() as watch:
        x.mul(1)
        _on_another_thread(lambda: x.add_(1))
        x.mul(2)
    (unseen,) = trace_of(watch).unseen
    assert (unseen.version_before, unseen.version_after, unseen.noticed) == (0, 1, 1)
    assert (unseen.callsite, unseen.beside) == (None, True)
    assert trace_of(watch).threads_started == 1
    assert calls_of(watch, "Tensor.add_") == []


def _on_another_thread(work: Callable[[], Any]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.mark.parametrize("level", LEVELS)
def test_no_more_calls_are_kept_than_asked_for_and_the_report_says_so(level: str) -> None:
    x = torch.zeros(2)
    with inplace_magic.watch(level=level, max_events=200, full=True) as watch:
        for _ in range(1000):
            x.add_(1)
    report = report_of(watch)
    assert len(report.calls) <= 200
    assert x.tolist() == [1000.0, 1000.0]
    assert any("--max-events" in line for line in report.blindness)
    assert (report.calls[0].index, report.calls[-1].index) == (0, 999)


def test_the_evidence_of_a_pending_backward_outlives_the_bound() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch(max_events=10) as watch:
        y = x.sigmoid()
        y.mul_(2)
        count = torch.zeros(1)
        for _ in range(100):
            count.add_(1)
    (finding,) = report_of(watch).hazards
    assert finding.code == "saved-tensor-overwritten"
    assert finding.saved is not None
    assert finding.mutation is not None
    assert (finding.saved.text, finding.mutation.text) == ("y = x.sigmoid()", "y.mul_(2)")


@pytest.mark.parametrize("level", LEVELS)
def test_ctrl_c_leaves_the_calls_before_it_in_the_report_and_no_mode_behind(level: str) -> None:
    x = torch.ones(2, requires_grad=True)

    def interrupt(grad: torch.Tensor) -> None:
        raise KeyboardInterrupt

    y = x.exp()
    y.register_hook(interrupt)
    with pytest.raises(KeyboardInterrupt), inplace_magic.watch(level=level) as watch:
        y.sum().backward()
    assert torch_modes() == []
    assert call_of(watch, "Tensor.backward").error == "KeyboardInterrupt: "
    assert trace_of(watch).error == "KeyboardInterrupt: "
    assert x.grad is None


def test_nested_containers_are_looked_into() -> None:
    parts: Any = [torch.ones(1), (torch.ones(2), [torch.ones(3)])]
    with inplace_magic.watch() as watch:
        torch._foreach_mul_([parts[0], parts[1][0], *parts[1][1]], 2)
        torch.block_diag(*parts[:1], parts[1][0])
        y = torch.ones(1, requires_grad=True).sum()
        torch.autograd.grad([y], [y], [torch.tensor(1.0)])
    assert len(call_of(watch, "torch._foreach_mul_").inputs) == 3
    assert len(call_of(watch, "torch.block_diag").inputs) == 2
    assert len(call_of(watch, "torch.autograd.grad").inputs) == 3
