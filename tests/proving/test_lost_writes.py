"""A fix that runs and throws the write away is not proven, although no number of the run tells it."""

from __future__ import annotations

from typing import Any

import pytest
from proving.trying import first, verdict_on, watched, with_diff

NET = """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.{made}
    def forward(self, x):
        out = self.lin(x) * self.scale
        {write}
        return out
def train():
    net = Net()
    net(torch.ones(2, 3)).sum().backward()
    return net.lin.weight.grad
torch.manual_seed(0)
grad = train()"""
BUFFER = NET.format(
    made='register_buffer("scale", torch.ones(3))',
    write="for _, buf in self.named_buffers():\n            buf.copy_(buf * 0.5)",
)
ATTRIBUTE = NET.format(made="scale = torch.ones(3)", write="self.scale.mul_(0.5)")
SLOT = """\
def forward(x):
    parts = [torch.sigmoid(x), torch.sigmoid(-x)]
    total = parts[0].sum()
    for part in parts:
        part.mul_(2)
    return total
forward(x).backward()"""


def _diff(report: Any, old: str, *new: str) -> str:
    site = next(line for line, text in enumerate(report.trace.source, 1) if text == old)
    return "\n".join([f"@@ Cell In[{report.trace.cell}], line {site} @@", f"-{old}", *(f"+{line}" for line in new)])


@pytest.mark.parametrize(
    ("program", "old", "new", "holder"),
    [
        (BUFFER, "            buf.copy_(buf * 0.5)", ["buf = buf.clone()", "buf.copy_(buf * 0.5)"], "net.scale"),
        (ATTRIBUTE, "        self.scale.mul_(0.5)", ["scale = self.scale.clone()", "scale.mul_(0.5)"], "net.scale"),
        (SLOT, "        part.mul_(2)", ["part = part * 2"], "parts[0]"),
    ],
)
def test_a_fix_after_which_an_object_keeps_its_old_values_is_not_proven(
    ip: Any, program: str, old: str, new: list[str], holder: str
) -> None:
    report = watched(ip, program)
    indent = old[: -len(old.lstrip())]

    proof = verdict_on(with_diff(report, _diff(report, old, *(f"{indent}{line}" for line in new))))

    assert proof.verdict == "other numbers"
    assert f"`{holder}` keeps its old values" in proof.reason


@pytest.mark.parametrize(
    ("program", "old", "new"),
    [
        (BUFFER, "        out = self.lin(x) * self.scale", ["        out = self.lin(x) * self.scale.clone()"]),
        (ATTRIBUTE, "        self.scale.mul_(0.5)", ["        self.scale = self.scale * 0.5"]),
        (
            SLOT,
            "    total = parts[0].sum()",
            ["    parts = [part.clone() for part in parts]", "    total = parts[0].sum()"],
        ),
    ],
)
def test_a_fix_after_which_the_object_has_the_new_values_is_proven(
    ip: Any, program: str, old: str, new: list[str]
) -> None:
    report = watched(ip, program)

    assert verdict_on(with_diff(report, _diff(report, old, *new))).verdict == "proven"


def test_a_plain_attribute_of_a_module_is_compared(ip: Any) -> None:
    report = watched(
        ip, ATTRIBUTE.replace("def train():", "net = Net()\ndef train():").replace("    net = Net()\n", "")
    )
    diff = _diff(
        report, "        self.scale.mul_(0.5)", "        scale = self.scale.clone()", "        scale.mul_(0.5)"
    )

    assert "`net.scale[0]` is 1 instead of 0.5" in verdict_on(with_diff(report, diff)).reason


def test_a_proven_change_comes_before_the_rules_own_that_throws_the_write_away(ip: Any) -> None:
    report = watched(ip, BUFFER)
    old = "            buf.copy_(buf * 0.5)"

    shown = first(with_diff(report, _diff(report, old, "            buf = buf.clone()", old)).prove())

    assert shown.proof is not None
    assert shown.proof.verdict == "proven"
    assert "self.scale.clone()" in shown.diff
