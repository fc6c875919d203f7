"""Healthy look-alikes of parameters, buffers and gradients that are one memory, or are no longer: no alarm, as a cell
and as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.tied import AUTO, BANK, BUCKET, LEVELS, NET, of

QUIET: dict[str, str] = {
    "tied anew after the load": of(
        NET,
        """
        net = Tied()
        net.load_state_dict({k: v.clone() for k, v in Tied().state_dict().items()}, assign=True)
        net.head.weight = net.embed.weight
        out = train(net)
    """,
    ),
    "loaded for evaluation alone, with one table under both names": of(
        NET,
        """
        table = torch.randn(7, 4)
        net = Tied()
        net.load_state_dict({"embed.weight": table.clone(), "head.weight": table.clone()}, assign=True)
        with torch.no_grad():
            out = net(words)
    """,
    ),
    "loaded without assign": of(
        NET,
        """
        net = Tied()
        net.load_state_dict(Tied().state_dict())
        out = train(net)
    """,
    ),
    "untied on purpose": of(
        NET,
        """
        net = Tied()
        net.head.weight = nn.Parameter(net.head.weight.detach().clone())
        out = train(net)
    """,
    ),
    "a head for another task": of(
        NET,
        """
        net = Tied()
        net.head.weight = nn.Parameter(torch.randn(7, 4))
        out = train(net)
    """,
    ),
    "one of the two gets a copy of its own": of(
        NET,
        """
        net = Tied()
        net.head = copy.deepcopy(net.head)
        out = train(net)
    """,
    ),
    "copies of both are tied anew": of(
        NET,
        """
        net = Tied()
        for part in ("embed", "head"):
            setattr(net, part, copy.deepcopy(getattr(net, part)))
        net.head.weight = net.embed.weight
        out = train(net)
    """,
    ),
    "copies of both are frozen": of(
        NET,
        """
        net = Tied()
        for part in ("embed", "head"):
            setattr(net, part, copy.deepcopy(getattr(net, part)).requires_grad_(False))
        with torch.no_grad():
            out = net(words)
    """,
    ),
    "parts of two networks are copied": of(
        NET,
        """
        net, other = Tied(), Tied()
        net.embed = copy.deepcopy(other.embed)
        net.head = copy.deepcopy(Tied().head)
        out = train(net)
    """,
    ),
    "a deep copy of tied weights is tied": NET + "net = copy.deepcopy(Tied())\nout = train(net, torch.optim.Adam)\n",
    "a network that shared a table is given a checkpoint of its own": of(
        NET,
        """
        net, other = Tied(), Tied()
        other.embed.weight = net.embed.weight
        other.head.weight = net.embed.weight
        state = {k: v.clone() for k, v in other.state_dict().items()}
        other.load_state_dict(state, assign=True)
        other.head.weight = other.embed.weight
        out = train(net) - train(other)
    """,
    ),
    "copies of a bank, kept as they are": of(
        BANK,
        """
        net = Bank()
        best = copy.deepcopy(net)
        with torch.no_grad():
            net.bank.mul_(2)
        print(net(x), best(x))
    """,
    ),
    "an average of a bank, kept up whole": of(
        BANK,
        """
        net = Bank()
        average = copy.deepcopy(net)
        for _ in range(3):
            with torch.no_grad():
                net.bank.mul_(2)
                for a, p in zip(average.parameters(), net.parameters()):
                    a.lerp_(p, 0.1)
                print(average(x))
    """,
    ),
    "the copied bank is laid under its parts anew": of(
        BANK,
        """
        net = copy.deepcopy(Bank())
        net.low.data, net.high.data = net.bank.data.split(3)
        with torch.no_grad():
            net.bank.mul_(2)
        print(net(x))
    """,
    ),
    "a shared table that nobody writes is converted": of(
        LEVELS,
        """
        class Fixed(Both):
            def forward(self, x):
                return self.read(self.write(x))
        net = Fixed().double()
        out = net(x)
    """,
    ),
    "a level is shared after the conversion": of(
        LEVELS,
        """
        net = Both().double()
        net.read.level = net.write.level
        for _ in range(3):
            out = net(x)
    """,
    ),
    "parts of one vector that have nothing in common, stepped by Adam": """
        flat = torch.randn(6)
        low, high = (nn.Parameter(part) for part in flat.split(3))
        opt = torch.optim.Adam([low, high])
        for _ in range(3):
            opt.zero_grad()
            (low * high).sum().backward()
            opt.step()
    """,
    "a flat parameter is stepped, and its views are the weights": """
        net, x = nn.Linear(3, 2), torch.randn(4, 3)
        flat, start = nn.Parameter(torch.cat([p.detach().flatten() for p in net.parameters()])), 0
        for p in net.parameters():
            p.data = flat.data[start:start + p.numel()].view_as(p)
            start += p.numel()
        opt = torch.optim.Adam([flat])
        for _ in range(3):
            net.zero_grad()
            net(x).square().mean().backward()
            flat.grad = torch.cat([p.grad.flatten() for p in net.parameters()])
            opt.step()
    """,
    "weights tied by their memory, stepped by plain SGD": of(
        AUTO,
        """
        decoder.weight.data = encoder.weight.data.t()
        opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            (decoder(encoder(x)) - x).square().mean().backward()
            opt.step()
    """,
    ),
    "tied weights are clipped once": of(
        NET,
        """
        net = Tied()
        (100 * net(words)).square().mean().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    """,
    ),
    "two groups are clipped by two bounds": """
        shared, first, last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
        (100 * last(shared(first(torch.randn(8, 4))))).square().mean().backward()
        for part, bound in ((first, 1.0), (last, 2.0)):
            nn.utils.clip_grad_norm_([*part.parameters(), *shared.parameters()], bound)
    """,
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
