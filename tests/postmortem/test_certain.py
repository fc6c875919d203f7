"""Where the facts leave one line, it is the line that wrote, whatever form the write has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from postmortem.failing import Failed, lines_of, program

from inplace_magic.postmortem import answer_to

PROGRAMS = {
    "index write": """
        probs = torch.sigmoid(torch.randn(8, requires_grad=True))  # saves
        probs[2] = 2.0  # writes
        probs.sum().backward()
    """,
    "augmented assignment": """
        def act(x):
            y = torch.tanh(x)  # saves
            y += 1  # writes
            return y
        act(torch.randn(3, requires_grad=True)).sum().backward()
    """,
    "chain of methods": """
        x = torch.rand(3)
        y = torch.randn(3, requires_grad=True) * x  # saves
        x.sub_(1).abs_()  # writes
        y.sum().backward()
    """,
    "out=": """
        x = torch.rand(3)
        y = torch.randn(3, requires_grad=True) * x  # saves
        torch.cumsum(x, 0, out=x)  # writes
        y.sum().backward()
    """,
    "inplace=True of a layer in a Sequential": """
        net = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Dropout(0.5, inplace=True))
        y = net(torch.randn(2, 3))  # writes  # saves
        y.sum().backward()
    """,
    "inplace=True of a layer that a constructor makes": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.act = nn.Linear(3, 3), nn.ELU(inplace=True)
            def forward(self, x):
                h = torch.exp(self.fc(x))  # saves
                return self.act(h)  # writes
        Net()(torch.randn(2, 3)).sum().backward()
    """,
    "functional with inplace by position": """
        y = torch.tanh(torch.randn(3, requires_grad=True))  # saves
        F.relu(y, True)  # writes
        y.sum().backward()
    """,
    "beside numbers that nothing saves": """
        def draw():
            numbers = torch.randint(1, 5, (4,))
            numbers[0] = 1
            return numbers.clone()
        def norm(x):
            std = x.std(-1, keepdim=True)  # saves
            std.relu_()  # writes
            return x / (std + 1)
        w = nn.Parameter(torch.randn(5, 4))
        for _ in range(3):
            noise = w.data.new(w.size()).normal_()
            norm((w + noise)[draw()]).sum().backward()
    """,
    "layers of a list of lists": """
        class Act(nn.Module):
            def forward(self, x):
                y = torch.exp(x)  # saves
                y += 1  # writes
                return y
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.levels = nn.ModuleList(nn.ModuleList([nn.Linear(3, 3), Act()]) for _ in range(2))
            def forward(self, x):
                for linear, act in self.levels:
                    x = act(linear(x))
                return x
        Net()(torch.randn(2, 3)).sum().backward()
    """,
    "step of an optimizer": """
        D = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        opt = torch.optim.SGD(D.parameters(), lr=0.1)
        fake = torch.randn(2, 3, requires_grad=True)
        g_loss = D(fake).mean()
        D(fake.detach()).mean().backward()
        opt.step()  # writes
        g_loss.backward()
    """,
    "an optimizer of the user's own": """
        class Descent:
            def __init__(self, params):
                self.params = list(params)
            @torch.no_grad()
            def step(self):
                for p in self.params:
                    p.sub_(0.1 * p.grad)  # writes
        w = torch.randn(3, 3, requires_grad=True)
        opt = Descent([w])
        h = (torch.randn(2, 3) @ w).tanh() @ w
        h.sum().backward(retain_graph=True)
        opt.step()
        h.pow(2).sum().backward()
    """,
    "helper that writes its argument": """
        def rate(scores, target):
            target.sub_(scores.argmax(1)).clamp_(max=1)  # writes
        y = torch.randint(0, 3, (4,))
        scores = nn.Linear(2, 3)(torch.randn(4, 2))
        loss = F.cross_entropy(scores, y)  # saves
        rate(scores.detach(), y)
        loss.backward()
    """,
    "detached alias": """
        gate = torch.sigmoid(torch.randn(4, requires_grad=True))  # saves
        active = gate.detach()
        active[active < 0.5] = 0.0  # writes
        gate.sum().backward()
    """,
    "view of a view": """
        rate = torch.randn(2, 4, requires_grad=True).exp()  # saves
        rate.view(-1)[2:].zero_()  # writes
        rate.sum().backward()
    """,
    "entry of a list": """
        x, maps = torch.randn(2, 4, requires_grad=True), []
        for _ in range(3):
            x = torch.tanh(x)
            maps.append(x)
        maps[1].mul_(2)  # writes
        sum(m.sum() for m in maps).backward()
    """,
    "copy_ in a loop": """
        lin = nn.Linear(3, 3)
        y = lin(torch.randn(2, 3, requires_grad=True)).tanh()
        old = {name: torch.zeros_like(p) for name, p in lin.named_parameters()}
        with torch.no_grad():
            for name, p in lin.named_parameters():
                p.copy_(old[name])  # writes
        y.sum().backward()
    """,
    "foreach": """
        gates = [torch.sigmoid(torch.randn(3, requires_grad=True)) for _ in range(2)]
        torch._foreach_mul_(gates, 2.0)  # writes
        sum(g.sum() for g in gates).backward()
    """,
    "max_norm": """
        table = nn.Embedding(6, 4, max_norm=1.0)
        scores = table.weight @ torch.randn(4, 4, requires_grad=True)
        rows = table(torch.tensor([0, 5]))  # writes
        (rows @ scores.t()).sum().backward()
    """,
    "getattr": """
        y = torch.randn(3, requires_grad=True).exp()
        getattr(y, "mul_")(2)  # writes
        y.sum().backward()
    """,
    "partial": """
        from functools import partial
        clip = partial(torch.clamp_, max=0.2)
        y = torch.randn(3, requires_grad=True).exp()
        clip(y)  # writes
        y.sum().backward()
    """,
    "hook": """
        def ablate(module, args, output):
            output[:, 0] = 0  # writes
        net = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 1))
        handle = net[1].register_forward_hook(ablate)
        loss = net(torch.randn(5, 3)).mean()
        handle.remove()
        loss.backward()
    """,
    "attribute set by one method and written by another": """
        class Writer(nn.Module):
            def __init__(self):
                super().__init__()
                self.write, self.memory = nn.Linear(3, 4), None
            def forward(self, x):
                self.memory = torch.sigmoid(self.write(x))
                out = self.memory * 2
                self.decay()
                return out
            def decay(self):
                self.memory *= 0.9  # writes
        Writer()(torch.randn(5, 3)).mean().backward()
    """,
    "branch that the last recorded write tells": """
        y = torch.randn(4, requires_grad=True).exp()
        if y.sum() > 1e9:
            y[0] = 0
        else:
            y.mul_(0.5)  # writes
        y.sum().backward()
    """,
    "one of many writes of other memory": """
        w = torch.randn(4, requires_grad=True)
        a, b, c = w.sigmoid(), w.tanh(), torch.zeros(4)
        c += 1
        d = a.clone()
        d.mul_(2)
        b[1] = 0  # writes
        a = a * 2
        a += 1
        (a + b + d).sum().backward()
    """,
}


