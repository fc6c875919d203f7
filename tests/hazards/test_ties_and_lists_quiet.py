"""Healthy look-alikes of parameters, buffers and gradients that are one memory, or are no longer: no alarm, as a cell
and as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.tied import BUCKET, of

QUIET: dict[str, str] = {
    "a bucket that gradients are copied into": of(
        BUCKET,
        """
        w.grad, b.grad = bucket[:3], bucket[3:]
        for x in data:
            optimizer.zero_grad()
            loss_of(x).backward()
            torch.cat([w.grad, b.grad], out=bucket)
            bucket.mul_(0.1 / bucket.norm())
            w.grad, b.grad = bucket[:3], bucket[3:]
            optimizer.step()
    """,
    ),
    "a direction that is handed over as gradients, and built upon": of(
        BUCKET,
        """
        direction = torch.zeros(4)
        for x in data:
            optimizer.zero_grad()
            loss_of(x).backward()
            direction = 0.5 * direction + torch.cat([w.grad, b.grad])
            w.grad, b.grad = direction[:3], direction[3:]
            optimizer.step()
    """,
    ),
    "a layer that begins with computed values and is trained": """
        base, x = nn.Linear(3, 3), torch.randn(5, 3)
        layer = nn.Linear(3, 3)
        layer.weight = nn.Parameter(base.weight @ base.weight.T)
        opt = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            layer(x).square().mean().backward()
            opt.step()
    """,
    "gradients of inner weights are handed to the outer ones": """
        slow, x = nn.Linear(3, 1), torch.randn(5, 3)
        opt = torch.optim.SGD(slow.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            slope, = torch.autograd.grad(slow(x).square().mean(), slow.weight)
            fast = nn.Linear(3, 1, bias=False)
            fast.weight = nn.Parameter(slow.weight - 0.1 * slope)
            fast(x).square().mean().backward()
            slow.weight.grad = fast.weight.grad
            opt.step()
    """,
    "old weight norm": """
        layer, x = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), torch.randn(5, 3)
        opt = torch.optim.Adam(layer.parameters())
        for _ in range(3):
            opt.zero_grad()
            layer(x).square().mean().backward()
            opt.step()
    """,
    "a shallow copy that is given a dict of its own": """
        net, x = nn.Linear(3, 2), torch.randn(4, 3)
        twin = copy.copy(net)
        twin._parameters = dict(net._parameters)
        twin.bias = nn.Parameter(torch.zeros(2))
        away = (net(x) - twin(x)).abs().sum()
    """,
    "low rank weights are merged into a layer": """
        layer, x = nn.Linear(3, 3), torch.randn(5, 3)
        a, b = nn.Parameter(torch.randn(3, 1)), nn.Parameter(torch.zeros(1, 3))
        opt = torch.optim.Adam([a, b])
        for _ in range(3):
            opt.zero_grad()
            F.linear(x, layer.weight.detach() + a @ b, layer.bias.detach()).square().mean().backward()
            opt.step()
        layer.weight = nn.Parameter(layer.weight + a @ b)
        out = layer(x)
    """,
    "two networks of a teacher and a student": """
        class Distill:
            def __init__(self, student, teacher):
                self.student, self.teacher = student, teacher
                self.opt = torch.optim.SGD(student.parameters(), lr=0.1)
            def step(self, x):
                with torch.no_grad():
                    wanted = self.teacher(x)
                self.opt.zero_grad()
                (self.student(x + 0.1) - wanted).square().mean().backward()
                self.opt.step()
        net, x = nn.Linear(3, 2), torch.randn(4, 3)
        distill = Distill(net, copy.deepcopy(net))
        for _ in range(3):
            distill.step(x)
    """,
    "weights and their average change places": """
        net, x, y = nn.Linear(3, 1), torch.randn(9, 3), torch.randn(9, 1)
        slow = [p.detach().clone() for p in net.parameters()]
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        def swapped():
            for i, p in enumerate(net.parameters()):
                p.data, slow[i] = slow[i], p.data
        for _ in range(3):
            opt.zero_grad()
            (net(x) - y).square().mean().backward()
            opt.step()
            for s, p in zip(slow, net.parameters()):
                s.lerp_(p.detach(), 0.1)
            swapped()
            with torch.no_grad():
                print((net(x) - y).square().mean())
            swapped()
    """,
}


@pytest.mark.parametrize("name", QUIET)
def test_a_program_that_looks_like_it_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    seen = told(loaded_shell, tmp_path, QUIET[name])
    assert seen.plain is None
    assert seen.alarms == [[], []], seen.reports[0].to_text()
