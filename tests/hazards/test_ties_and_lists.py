"""Rules on parameters, buffers and gradients that are one memory, or are no longer: each mechanism in several clothes
is named at its line, as a cell and as a file, and the programs that only look like it are quiet."""

from __future__ import annotations

import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, plainly, watched

from inplace_magic.hazards.gradients import bucket_left_behind, step_without_gradients
from inplace_magic.hazards.stale import copy_shares_parameters, same_memory_compared, taken_memory_trained, tie_undone
from inplace_magic.hazards.training import counted_twice

NET = """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
    def forward(self, words):
        return self.head(torch.tanh(self.embed(words)))
words, after = torch.randint(7, (9,)), torch.randint(7, (9,))
def train(net, opt=torch.optim.SGD, steps=3):
    opt = opt(net.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(net(words), after).backward()
        opt.step()
    return net(words)
"""
BANK = """
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = nn.Parameter(torch.ones(6))
        self.low, self.high = (nn.Parameter(part) for part in self.bank.detach().split(3))
    def forward(self, x):
        return (x * self.low).sum() + (x * self.high).sum()
x = torch.ones(3)
"""
LEVELS = """
class Reader(nn.Module):
    def __init__(self, level):
        super().__init__()
        self.register_buffer("level", level)
    def forward(self, x):
        return x * self.level
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        level = torch.ones(1)
        self.write, self.read = Reader(level), Reader(level)
    def forward(self, x):
        self.write.level.lerp_(x.mean(), 0.5)
        return self.read(x)
x = torch.arange(4.0, dtype=torch.float64)
"""
BUCKET = """
w, b = torch.ones(3, requires_grad=True), torch.ones(1, requires_grad=True)
bucket, data = torch.zeros(4), torch.randn(5, 3) + 2
optimizer = torch.optim.SGD([w, b], lr=0.1)
def loss_of(x):
    return ((x * w).sum() + b).square().sum()
"""
AUTO = """
encoder, decoder = nn.Linear(4, 2, bias=False), nn.Linear(2, 4, bias=False)
x = torch.randn(8, 4)
"""