@pytest.mark.parametrize("form", PROGRAMS)
def test_the_line_that_wrote_is_certain(form: str) -> None:
    text = program(PROGRAMS[form])
    answer = Failed(text).certain()
    assert answer.code == "saved-tensor-overwritten"
    assert answer.certain
    assert answer.mutation is not None
    assert [answer.mutation.line] == lines_of(text, "writes")
    assert answer.mutation.cell == 1
    if saving := lines_of(text, "saves"):
        assert answer.saved is not None
        assert [answer.saved.line] == saving


def test_forward_write_and_backward_in_three_cells() -> None:
    first = program("""
        probs = torch.sigmoid(torch.randn(8, requires_grad=True))
    """)
    answer = Failed(first, "%matplotlib inline\nprobs[2] = 2.0", "loss = probs.sum()\nloss.backward()").certain()
    assert answer.mutation is not None
    assert (answer.mutation.cell, answer.mutation.line) == (2, 2)
    assert answer.saved is not None
    assert (answer.saved.cell, answer.saved.line) == (1, 4)
    assert answer.place is not None
    assert (answer.place.cell, answer.place.line) == (3, 2)


def test_a_helper_is_told_with_the_line_that_called_it() -> None:
    text = program(PROGRAMS["helper that writes its argument"])
    site = Failed(text).certain().mutation
    assert site is not None
    assert site.caller is not None
    assert site.caller.text == "rate(scores.detach(), y)"


