"""Facts that were widened: each in the clothes that it was missed in, and what differs from it in the one fact that
decides."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

GAN = """
torch.manual_seed(0)
maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
opt_maker, opt_judge = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (maker, judge))
noise, real = torch.randn(5, 2), torch.randn(5, 3)
"""
ITEMS = """
torch.manual_seed(0)
class Items(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, i):
        row = self.rows[i]
        {edit}
        return row["x"]
items = Items([{{"x": torch.arange(4.0) + 1, "y": i}} for i in range(4)])
sums = [batch.sum().item() for _ in range(4) for batch in torch.utils.data.DataLoader(items, batch_size=2)]
"""
GRADIENTS = """
net = nn.Linear(2, 1)
def gradients(scale):
    {clear}
    (scale * net(torch.ones(1, 2))).sum().backward()
    return net.weight.grad
kept = []
for scale in (1.0, 2.0):
    kept.append(gradients(scale))
angle = torch.dot(kept[0].flatten(), kept[1].flatten())
"""
FOUND = {
    "the loss of a judge reaches the maker": (
        "gradient-of-another-loss",
        "(judge(real).mean() - judge(maker(noise)).mean()).backward()",
        GAN + "for _ in range(2):\n"
        "    opt_judge.zero_grad()\n    (judge(real).mean() - judge(maker(noise)).mean()).backward()\n"
        "    opt_judge.step()\n    judge(maker(noise)).mean().backward()\n    opt_maker.step()\n"
        "    opt_maker.zero_grad()\n",
    ),
    "the rows of an expanded tensor": (
        "expanded-tensor-written",
        "rows[i].mul_(i)",
        "rows = torch.ones(4).expand(3, 4)\nfor i in range(3):\n    rows[i].mul_(i)\nsums = rows.sum(1)\n",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_told(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, blamed, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    assert ran.blamed(code) == {blamed}


HEALTHY = {
    "what the maker made is detached for the judge": GAN + "for _ in range(2):\n"
    "    opt_judge.zero_grad()\n    (judge(real).mean() - judge(maker(noise).detach()).mean()).backward()\n"
    "    opt_judge.step()\n    judge(maker(noise)).mean().backward()\n    opt_maker.step()\n"
    "    opt_maker.zero_grad()\n",
    "the maker's gradients are cleared in between": GAN + "for _ in range(2):\n"
    "    opt_judge.zero_grad()\n    (judge(real).mean() - judge(maker(noise)).mean()).backward()\n"
    "    opt_judge.step()\n    opt_maker.zero_grad()\n    judge(maker(noise)).mean().backward()\n"
    "    opt_maker.step()\n",
    "a body and two heads with a step each": GAN + "head = nn.Linear(3, 1)\n"
    "opt_head = torch.optim.SGD(head.parameters(), lr=0.1)\nfor _ in range(2):\n"
    "    for opt in (opt_maker, opt_judge, opt_head):\n        opt.zero_grad()\n"
    "    judge(maker(noise)).square().mean().backward()\n    opt_judge.step()\n"
    "    head(maker(noise)).square().mean().backward()\n    opt_head.step()\n    opt_maker.step()\n",
    "a head that is stepped by each batch, and its body by two": GAN + "for _ in range(2):\n"
    "    opt_maker.zero_grad()\n    for part in (noise[:2], noise[2:]):\n        opt_judge.zero_grad()\n"
    "        judge(maker(part)).square().mean().backward()\n        opt_judge.step()\n    opt_maker.step()\n",
    "the rows of a copy": "rows = torch.ones(4).expand(3, 4).clone()\nfor i in range(3):\n    rows[i].mul_(i)\n"
    "sums = rows.sum(1)\n",
    "one row of an expanded tensor, read as it was": "rows = torch.ones(4).expand(3, 4)\n"
    "sums = [rows[i].mul(i).sum() for i in range(3)]\n",
    "an item that is set right once": ITEMS.format(edit='row["x"][row["x"] > 3] = 3'),
    "an item that is cloned": ITEMS.format(edit='row = {"x": row["x"].clone()}; row["x"][torch.rand(4) < 0.5] = 0'),
    "the question whether two layers are still tied": "torch.manual_seed(0)\n"
    "emb, out = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)\nout.weight = emb.weight\n"
    "opt = torch.optim.SGD(emb.parameters(), lr=0.1)\n"
    "out(emb(torch.tensor([1, 2]))).square().mean().backward()\nopt.step()\n"
    "tied = torch.equal(emb.weight, out.weight)\n",
    "gradients that are made anew": GRADIENTS.format(clear="net.zero_grad()"),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, textwrap.dedent(HEALTHY[name]))
    assert ran.plain is None
    assert ran.alarms == [[], []]
