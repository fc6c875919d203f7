"""Asked: is my whole training step all right, with all the in-place calls of a real ResNet-18 in it?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
import torch
from asked.asking import alarms
from asked.resnet import ResNet18
from torch import nn

import inplace_magic
from inplace_magic.report import Report

State = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Step:
    """What one training step leaves behind."""

    loss: torch.Tensor
    state: State
    """Parameters, BatchNorm statistics, gradients and momentum buffers."""
    versions: dict[str, int]


def train_one_step(
    model: ResNet18, optimizer: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    logits = model(images)
    loss = nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    torch.autograd.backward(loss)
    optimizer.step()
    return loss.detach()


def one_step(level: str | None) -> tuple[Step, Report | None]:
    """The second step of a training run (momentum has begun); watched when a level is given."""
    torch.manual_seed(0)
    model = ResNet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images, labels = torch.randn(2, 3, 32, 32), torch.tensor([3, 7])
    train_one_step(model, optimizer, images, labels)
    report = None
    if level is None:
        loss = train_one_step(model, optimizer, images, labels)
    else:
        with inplace_magic.watch(level=level) as watched:
            loss = train_one_step(model, optimizer, images, labels)
        report = watched.report
    state: State = dict(model.state_dict())
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        state[f"{name}.grad"] = parameter.grad
        state[f"{name}.momentum"] = optimizer.state[parameter]["momentum_buffer"]
    return Step(loss, state, {name: tensor._version for name, tensor in state.items()}), report


@pytest.fixture(scope="module")
def plain() -> Step:
    return one_step(None)[0]


@pytest.fixture(scope="module", params=["calls", "ops"])
def watched(request: pytest.FixtureRequest) -> tuple[Step, Report]:
    step, report = one_step(request.param)
    assert report is not None
    return step, report


def test_the_step_is_the_unwatched_step_bit_for_bit(plain: Step, watched: tuple[Step, Report]) -> None:
    step, _ = watched
    assert torch.equal(step.loss, plain.loss)
    assert step.state.keys() == plain.state.keys()
    assert [name for name in plain.state if not torch.equal(step.state[name], plain.state[name])] == []
    assert step.versions == plain.versions


def test_nothing_is_reported_as_wrong(watched: tuple[Step, Report]) -> None:
    _, report = watched
    assert alarms(report) == []
    assert report.faults == []
    assert report.verdict.startswith("✓ Nothing wrong found")


def test_every_relu_and_every_shortcut_is_counted_as_in_place(watched: tuple[Step, Report]) -> None:
    _, report = watched
    written = Counter(call.callsite.text for call in report.calls if call.kind == "in-place" and call.callsite)
    assert written["out += identity"] == 8
    assert written["out = self.relu(out)"] == 16
    relus = [call for call in report.calls if call.name == "F.relu"]
    assert len(relus) == 17
    assert {call.kind for call in relus} == {"in-place"}


def test_the_relu_writes_the_tensor_that_batchnorm_gave_and_nothing_had_saved_it(watched: tuple[Step, Report]) -> None:
    _, report = watched
    norms = [call for call in report.calls if call.name == "F.batch_norm"]
    assert len(norms) == 20
    given = {output.tensor for call in norms for output in call.outputs}
    saved_by_norms = {node.node for node in report.trace.nodes if node.name == "NativeBatchNormBackward0"}
    storages = {output.storage for call in norms for output in call.outputs}
    assert {call.inputs[0].tensor for call in report.calls if call.name == "F.relu"} <= given
    assert storages.isdisjoint(saved.storage for saved in report.trace.saved if saved.node in saved_by_norms)


def test_the_optimizers_writes_are_seen_and_each_parameter_is_written_once(watched: tuple[Step, Report]) -> None:
    _, report = watched
    (line,) = {c.callsite.line for c in report.calls if c.callsite and c.callsite.text == "optimizer.step()"}
    parameters = Counter(
        mutation.tensor
        for call in report.calls
        if call.callsite is not None and call.callsite.line == line
        for mutation in call.mutations
        if any(given.tensor == mutation.tensor and given.is_leaf and given.requires_grad for given in call.inputs)
    )
    assert len(parameters) == 62
    assert set(parameters.values()) == {1}


def test_the_running_statistics_are_reported_as_written_although_no_version_counts_them(
    watched: tuple[Step, Report],
) -> None:
    _, report = watched
    for call in report.calls:
        if call.name == "F.batch_norm":
            uncounted = [m for m in call.mutations if m.version_before == m.version_after]
            assert len(uncounted) == 2
