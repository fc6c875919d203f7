"""Which tensors a call writes without moving a version, compared with what it does to their values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from imitation.values_unread import leave_values_unread
from torch.nn import functional as F

import inplace_magic
from inplace_magic.capture.torch.functions import facts_of
from inplace_magic.report import Report

aten = torch.ops.aten


def numbers(*sizes: int) -> torch.Tensor:
    return torch.linspace(-1.0, 2.0, torch.Size(sizes).numel()).reshape(sizes)


X, POSITIVE, NO_INF, INF = numbers(4, 2), torch.ones(2), torch.tensor(0.0), torch.tensor(1.0)
ADAM = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8, "amsgrad": False, "maximize": False}


def adam(found_inf: torch.Tensor | None, scale: torch.Tensor | None = None) -> Callable[..., object]:
    def step(*t: torch.Tensor) -> None:
        torch._fused_adam_([t[0]], [t[1]], [t[2]], [t[3]], [], [t[4]], **ADAM, grad_scale=scale, found_inf=found_inf)

    return step


def observing(flag: int) -> Callable[..., object]:
    on = torch.tensor([flag])
    return lambda low, high, scale, zero: torch.fused_moving_avg_obs_fake_quant(
        X, on, on, low, high, scale, zero, 0.1, 0, 255, 0
    )


LIBRARY = torch.library.Library("inplace_magic_uncounted", "DEF")
LIBRARY.define("fill_(Tensor(a!) x) -> Tensor(a!)")
LIBRARY.define("halve(Tensor(a!)[] xs, Tensor y) -> ()")
LIBRARY.define("add_one_(Tensor(a!) x) -> ()")


def fill_(x: torch.Tensor) -> torch.Tensor:
    x.numpy().fill(5)
    return x


def halve(xs: list[torch.Tensor], y: torch.Tensor) -> None:
    for x in xs:
        x.numpy()[...] /= 2


def add_one_(x: torch.Tensor) -> None:
    x.add_(1)


for kernel in (fill_, halve, add_one_):
    LIBRARY.impl(kernel.__name__, kernel, "CPU")
OWN = torch.ops.inplace_magic_uncounted

STATISTICS = (torch.zeros(2), torch.ones(2))
STATE = (torch.ones(3), torch.full((3,), 2.0), torch.zeros(3), torch.zeros(3), torch.ones(()))
RANGE = (torch.zeros(1), torch.zeros(1), torch.ones(1), torch.ones(1, dtype=torch.int32))
CALLS: dict[str, tuple[Callable[..., object], tuple[torch.Tensor, ...]]] = {
    "batch norm": (lambda m, v: F.batch_norm(X, m, v, training=True), STATISTICS),
    "batch norm of a trained net": (lambda m, v: F.batch_norm(X, m, v), STATISTICS),
    "instance norm": (lambda m, v: F.instance_norm(X[None].mT, m, v), STATISTICS),
    "its kernel": (lambda m, v: torch.native_batch_norm(X, None, None, m, v, True, 0.1, 1e-5), STATISTICS),
    "one overload of it": (
        lambda m, v: aten.native_batch_norm.default(X, None, None, m, v, True, 0.1, 1e-5),
        STATISTICS,
    ),
    "its choice of a kernel": (
        lambda m, v: torch._batch_norm_impl_index(X, None, None, m, v, True, 0.1, 1e-5, False),
        STATISTICS,
    ),
    "an operator of a library": (lambda x: OWN.fill_(x), (torch.zeros(3),)),
    "one overload of that": (lambda x: OWN.fill_.default(x), (torch.zeros(3),)),
    "one that takes a list": (lambda x, y, z: OWN.halve([x, y], z), (torch.ones(2), torch.ones(1), torch.ones(2))),
    "one that writes by torch's own": (lambda x: OWN.add_one_(x), (torch.zeros(1),)),
    "statistics alone": (lambda m, v: torch.batch_norm_update_stats(X, m, v, 0.1), STATISTICS),
    "with an update": (lambda m, v: aten._batch_norm_with_update(X, None, None, m, v, 0.1, 1e-5), STATISTICS),
    "an observer": (observing(1), RANGE),
    "an observer that is off": (observing(0), RANGE),
    "noise": (lambda noise: aten.rrelu_with_noise(X, noise, training=True), (torch.zeros(4, 2),)),
    "a fused step": (adam(None), STATE),
    "a fused step of a scaler": (adam(NO_INF, torch.tensor(4.0)), STATE),
    "a fused step that a scaler skips": (adam(INF, torch.tensor(4.0)), STATE),
    "unscaling": (
        lambda g: torch._amp_foreach_non_finite_check_and_unscale_([g], torch.zeros(1), torch.tensor(0.5)),
        (POSITIVE,),
    ),
    "the count of a scaler": (
        lambda scale, count: torch._amp_update_scale_(scale, count, NO_INF, 2.0, 0.5, 2),
        (torch.ones(()), torch.ones((), dtype=torch.int32)),
    ),
}


def watched(call: Callable[..., object], tensors: tuple[torch.Tensor, ...]) -> tuple[Report, set[int]]:
    """The report of the call, and the positions of the tensors whose values it changed."""
    own = [tensor.clone() for tensor in tensors]
    with inplace_magic.watch() as watch:
        call(*own)
    assert watch.report is not None
    assert watch.report.faults == []
    return watch.report, {at for at, old in enumerate(tensors) if not torch.equal(old, own[at])}


def written(report: Report, *, certain: bool = True) -> int:
    return len({write.tensor for call in report.calls for write in call.mutations if write.certain is certain})


@pytest.mark.parametrize("name", CALLS)
def test_the_record_has_a_write_for_each_tensor_whose_values_change(name: str) -> None:
    call, tensors = CALLS[name]
    report, changed = watched(call, tensors)
    assert written(report) == len(changed)


def test_what_only_a_device_knows_is_a_write_that_may_have_been_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_values_unread(monkeypatch)
    call, tensors = CALLS["a fused step that a scaler skips"]
    report, _changed = watched(call, tensors)
    assert written(report) == 0
    assert written(report, certain=False) == 4
    (said,) = (sentence for sentence in report.blindness if "skipped" in sentence)
    assert said.startswith("`torch._fused_adam_")


def test_a_step_that_a_scaler_may_have_skipped_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    def blamed(found_inf: torch.Tensor) -> list[str]:
        weight = torch.ones(3, requires_grad=True)
        state = [torch.zeros(3), torch.zeros(3), torch.ones(())]
        with inplace_magic.watch() as watch:
            out = (weight * weight).sum()
            adam(found_inf)(weight.detach(), torch.ones(3), *state)
            out.backward()
        assert watch.report is not None
        return [finding.code for finding in watch.report.hazards if finding.is_alarm]

    assert blamed(NO_INF) == ["saved-values-changed"]
    assert blamed(INF) == []
    leave_values_unread(monkeypatch)
    assert blamed(INF) == []
    assert blamed(NO_INF) == []


WRITES_NOTHING = ("backward", "functional", "no_update", "no_training")


def test_every_operator_that_takes_running_statistics_is_known() -> None:
    known = {}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        takes = any(argument.name == "running_mean" for argument in schema.arguments)
        if takes and schema.name.startswith("aten::") and not any(word in name for word in WRITES_NOTHING):
            known[name] = facts_of(getattr(aten, name)).uncounted is not None
    assert len(known) >= 11
    assert all(known.values()), known


def test_kernels_of_a_device_write_the_statistics_that_they_are_given() -> None:
    mean, variance, count = torch.zeros(2), torch.ones(2), torch.tensor([4.0])
    gather = facts_of(torch.batch_norm_gather_stats_with_counts).uncounted
    cudnn = facts_of(torch.cudnn_batch_norm).uncounted
    assert gather is not None
    assert cudnn is not None
    given = gather((X, X, X, mean, variance, 0.1, 1e-5, count), {}).tensors
    assert [id(tensor) for tensor in given] == [id(mean), id(variance)]
    given = cudnn((X, POSITIVE, None, mean, variance, True, 0.1, 1e-5), {}).tensors
    assert [id(tensor) for tensor in given] == [id(mean), id(variance)]
    assert not cudnn((X, POSITIVE, None, mean, variance, False, 0.1, 1e-5), {}).tensors
