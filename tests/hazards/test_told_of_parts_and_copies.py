"""Casts, frames, parts, constructors, dictionaries and copies: programs in other clothes than on the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

BAD = {
    "a loop in one autocast block that steps": (
        """
        class Net(nn.Module):
            def __init__(s):
                super().__init__()
                s.a = nn.Linear(4, 8)
                s.b = nn.Linear(8, 1)

            def forward(s, x):
                return s.b(torch.relu(s.a(x)))


        def fit(net, xs, ys):
            opt = torch.optim.SGD(net.parameters(), lr=0.5)
            ctx = torch.autocast("cpu", dtype=torch.bfloat16)
            losses = []
            with ctx:
                for x, y in zip(xs, ys):
                    opt.zero_grad()
                    loss = (net(x).squeeze(1) - y).square().mean()
                    loss.backward()
                    opt.step()
                    losses.append(loss.item())
            return losses


        xs = torch.randn(6, 8, 4)
        ys = xs.sum(2)
        losses = fit(Net(), xs, ys)
        """,
        "cast-outdated",
        "opt.step()",
    ),
    "weights silenced one by one in one autocast block": (
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        x = torch.randn(8, 4)


        def probe(net, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                base = net(x).float()
                out = []
                for layer in (net[0], net[2]):
                    old = layer.weight.detach().clone()
                    layer.weight.data.mul_(0)
                    out.append((net(x).float() - base).abs().mean())
                    layer.weight.data.copy_(old)
            return torch.stack(out)


        effect = probe(net, x)
        """,
        "cast-outdated",
        "layer.weight.data.mul_(0)",
    ),
    "a helper with a loop, called in one autocast block": (
        """
        net = nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)


        def epoch(xs):
            for x in xs:
                opt.zero_grad()
                loss = (net(x).squeeze(1) - x.sum(1)).square().mean()
                loss.backward()
                opt.step()
            return loss.item()


        with torch.autocast("cpu", dtype=torch.bfloat16):
            for e in range(2):
                epoch(torch.randn(4, 8, 4))
        """,
        "cast-outdated",
        "opt.step()",
    ),
    "a column that `resize_` takes for a square": (
        """
        board = torch.zeros(4, 4)
        column = board[:, 1]
        column.resize_(2, 2)
        column.fill_(1)
        s = board[:, 1].sum()
        """,
        "out-outgrown",
        "column.resize_(2, 2)",
    ),
    "a constructor that is given an argument": (
        """
        def whiten(x):
            y = torch.FloatTensor(x)
            y -= y.mean(0)
            y /= y.std(0)
            return y


        x = torch.randn(8, 3) * 4 + 2
        w = whiten(x)
        raw = x.mean(0)
        """,
        "conversion-written",
        "y -= y.mean(0)",
    ),
    "a dictionary of the class": (
        """
        class Stats:
            sums = {}

            def add(self, k, x):
                if k not in self.sums:
                    self.sums[k] = torch.zeros(2)
                self.sums[k] += x


        a, b = Stats(), Stats()
        a.add("x", torch.ones(2))
        b.add("x", torch.ones(2))
        m = a.sums["x"].sum()
        """,
        "class-attribute-written",
        "self.sums[k] += x",
    ),
    "a default list that is returned": (
        """
        def decay(x, memory=[]):
            if not memory:
                memory.append(torch.zeros(3))
            memory[0].mul_(0.5).add_(x)
            return memory[0].clone(), memory


        def runs(xs):
            return [decay(x)[0] for x in xs]


        one = runs(torch.ones(3, 3))
        two = runs(torch.ones(3, 3))
        m = torch.stack(one).sum() - torch.stack(two).sum()
        """,
        "default-argument-written",
        "memory[0].mul_(0.5).add_(x)",
    ),
    "two beliefs around one mean": (
        """
        from torch.distributions import Normal, kl_divergence

        mu, sd = torch.zeros(3) + 1, torch.ones(3) * 2
        prior = Normal(mu, sd)
        mu.add_(torch.ones(3))
        sd.mul_(0.5)
        gain = kl_divergence(Normal(mu, sd), prior).sum()
        """,
        "same-memory-compared",
        "mu.add_(torch.ones(3))",
    ),
    "two views of one frame": (
        """
        class Frame:
            def __init__(self, cols):
                self.cols = dict(cols)

            def view(self):
                return Frame(self.cols)


        def ranked(frame):
            f = frame.view()
            f.cols["score"].sub_(f.cols["score"].min())
            return f.cols["score"].argsort()


        def total(frame):
            f = frame.view()
            return f.cols["score"].sum()


        frame = Frame({"score": torch.tensor([3.0, 1.0, 2.0]) * 2})
        r = ranked(frame)
        t = total(frame)
        """,
        "objects-share-state",
        'f.cols["score"].sub_(f.cols["score"].min())',
    ),
}
"""By name: the program, the code of the finding, and the line that is blamed."""


@pytest.mark.parametrize(("program", "code", "line"), [pytest.param(*case, id=name) for name, case in BAD.items()])
def test_the_line_is_named(loaded_shell: Any, tmp_path: Path, program: str, code: str, line: str) -> None:
    found = told(loaded_shell, tmp_path, program)
    assert found.plain is None
    assert all((code, line) in alarms for alarms in found.alarms), [report.to_text() for report in found.reports]
