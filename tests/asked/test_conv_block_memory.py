"""Asked: what does ``nn.ReLU(inplace=True)`` save in a real block, and does it change a result or a gradient?"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from asked.asking import Asked, Asker, alarms, births

BLOCK = """\
class ConvBlock(nn.Module):
    def __init__(self, in_channels, out_channels, down=True, use_act=True, inplace=False, **kwargs):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, padding_mode="reflect", **kwargs)
            if down
            else nn.ConvTranspose2d(in_channels, out_channels, **kwargs),
            nn.InstanceNorm2d(out_channels),
            nn.ReLU(inplace=inplace) if use_act else nn.Identity(),
        )

    def forward(self, x):
        return self.conv(x)

def build(**kwargs):
    torch.manual_seed(1)
    return ConvBlock(3, 10, kernel_size=3, **kwargs)

image = torch.randn(1, 3, 8, 8)
"""
RESULT = {"down": 10 * 6 * 6 * 4, "up": 10 * 10 * 10 * 4}
"""Bytes of one result of the block."""


def forward(ask: Asker, **arguments: Any) -> Asked:
    given = ", ".join(f"{name}={value}" for name, value in arguments.items())
    asked = ask("result = block(image)\n", given=f"{BLOCK}block = build({given})\n")
    assert asked.error is None
    assert alarms(asked.report) == []
    return asked


def relu_of(asked: Asked) -> Any:
    (relu,) = [call for call in asked.report.calls if call.name == "F.relu"]
    return relu


@pytest.mark.parametrize("way", ["down", "up"])
def test_the_twin_makes_one_allocation_fewer_of_the_size_of_the_result(ask: Asker, way: str) -> None:
    plain, twin = forward(ask, down=way == "down"), forward(ask, down=way == "down", inplace=True)
    assert births(plain.report) == births(twin.report) + 1
    allocated = [asked.frame("lines")["allocated_bytes"].sum() for asked in (plain, twin)]
    assert allocated[0] - allocated[1] == RESULT[way]
    assert (relu_of(plain).kind, relu_of(twin).kind) == ("ordinary", "in-place")


def test_the_saving_is_in_the_peak_and_not_in_what_stays(ask: Asker) -> None:
    plain, twin = (forward(ask, inplace=inplace).frame("lines") for inplace in (False, True))
    assert plain["peak_bytes"].max() - twin["peak_bytes"].max() == RESULT["down"]
    assert plain["retained_bytes"].sum() == twin["retained_bytes"].sum()


@pytest.mark.parametrize("way", ["down", "up"])
def test_the_twin_gives_the_same_result_and_the_same_gradients(ask: Asker, way: str) -> None:
    results, gradients = [], []
    for inplace in (False, True):
        asked = forward(ask, down=way == "down", inplace=inplace)
        results.append(asked.user["result"])
        results[-1].square().sum().backward()
        gradients.append([parameter.grad for parameter in asked.user["block"].parameters()])
    assert torch.equal(*results)
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


def test_without_the_activation_there_is_no_relu_call_and_identity_makes_nothing(ask: Asker) -> None:
    with_act, without = forward(ask), forward(ask, use_act=False)
    assert [call for call in without.report.calls if call.name == "F.relu"] == []
    assert births(without.report) == births(with_act.report) - 1
    (norm,) = [call for call in without.report.calls if call.name == "F.instance_norm"]
    assert norm.outputs[0].python_id == id(without.user["result"])


def test_every_call_of_the_block_is_at_the_users_own_line_and_the_chain_leads_to_the_cell(ask: Asker) -> None:
    asked = forward(ask)
    sites = {call.callsite for call in asked.report.calls}
    assert {site.text for site in sites if site} == {"return self.conv(x)"}
    (caller,) = {site.caller for site in sites if site}
    assert caller is not None
    assert (caller.line, caller.text) == (2, "result = block(image)")
