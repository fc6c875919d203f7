"""A model under several names, and an optimizer that holds what a model gave up: told by what led where when it was
stepped, and not told of what differs in that one fact."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, plainly, watched

from inplace_magic.hazards.shared import model_moved_on

TRAINING = """
torch.manual_seed(0)
x = torch.randn(12, 3)
y = x.sum(1, keepdim=True)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(net):
    optimizer.zero_grad()
    (net(x) - y).square().mean().backward()
    optimizer.step()
"""
PAGES: dict[str, tuple[Any, str, str, str]] = {
    "model_moved_on": (
        model_moved_on,
        TRAINING + "import copy\nleast, losses = float('inf'), iter([9.0, 5.0, 5.0, 7.0, 7.0, 8.0] + [9.0] * 40)\n"
        "def loss(net):\n    return next(losses)",
        "optimizer.step()",
        "best.weight.tolist()",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_bad_program_of_the_page_is_blamed_at_its_line(name: str, tmp_path: Path) -> None:
    rule, setup, blamed, _result = PAGES[name]
    ran = watched(tmp_path, setup, example(rule, "Bad"))
    assert ran.error is None
    (found,) = [each for each in ran.report.hazards if each.code == rule.CODE]
    assert found.mutation is not None
    assert found.mutation.text == blamed
    assert found.severity == "warning"
    assert found.fix


@pytest.mark.parametrize("name", PAGES)
def test_the_good_program_of_the_page_is_quiet(name: str, tmp_path: Path) -> None:
    rule, setup, _blamed, _result = PAGES[name]
    ran = watched(tmp_path, setup, example(rule, "Good"))
    assert ran.error is None
    assert [each.code for each in ran.report.hazards if each.severity != "info"] == []


@pytest.mark.parametrize("name", PAGES)
def test_pytorch_says_nothing_and_gives_something_else(name: str, tmp_path: Path) -> None:
    rule, setup, _blamed, result = PAGES[name]

    def ran(title: str) -> Any:
        plain = plainly(tmp_path, "torch.manual_seed(0)", setup, example(rule, title))
        assert plain.error is None
        return eval(result, dict(plain.names))

    assert ran("Bad") != ran("Good")


FOUND = {
    "an object takes it when a condition says so": (
        model_moved_on.CODE,
        "optimizer.step()",
        """
        class Stopper:
            def __init__(self):
                self.least, self.model = float("inf"), None
            def __call__(self, loss, net):
                if loss < self.least:
                    self.least, self.model = loss, net
        stopper = Stopper()
        for loss in (3.0, 1.0, 2.0, 2.0):
            train(model)
            stopper(loss, model)
        kept = stopper.model(x)
        """,
    ),
    "a function gives it back": (
        model_moved_on.CODE,
        "optimizer.step()",
        """
        def fit(net, losses):
            best, least = net, float("inf")
            for loss in losses:
                train(net)
                if loss < least:
                    best, least = net, loss
            return best, least
        best, least = fit(model, [3.0, 1.0, 2.0, 2.0])
        kept = best(x)
        """,
    ),
    "entries of a dict that are made between the steps": (
        model_moved_on.CODE,
        "optimizer.step()",
        """
        results = {}
        for epoch in range(4):
            train(model)
            results[epoch] = {"loss": (model(x) - y).square().mean().item(), "model": model}
        best = min(results.values(), key=lambda entry: entry["loss"])
        kept = best["model"](x)
        """,
    ),
    "clients with one model and an optimizer each": (
        model_moved_on.CODE,
        "self.optimizer.step()",
        """
        class Client:
            def __init__(self, net, x, y):
                self.net, self.x, self.y = net, x, y
                self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            def train(self):
                self.optimizer.zero_grad()
                (self.net(self.x) - self.y).square().mean().backward()
                self.optimizer.step()
            def weight(self):
                return self.net.weight.detach().clone()
        clients = [Client(model, x[k::3], y[k::3]) for k in range(3)]
        for client in clients:
            client.train()
        mean = torch.stack([client.weight() for client in clients]).mean(0)
        """,
    ),
    "two dicts of one network": (
        "copy-shares-parameters",
        "optimizer.step()",
        """
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
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_told_in_other_clothes(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    code, blamed, program = FOUND[name]
    ran = told(loaded_shell, tmp_path, TRAINING + textwrap.dedent(program))
    assert ran.plain is None
    assert ran.blamed(code) == {blamed}


HEALTHY = {
    "the best of several models": """
        best, least = None, float("inf")
        for rate in (0.01, 0.1, 0.2):
            net = nn.Linear(3, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=rate)
            for _ in range(3):
                train(net)
            loss = (net(x) - y).square().mean().item()
            if loss < least:
                best, least = net, loss
        kept = best(x)
        """,
    "a name bound in each pass": """
        for epoch in range(4):
            train(model)
            current = model
        kept = current(x)
        """,
    "a name taken when the training is over": """
        for epoch in range(4):
            train(model)
        if epoch > 2:
            best = model
        kept = best(x)
        """,
    "a name given for the training that follows": """
        train(model)
        for phase in range(2):
            if phase > 0:
                tuned = model
                for _ in range(2):
                    train(tuned)
        kept = tuned(x)
        """,
    "a name asked whether it is there": """
        class Holder:
            model = None
            def use(self, net):
                if self.model is None:
                    self.model = net
                train(self.model)
        holder = Holder()
        for _ in range(3):
            holder.use(model)
        kept = holder.model(x)
        """,
    "a list of steps that holds the model in each": """
        log = []
        for epoch in range(4):
            train(model)
            log.append({"epoch": epoch, "model": model})
        kept = model(x)
        """,
    "phases with an optimizer each": """
        class Phase:
            def __init__(self, net, rate):
                self.net, self.optimizer = net, torch.optim.SGD(net.parameters(), lr=rate)
            def run(self):
                self.optimizer.zero_grad()
                (self.net(x) - y).square().mean().backward()
                self.optimizer.step()
        phases = [Phase(model, 0.1), Phase(model, 0.01)]
        for phase in phases:
            phase.run()
        kept = model(x)
        """,
    "tasks with a body in common and heads of their own": """
        class Task:
            def __init__(self, body):
                self.body, self.head = body, nn.Linear(1, 1)
                self.optimizer = torch.optim.SGD([*body.parameters(), *self.head.parameters()], lr=0.1)
            def run(self):
                self.optimizer.zero_grad()
                (self.head(self.body(x)) - y).square().mean().backward()
                self.optimizer.step()
            def loss(self):
                return (self.head(self.body(x)) - y).square().mean().item()
        tasks = [Task(model), Task(model)]
        for task in tasks:
            task.run()
        losses = [task.loss() for task in tasks]
        """,
    "layers that share their weights, one after the other": """
        layers = nn.ModuleList([nn.Linear(3, 3)] * 4)
        h = x
        for layer in layers:
            h = torch.tanh(layer(h))
        """,
    "several models of a list, stepped in turn": """
        models = [nn.Linear(3, 1) for _ in range(3)]
        optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in models]
        for epoch in range(3):
            for each, optimizer in zip(models, optimizers):
                train(each)
        mean = torch.stack([each(x) for each in models]).mean(0)
        """,
    "several models, epoch by epoch": """
        models = [nn.Linear(3, 1) for _ in range(3)]
        for epoch in range(3):
            spread = torch.stack([each(x) for each in models]).std(0)
        """,
    "one model in a list, epoch by epoch": """
        models = [model]
        for epoch in range(3):
            mean = torch.stack([each(x) for each in models]).mean(0)
        """,
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, TRAINING + textwrap.dedent(HEALTHY[name]))
    assert ran.plain is None
    assert ran.alarms == [[], []]