def test_of_two_lines_that_called_a_helper_none_is_named_by_chance() -> None:
    text = program("""
        def act(h):
            y = torch.sigmoid(h)  # saves
            y.add_(1)  # writes
            return y.sum()
        def both(x):
            return act(x) + 1
        x = torch.randn(3, requires_grad=True)
        low = both(x)
        high = both(x * 2)
        (low + high).backward()
    """)
    answer = Failed(text).certain()
    for site, mark in ((answer.mutation, "writes"), (answer.saved, "saves")):
        assert site is not None
        assert [site.line] == lines_of(text, mark)
        assert site.caller is not None  # both lines call it by this one
        assert site.caller.text == "return act(x) + 1"
        assert site.caller.caller is None


def test_the_answer_says_what_the_error_and_the_graph_say() -> None:
    answer = Failed(program(PROGRAMS["chain of methods"])).certain()
    assert (answer.expected_version, answer.found_version) == (0, 2)
    assert (answer.saved_by, answer.variable) == ("MulBackward0", "x")
    assert answer.error.startswith("RuntimeError: one of the variables needed for gradient computation")
    assert "x.sub_(1).abs_()" in answer.message


def test_a_cell_that_ran_before_counts_as_often_as_it_ran() -> None:
    first = program("probs = torch.sigmoid(torch.randn(8, requires_grad=True))")
    backward = "probs.sum().backward(retain_graph=True)"
    failed = Failed(first, "probs.mul_(2)", backward, "probs.add_(1)", backward)
    answer = failed.certain()
    assert [(site.cell, site.line) for site in answer.candidates[:1]] == [(2, 1)]
    assert (answer.expected_version, answer.found_version) == (0, 2)


FUNCTION = """
import torch

def test_gates(scale):
    gates = torch.sigmoid(torch.randn(3, requires_grad=True))
    gates *= scale
    gates.sum().backward()
"""


@pytest.mark.parametrize("traced", [False, True])
def test_a_function_that_a_library_called_is_followed_by_itself(tmp_path: Path, traced: bool) -> None:
    path = tmp_path / "test_of_mine.py"
    path.write_text(FUNCTION)
    names: dict[str, Any] = {}
    exec(compile(FUNCTION, str(path), "exec"), names)
    before = sys.gettrace()
    try:
        if traced:
            sys.settrace(lambda *_: None)  # as coverage and debuggers do: then local variables are not read
        try:
            names["test_gates"](2.0)
        except RuntimeError as error:
            answer = answer_to(error, namespace=names, cells=())
    finally:
        sys.settrace(before)
    assert answer is not None
    assert answer.certain
    assert answer.mutation is not None
    assert (answer.mutation.file, answer.mutation.line) == (str(path), 6)


def test_an_argument_is_said_to_come_from_the_line_that_called_inside_a_function_too() -> None:
    found = Failed(
        program(
            """
            def clipped(image):
                return image.clamp_(0, 1)
            def main():
                return clipped(torch.rand(3, requires_grad=True))
            main()
            """
        )
    ).certain()
    assert "It came from `return clipped(torch.rand(3, requires_grad=True))`" in found.message
