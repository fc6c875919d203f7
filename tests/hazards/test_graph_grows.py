"""A total, a list or a state that keeps the graph of each pass, where only numbers are read off it."""

from __future__ import annotations

from typing import Any

import pytest
from hazards.curing import cured, run, watch_cell

START = "import torch\ntorch.manual_seed(0)\nnet = torch.nn.Linear(64, 64)\n"
LOSS = "net(torch.randn(128, 64)).pow(2).mean()"

GROWING = {
    "total": (
        f"total = 0\nfor step in range(20):\n    loss = {LOSS}\n    total += loss\nprint(float(total))",
        "total += loss",
    ),
    "list": (
        f"losses = []\nfor step in range(20):\n    loss = {LOSS}\n    losses.append(loss)\nprint(losses[-1].item())\n"
        "print(sum(float(each) for each in losses))",
        "losses.append(loss)",
    ),
    "outputs": (
        "kept = []\nfor step in range(20):\n    kept.append(net(torch.randn(256, 64)))\n"
        "print(torch.cat(kept).mean().item())",
        "kept.append(net(torch.randn(256, 64)))",
    ),
    "attribute": (
        "class Meter:\n    sum = 0\n    def update(self, value):\n        self.sum = self.sum + value\n\n"
        f"meter = Meter()\nfor step in range(20):\n    meter.update({LOSS})\nprint(float(meter.sum))",
        "self.sum = self.sum + value",
    ),
    "state": (
        "cell = torch.nn.RNNCell(64, 64)\nh = torch.zeros(256, 64)\nfor step in range(20):\n"
        "    h = cell(torch.randn(256, 64), h)\nprint(h.sum().item())",
        "h = cell(torch.randn(256, 64), h)",
    ),
}


@pytest.mark.parametrize("name", GROWING)
def test_the_line_that_keeps_them_is_named_with_the_bytes_of_a_pass(loaded_shell: Any, name: str) -> None:
    source, line = GROWING[name]

    report = watch_cell(loaded_shell, START + source)

    (finding,) = (hazard for hazard in report.hazards if hazard.is_alarm)
    assert (finding.code, finding.severity) == ("graph-grows", "warning")
    assert finding.mutation is not None
    assert finding.mutation.text == line
    assert "KiB more with each" in finding.message
    assert "after 20" in finding.message
    left, error = run(cured(START + source, report))
    assert error == ""
    assert left.keys() == run(START + source)[0].keys()


@pytest.mark.parametrize(
    "source",
    [
        f"total = 0\nfor step in range(20):\n    total += {LOSS}\ntotal.backward()\nprint(float(total))",
        f"losses = []\nfor step in range(20):\n    losses.append({LOSS})\ntorch.stack(losses).mean().backward()",
        f"total = 0\nfor step in range(20):\n    total += {LOSS}.item()\nprint(total)",
        f"total = 0\nfor step in range(20):\n    total += {LOSS}.detach()\nprint(float(total))",
        f"total = 0\nwith torch.no_grad():\n    for step in range(20):\n        total += {LOSS}\nprint(float(total))",
        f"for step in range(20):\n    loss = {LOSS}\n    loss.backward()\n    print(loss.item())",
        "layers = [torch.nn.Linear(64, 64) for _ in range(40)]\nx = torch.randn(256, 64)\nfor layer in layers:\n"
        "    x = layer(x).tanh()\nprint(x.mean().item())",
        f"total = 0\nfor step in range(20):\n    total = total + {LOSS}",
    ],
)
def test_what_goes_backward_and_what_keeps_numbers_alone_is_quiet(loaded_shell: Any, source: str) -> None:
    assert [hazard for hazard in watch_cell(loaded_shell, START + source).hazards if hazard.is_alarm] == []
