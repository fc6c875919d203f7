"""Weights of a recurrent net that cuDNN gives one memory, by one call and with no version moved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

import inplace_magic
from inplace_magic.report import Report

pytestmark = pytest.mark.skipif(torch.backends.cuda.is_built(), reason="tests/cuda has cuDNN's own")


def flattened(
    weights: list[Tensor],
    stride: int,
    inputs: int,
    mode: int,
    hidden: int,
    proj: int,
    layers: int,
    first: bool,
    two: bool,
) -> Tensor:
    """As cuDNN does it: the weights lie in one new buffer afterwards, with the values that they had."""
    buffer = torch.cat([weight.detach().flatten() for weight in weights])
    at = 0
    for weight in weights:
        weight.data = buffer[at : at + weight.numel()].view_as(weight)
        at += weight.numel()
    return buffer


@pytest.fixture(autouse=True, scope="module")
def _kernel_for_the_cpu() -> Iterator[None]:
    library = torch.library.Library("aten", "IMPL")
    library.impl("_cudnn_rnn_flatten_weight", flattened, "CPU")
    yield
    library._destroy()


def flatten(net: nn.LSTM) -> None:
    """As ``flatten_parameters`` calls it."""
    with torch.no_grad():
        torch._cudnn_rnn_flatten_weight(net._flat_weights, 4, 3, 2, 5, 0, 1, False, False)


def alarms(report: Report | None) -> list[str]:
    assert report is not None
    assert report.faults == []
    return [finding.code for finding in report.hazards if finding.is_alarm]


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_training_goes_on_quietly_and_the_record_has_the_new_memory(level: str) -> None:
    torch.manual_seed(0)
    net, x = nn.LSTM(3, 5), torch.randn(4, 2, 3)
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    with inplace_magic.watch(level=level) as watch:
        for each in range(4):
            if each == 2:
                flatten(net)
            optimizer.zero_grad()
            net(x)[0].square().mean().backward()
            optimizer.step()
    assert alarms(watch.report) == []
    assert watch.report is not None
    lstms = [call for call in watch.report.calls if call.name == "torch.lstm"]
    before, after = ({meta.storage for meta in call.inputs if meta.requires_grad} for call in (lstms[0], lstms[-1]))
    assert (len(before), len(after)) == (4, 1)
    pointers = {weight.data_ptr() for weight in net.parameters()}
    assert {meta.data_ptr for meta in lstms[-1].inputs if meta.requires_grad} == pointers


def test_a_write_past_the_version_counter_is_found_in_the_new_memory_too() -> None:
    net, x = nn.LSTM(3, 5), torch.randn(4, 2, 3)
    with inplace_magic.watch() as watch:
        flatten(net)
        out = net(x)[0]
        net.weight_hh_l0.data.mul_(2)
        out.sum().backward()
    assert alarms(watch.report) == ["saved-values-changed"]
