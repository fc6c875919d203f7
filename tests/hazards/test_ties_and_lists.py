"""Rules on parameters and gradients that are one memory, or are no longer: each mechanism in several clothes is named
at its line, as a cell and as a file."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import code_of, example, plainly, watched
from hazards.tied import BUCKET

from inplace_magic.hazards.shared import copy_shares_parameters

PAGES: dict[str, tuple[ModuleType | str, str, str, str]] = {
    "bucket-left-behind": (
        "bucket-left-behind",
        BUCKET,
        "optimizer.zero_grad()                           # the gradients are None from here on",
        "round(w.sum().item(), 5)",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_bad_program_of_a_page_is_named_and_the_good_one_is_quiet_and_gives_other_numbers(
    name: str, tmp_path: Path
) -> None:
    rule, setup, blamed, result = PAGES[name]
    bad, good = (watched(tmp_path, setup, example(rule, title)) for title in ("Bad", "Good"))
    assert (bad.error, good.error) == (None, None)
    finding = bad.the(code_of(rule))
    assert finding.mutation is not None
    assert finding.mutation.text == blamed
    assert finding.fix
    assert {hazard.code for hazard in good.report.hazards if hazard.is_alarm} == set()
    numbers = [plainly(tmp_path, setup, example(rule, title)).names for title in ("Bad", "Good")]
    assert eval(result, numbers[0]) != eval(result, numbers[1])


BESIDE = {
    "taken-memory-trained": ("same-memory-compared",),
}
"""What may be told of the same program at another line."""

FOUND: dict[str, tuple[ModuleType | str, str, str]] = {
    "a bucket of gradients is measured after the module cleared them": (
        "bucket-left-behind",
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
        "step-without-gradients",
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
    "two dicts of one network": (
        copy_shares_parameters,
        """
        model, x, y = nn.Linear(3, 1), torch.randn(12, 3), torch.randn(12, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        nets = {"critic": model}
        targets = dict(nets)
        for _ in range(3):
            with torch.no_grad():
                goal = y + 0.9 * targets["critic"](x)
            loss = (nets["critic"](x) - goal).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        "optimizer.step()",
    ),
    "weights are put back into the memory of their average": (
        "taken-memory-trained",
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


@pytest.mark.parametrize("name", FOUND)
def test_the_mechanism_in_other_clothes_is_named_at_its_line(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    rule, program, blamed = FOUND[name]
    seen = told(loaded_shell, tmp_path, program)
    assert seen.plain is None
    for alarms in seen.alarms:
        assert (code_of(rule), blamed) in alarms
        assert {code for code, _line in alarms} <= {code_of(rule), *BESIDE.get(code_of(rule), ())}