PAGES: dict[str, tuple[ModuleType, str, str, str]] = {
    "tie_undone": (
        tie_undone,
        NET + "net = Tied()\ncheckpoint = {k: v.clone() for k, v in net.state_dict().items()}",
        "net.load_state_dict(checkpoint, assign=True)        # two parameters from here on",
        "round(net(words).sum().item(), 5)",
    ),
    "bucket_left_behind": (
        bucket_left_behind,
        BUCKET,
        "optimizer.zero_grad()                           # the gradients are None from here on",
        "round(w.sum().item(), 5)",
    ),
    "counted_twice": (
        counted_twice,
        "embed, head, words = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False), torch.arange(5)",
        "nn.utils.clip_grad_norm_(params, 1.0)",
        "round(embed.weight.grad.norm().item(), 5)",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_bad_program_of_a_page_is_named_and_the_good_one_is_quiet_and_gives_other_numbers(
    name: str, tmp_path: Path
) -> None:
    rule, setup, blamed, result = PAGES[name]
    bad, good = (watched(tmp_path, setup, example(rule, title)) for title in ("Bad", "Good"))
    assert (bad.error, good.error) == (None, None)
    finding = bad.the(rule.CODE)
    assert finding.mutation is not None
    assert finding.mutation.text == blamed
    assert finding.fix
    assert {hazard.code for hazard in good.report.hazards if hazard.is_alarm} == set()
    numbers = [plainly(tmp_path, setup, example(rule, title)).names for title in ("Bad", "Good")]
    assert eval(result, numbers[0]) != eval(result, numbers[1])


def of(setup: str, program: str) -> str:
    """One program of a setup and what follows."""
    return setup + textwrap.dedent(program)


BESIDE = {
    taken_memory_trained.CODE: (same_memory_compared.CODE,),
}
"""What may be told of the same program at another line."""

FOUND: dict[str, tuple[ModuleType, str, str]] = {
    "a list of networks is trained after a load, each with its own head": (
        tie_undone,
        of(
            NET,
            """
        kept = Tied().state_dict()
        state = {key: value.clone() for key, value in kept.items()}
        def grown():
            net = Tied()
            print(net.load_state_dict(state, assign=True))
            return net
        out = train(grown(), torch.optim.Adam)
        """,
        ),
        "print(net.load_state_dict(state, assign=True))",
    ),
    "only the input table is loaded, and nothing is trained": (
        tie_undone,
        of(
            NET,
            """
        net = Tied()
        net.load_state_dict({"embed.weight": torch.randn(7, 4)}, strict=False, assign=True)
        with torch.no_grad():
            best = net(words).argmax(1)
        """,
        ),
        'net.load_state_dict({"embed.weight": torch.randn(7, 4)}, strict=False, assign=True)',
    ),
    "copies of a bank are trained by the bank": (
        tie_undone,
        of(
            BANK,
            """
        parent = Bank()
        teams = [copy.deepcopy(parent) for _ in range(2)]
        for k, net in enumerate(teams):
            with torch.no_grad():
                net.bank.mul_(k + 2)
            print(net(x))
        """,
        ),
        "teams = [copy.deepcopy(parent) for _ in range(2)]",
    ),
    "a level that two modules share is converted with the model": (
        tie_undone,
        LEVELS + "net = Both().to(torch.float64)\nfor _ in range(3):\n    out = net(x)\n",
        "net = Both().to(torch.float64)",
    ),
    "weights tied by their memory, stepped by AdamW": (
        counted_twice,
        of(
            AUTO,
            """
        decoder.weight.data = encoder.weight.data.t()
        opt = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            (decoder(encoder(x)) - x).square().mean().backward()
            opt.step()
        """,
        ),
        "opt.step()",
    ),
    "a shared layer comes twice into the list that is clipped": (
        counted_twice,
        """
        shared, first, last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
        left, right = nn.Sequential(first, shared), nn.Sequential(shared, last)
        params = [p for part in (left, right) for p in part.parameters()]
        (100 * right(left(torch.randn(8, 4)))).square().mean().backward()
        norm = nn.utils.clip_grad_norm_(params, 1.0)
        """,
        "norm = nn.utils.clip_grad_norm_(params, 1.0)",
    ),
    "a shared layer comes twice into the list that is clipped one by one": (
        counted_twice,
        """
        shared, last = nn.Linear(4, 4), nn.Linear(4, 1)
        (100 * last(shared(shared(torch.randn(8, 4))))).square().mean().backward()
        params = [*shared.parameters(), *last.parameters(), *shared.parameters()]
        nn.utils.clip_grad_norm_(params, 1.0, foreach=False)
        """,
        "nn.utils.clip_grad_norm_(params, 1.0, foreach=False)",
    ),
    "a bucket of gradients is measured after the module cleared them": (
        bucket_left_behind,
        """
        net, x, start, norms = nn.Linear(3, 2), torch.randn(6, 3), 0, []
        flat = torch.empty(8).zero_()
        for p in net.parameters():
            p.grad = flat.narrow(0, start, p.numel()).view(p.shape)
            start += p.numel()
        for _ in range(3):
            net.zero_grad()
            net(x).square().mean().backward()
            norms.append(torch.linalg.vector_norm(flat).item())
            with torch.no_grad():
                for p in net.parameters():
                    p.sub_(0.1 * p.grad)
        """,
        "net.zero_grad()",
    ),
    "a generated bias is put into a module of a loop": (
        step_without_gradients,
        """
        class Shift(nn.Module):
            def __init__(self, shift):
                super().__init__()
                self.shift = nn.Parameter(shift)
            def forward(self, x):
                return x + self.shift
        maker, x = nn.Linear(2, 3), torch.randn(5, 3)
        opt = torch.optim.Adam(maker.parameters())
        for _ in range(3):
            opt.zero_grad()
            shift = torch.tanh(maker(torch.ones(2)))
            Shift(shift)(x).square().mean().backward()
            opt.step()
        """,
        "self.shift = nn.Parameter(shift)",
    ),
    "a twin without one weight takes it from its original, too": (
        copy_shares_parameters,
        """
        net, x = nn.Linear(3, 2), torch.randn(4, 3)
        twin = copy.copy(net)
        twin.bias = nn.Parameter(torch.zeros(2))
        away = (net(x) - twin(x)).abs().sum()
        """,
        "twin.bias = nn.Parameter(torch.zeros(2))",
    ),
    "one network is handed over as student and as teacher": (
        copy_shares_parameters,
        """
        class Distill:
            def __init__(self, student, teacher, rate):
                self.student = student
                self.teacher = teacher.eval()
                self.opt = torch.optim.SGD(student.parameters(), lr=rate)
            def step(self, x):
                with torch.no_grad():
                    wanted = self.teacher(x)
                self.opt.zero_grad()
                loss = (self.student(x + 0.1) - wanted).square().mean()
                loss.backward()
                self.opt.step()
                return loss.item()
        net, x = nn.Linear(3, 2), torch.randn(4, 3)
        distill = Distill(student=net, teacher=net, rate=0.1)
        losses = [distill.step(x) for _ in range(3)]
        """,
        "self.opt.step()",
    ),
    "weights are put back into the memory of their average": (
        taken_memory_trained,
        """
        net, x, y = nn.Linear(3, 1), torch.randn(9, 3), torch.randn(9, 1)
        slow = [p.detach().clone() for p in net.parameters()]
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            for _ in range(2):
                opt.zero_grad()
                (net(x) - y).square().mean().backward()
                opt.step()
                for s, p in zip(slow, net.parameters()):
                    s.mul_(0.9).add_(p.detach(), alpha=0.1)
            kept = [p.detach().clone() for p in net.parameters()]
            for s, p in zip(slow, net.parameters()):
                p.data = s
            with torch.no_grad():
                print((net(x) - y).square().mean())
            for k, p in zip(kept, net.parameters()):
                p.data.copy_(k)
        """,
        "p.data.copy_(k)",
    ),
}

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


@pytest.mark.parametrize("name", FOUND)
def test_the_mechanism_in_other_clothes_is_named_at_its_line(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    rule, program, blamed = FOUND[name]
    seen = told(loaded_shell, tmp_path, program)
    assert seen.plain is None
    for alarms in seen.alarms:
        assert (rule.CODE, blamed) in alarms
        assert {code for code, _line in alarms} <= {rule.CODE, *BESIDE.get(rule.CODE, ())}


@pytest.mark.parametrize("name", QUIET)
def test_a_program_that_looks_like_it_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    seen = told(loaded_shell, tmp_path, QUIET[name])
    assert seen.plain is None
    assert seen.alarms == [[], []], seen.reports[0].to_text()
