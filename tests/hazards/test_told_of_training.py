"""Rules on what training carries on, weights, averages, statistics and the gradients of several losses: the bad program
of each page is named at its line, its good one is quiet, and so are the programs that only look like it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, plainly, watched

from inplace_magic.hazards.gradients import gradient_edited_late, gradient_of_another_loss, gradients_left_over
from inplace_magic.hazards.training import averages_trained_on, statistics_left_behind, statistics_moved

DATA = """
data = [(x, x.sum(1, keepdim=True)) for x in torch.randn(12, 16, 3)]
def network(layer=nn.Tanh):
    return nn.Sequential(nn.Linear(3, 8), layer(), nn.Linear(8, 1))
def normed():
    return network(lambda: nn.BatchNorm1d(8))
def loss_of(out, y):
    return (out - y).square().mean()
def stepped(model, opt, x, y):
    opt.zero_grad()
    loss_of(model(x), y).backward()
    opt.step()
"""


@dataclass(frozen=True)
class Page:
    """What the two programs of a rule's page need, and what is expected of them."""

    rule: ModuleType
    setup: str
    blamed: str
    """The statement blamed in the bad program."""
    result: str
    """An expression over the program's names in which the bad and the good one differ."""
    tail: str = ""


PAGES = {
    page.rule.__name__.rpartition(".")[2]: page
    for page in (
        Page(
            averages_trained_on,
            "model = network()\nshadow = [p.detach().clone() for p in model.parameters()]\n"
            "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "def train(model):\n    for x, y in data[:4]:\n        stepped(model, opt, x, y)\n"
            "        for s, p in zip(shadow, model.parameters()):\n            s.lerp_(p.detach(), 0.1)\n"
            "def validate(model):\n    with torch.no_grad():\n        return loss_of(model(data[5][0]), data[5][1])\n"
            "train(model)",
            "p.data.copy_(s)                     # for the validation",
            "round(model[0].weight.sum().item(), 6)",
        ),
        Page(
            statistics_left_behind,
            "model = normed()\naverage = copy.deepcopy(model)\nopt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "for x, y in data:\n    stepped(model, opt, x + 2, y)",
            "p.data.lerp_(q.data, 0.1)",
            "round(average(x).sum().item(), 6)",
        ),
        Page(
            statistics_moved,
            "model, losses, held_out = normed(), [], [(x + 5, y) for x, y in data[:2]]\n"
            "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "def train():\n    for x, y in data:\n        stepped(model, opt, x, y)\ntrain()",
            "losses.append(loss_of(model(x), y).item())      # the model is still in training mode",
            "round(result.item(), 6)",
            "train()\nresult = model.eval()(data[0][0]).sum()",
        ),
        Page(
            gradient_of_another_loss,
            "maker, judge, noise, real = nn.Linear(2, 3), nn.Linear(3, 1), torch.randn(8, 2), torch.randn(8, 3)\n"
            "fake = torch.randn(8, 3)\n"
            "opt_maker, opt_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))",
            "loss_of(judge(real), judge(fake)).backward()",
            "round(judge.weight.sum().item(), 6)",
        ),
        Page(
            gradient_edited_late,
            "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=1)\n"
            "def loss_of(w):\n    return (w * 9).sum()",
            "nn.utils.clip_grad_norm_([w], 1.0)      # the step is over",
            "round(w[0].item(), 3)",
        ),
        Page(
            gradients_left_over,
            "w, batches = torch.ones(2, requires_grad=True), torch.rand(7, 2)\nopt = torch.optim.SGD([w], lr=0.1)\n"
            "def loss_of(x):\n    return (w * x).square().sum()",
            "(loss_of(x) / 4).backward()",
            "round(w[0].item(), 6)",
        ),
    )
}


@pytest.mark.parametrize("name", PAGES)
def test_the_bad_program_is_named_at_its_line_and_the_good_one_is_quiet(name: str, tmp_path: Path) -> None:
    page = PAGES[name]
    bad, good = (watched(tmp_path, DATA, page.setup, example(page.rule, t), page.tail) for t in ("Bad", "Good"))
    assert (bad.error, good.error) == (None, None)
    finding = bad.the(page.rule.CODE)
    assert finding.mutation is not None
    assert finding.mutation.text == page.blamed
    assert finding.severity == "warning"
    assert finding.fix
    assert {each.code for each in good.report.hazards if each.is_alarm} == set()


@pytest.mark.parametrize("name", PAGES)
def test_pytorch_by_itself_says_nothing_and_gives_other_numbers(name: str, tmp_path: Path) -> None:
    page = PAGES[name]

    def result(title: str) -> Any:
        ran = plainly(tmp_path, "torch.manual_seed(0)", DATA, page.setup, example(page.rule, title), page.tail)
        assert ran.error is None
        return eval(page.result, dict(ran.names))

    assert result("Bad") != result("Good")


AVERAGE = """
        class Average:
            def __init__(self, model):
                self.model, self.kept = model, {}
                self.shadow = {name: p.data.clone() for name, p in model.named_parameters()}
            def update(self):
                for name, p in self.model.named_parameters():
                    mixed = 0.1 * p.data + 0.9 * self.shadow[name]
                    self.shadow[name] = mixed.clone()
            def put_in(self):
                for name, p in self.model.named_parameters():
                    self.kept[name] = p.data
                    p.data = self.shadow[name]
            def put_back(self):
                for name, p in self.model.named_parameters():
                    p.data = self.kept[name]
        model = network()
        opt, average = torch.optim.Adam(model.parameters()), Average(model)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            average.update()
            if i % 4 == 3:
                average.put_in()
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
"""
FOUND = {
    "weights are given the memory of their averages": (averages_trained_on, AVERAGE, "p.data = self.shadow[name]"),
    "a state dict of averages is loaded": (
        averages_trained_on,
        """
        model = network()
        opt, average = torch.optim.Adam(model.parameters()), {k: v.clone() for k, v in model.state_dict().items()}
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            for k, v in model.state_dict().items():
                average[k] = 0.9 * average[k] + 0.1 * v
            if i % 4 == 3:
                model.load_state_dict(average)
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
        """,
        "model.load_state_dict(average)",
    ),
    "PyTorch's own averages are loaded": (
        averages_trained_on,
        """
        from torch.optim import swa_utils
        model = network()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            average.update_parameters(model)
            if i % 4 == 3:
                model.load_state_dict(average.module.state_dict())
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
        """,
        "model.load_state_dict(average.module.state_dict())",
    ),
    "averages of the parameters alone are put into a new network": (
        statistics_left_behind,
        """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        average = {name: p.detach().clone() for name, p in model.named_parameters()}
        for x, y in data:
            stepped(model, opt, x, y)
            for name, p in model.named_parameters():
                average[name].lerp_(p.detach(), 0.1)
        shown = normed()
        shown.load_state_dict(average, strict=False)
        out = shown.eval()(x)
        """,
        "shown.load_state_dict(average, strict=False)",
    ),
    "a helper measures in training mode, and its caller reads the number": (
        statistics_moved,
        """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        def accuracy(x, y):
            with torch.no_grad():
                return ((model(x) > 0) == (y > 0)).float().mean()
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            if i % 4 == 3:
                print(float(accuracy(x + 1, y)))
        out = model.eval()(x)
        """,
        "return ((model(x) > 0) == (y > 0)).float().mean()",
    ),
    "an actor's loss goes through the critic": (
        gradient_of_another_loss,
        """
        actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
        opt_actor, opt_critic = (torch.optim.Adam(m.parameters()) for m in (actor, critic))
        def worth(x, move):
            return critic(torch.cat([x, move], 1))
        for x, y in data:
            opt_actor.zero_grad()
            opt_critic.zero_grad()
            (-worth(x, actor(x))).mean().backward()
            opt_actor.step()
            loss_of(worth(x, actor(x).detach()), y).backward()
            opt_critic.step()
        """,
        "loss_of(worth(x, actor(x).detach()), y).backward()",
    ),
    "rows are masked after the step": (
        gradient_edited_late,
        """
        rows, kept = nn.Embedding(20, 4), torch.arange(20) < 15
        opt = torch.optim.Adam(rows.parameters())
        for k in range(4):
            rows(torch.arange(k, 20)).square().sum().backward()
            opt.step()
            rows.weight.grad[kept] = 0
            opt.zero_grad(set_to_none=False)
        """,
        "rows.weight.grad[kept] = 0",
    ),
    "one batch of five is left over": (
        gradients_left_over,
        """
        model = network()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for i, (x, y) in enumerate(data[:5]):
                (loss_of(model(x), y) / 2).backward()
                if (i + 1) % 2 == 0:
                    opt.step()
                    opt.zero_grad()
        """,
        "(loss_of(model(x), y) / 2).backward()",
    ),
}
ACCUMULATED = """
        model, count = network(), 0
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            {before}
            for i, (x, y) in enumerate(data[:{batches}]):
                (loss_of(model(x), y) / 4).backward()
                count += {counted}
                if {due}:
                    opt.step()
                    opt.zero_grad()
                    {after}
        """
QUIET = {
    "weights are given their own memory back": AVERAGE + 16 * " " + "average.put_back()",
    "sums that end with the epoch": ACCUMULATED.format(
        before="", batches=8, counted=1, due="(i + 1) % 4 == 0", after=""
    ),
    "a last sum of fewer batches": ACCUMULATED.format(
        before="", batches=7, counted=1, due="(i + 1) % 4 == 0 or i == 6", after=""
    ),
    "sums that go on from epoch to epoch": ACCUMULATED.format(
        before="", batches=7, counted=1, due="count % 4 == 0", after=""
    ),
    "gradients that are cleared before each epoch": ACCUMULATED.format(
        before="opt.zero_grad()", batches=7, counted=1, due="(i + 1) % 4 == 0", after=""
    ),
    "batches that are gathered up to a number of rows": ACCUMULATED.format(
        before="", batches=11, counted="(3, 5, 2, 9, 3, 3, 1, 8, 2, 2, 5)[i]", due="count >= 8", after="count = 0"
    ),
    "gradients that are clipped for each of two optimizers": """
        parts = [nn.Linear(3, 1), nn.Linear(3, 1)]
        opts = [torch.optim.SGD(part.parameters(), lr=0.1) for part in parts]
        for x, y in data:
            for part, opt in zip(parts, opts):
                opt.zero_grad()
                loss_of(9 * part(x), y).backward()
            for opt in opts:
                nn.utils.clip_grad_norm_([p for part in parts for p in part.parameters()], 0.1)
                opt.step()
        """,
    "gradients that are scaled back to be shown": """
        model = network()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            (9 * loss_of(model(x), y)).backward()
            opt.step()
            for p in model.parameters():
                p.grad.div_(9)
            print(sum(p.grad.norm() for p in model.parameters()).item())
        """,
    "a norm that clipping gives, below the step": """
        model, norms = network(), []
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            loss_of(model(x), y).backward()
            opt.step()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), float("inf")))
        """,
    "averages are swapped in and out": """
        model = network()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), [p.detach().clone() for p in model.parameters()]
        @torch.no_grad()
        def swap():
            for s, p in zip(average, model.parameters()):
                kept = p.clone()
                p.copy_(s)
                s.copy_(kept)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            for s, p in zip(average, model.parameters()):
                s.lerp_(p.detach(), 0.1)
            if i % 4 == 3:
                swap()
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
                swap()
        """,
    "weights are kept and put back": """
        model = network()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            for s, p in zip(average.parameters(), model.parameters()):
                s.data.mul_(0.9).add_(p.data * 0.1)
            if i % 4 == 3:
                kept = copy.deepcopy(model.state_dict())
                model.load_state_dict(average.state_dict())
                with torch.no_grad():
                    print(loss_of(model(x), y).item())
                model.load_state_dict(kept)
        """,
    "Lookahead, begun after some steps": """
        model, slow = network(), None
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            if i == 1:
                slow = [p.detach().clone() for p in model.parameters()]
            if i % 4 == 3:
                with torch.no_grad():
                    for s, p in zip(slow, model.parameters()):
                        s.add_(p - s, alpha=0.5)
                        p.copy_(s)
                    print(loss_of(model(x), y).item())
        """,
    "Reptile over three tasks each": """
        model = network()
        for outer in range(2):
            start = {k: v.clone() for k, v in model.state_dict().items()}
            ends = []
            for task in range(3):
                model.load_state_dict(start)
                opt = torch.optim.SGD(model.parameters(), lr=0.1)
                for x, y in data[4 * task : 4 * task + 4]:
                    stepped(model, opt, x, y)
                ends.append({k: v.clone() for k, v in model.state_dict().items()})
            model.load_state_dict({k: torch.stack([end[k] for end in ends]).mean(0) for k in start})
            with torch.no_grad():
                print(loss_of(model(x), y).item())
        """,
    "an average at the end, with statistics of its own": """
        from torch.optim import swa_utils
        model = normed()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), swa_utils.AveragedModel(model)
        for x, y in data:
            stepped(model, opt, x, y)
            average.update_parameters(model)
        swa_utils.update_bn(data, average)
        print(loss_of(average.eval()(x), y).item())
        """,
    "an average that takes the buffers too": """
        model = normed()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model).eval()
        for i, (x, y) in enumerate(data):
            stepped(model, opt, x, y)
            with torch.no_grad():
                for s, p in zip(average.parameters(), model.parameters()):
                    s.lerp_(p, 0.1)
                if i % 4 == 3:
                    for s, p in zip(average.buffers(), model.buffers()):
                        s.copy_(p)
                    print(loss_of(average(x), y).item())
        """,
    "a teacher that sees batches in training mode": """
        model = normed()
        opt, teacher = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model)
        for x, y in data:
            with torch.no_grad():
                aim = teacher(x)
            stepped(model, opt, x, aim)
            with torch.no_grad():
                for s, p in zip(teacher.parameters(), model.parameters()):
                    s.lerp_(p, 0.1)
        print(loss_of(teacher.eval()(x), y).item())
        """,
    "a target network by its state dict": """
        model = normed()
        opt, target = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model).eval()
        for i, (x, y) in enumerate(data):
            with torch.no_grad():
                aim = y + 0.9 * target(x)
            stepped(model, opt, x, aim)
            if i % 4 == 3:
                target.load_state_dict(model.state_dict())
        """,
    "a batch norm that stays as it was": """
        model = normed().eval()
        opt, average = torch.optim.SGD(model.parameters(), lr=0.1), copy.deepcopy(model)
        for x, y in data:
            stepped(model, opt, x, y)
            with torch.no_grad():
                for s, p in zip(average.parameters(), model.parameters()):
                    s.lerp_(p, 0.1)
        print(loss_of(average(x), y).item())
        """,
    "a generator that runs without gradients for its judge": """
        maker, judge = normed(), nn.Linear(1, 1)
        opt_maker, opt_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))
        for x, y in data:
            with torch.no_grad():
                fake = maker(x)
            opt_judge.zero_grad()
            loss = (judge(fake) - judge(y)).mean()
            loss.backward()
            opt_judge.step()
            opt_maker.zero_grad()
            (-judge(maker(x))).mean().backward()
            opt_maker.step()
        print(maker.eval()(x).mean().item())
        """,
    "statistics that a pass is there to adapt": """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for x, y in data:
                stepped(model, opt, x, y)
            with torch.no_grad():
                for x, y in data:
                    model(x + 1)
        print(loss_of(model.eval()(x), y).item())
        """,
    "a measurement after which the statistics are put back": """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(2):
            for x, y in data:
                stepped(model, opt, x, y)
            kept = copy.deepcopy(model.state_dict())
            with torch.no_grad():
                print(loss_of(model(x + 1), y).item())
            model.load_state_dict(kept)
        print(loss_of(model.eval()(x), y).item())
        """,
    "labels that the network gives itself": """
        model = normed()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            with torch.no_grad():
                aim = (model(x + 1) > 0).float()
                print(aim.mean().item())
            stepped(model, opt, x + 1, aim)
        print(loss_of(model.eval()(x), y).item())
        """,
    "a judge that is cleared, its maker first": """
        maker, judge = nn.Linear(3, 1), nn.Linear(1, 1)
        opt_maker, opt_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))
        for x, y in data:
            opt_maker.zero_grad()
            judge(maker(x)).mean().backward()
            opt_maker.step()
            opt_judge.zero_grad()
            (-judge(y)).mean().backward()
            judge(maker(x).detach()).mean().backward()
            opt_judge.step()
        """,
    "a body of two heads that is stepped after both": """
        body, heads = nn.Linear(3, 4), [nn.Linear(4, 1), nn.Linear(4, 1)]
        opt_body, *opts = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (body, *heads))
        for x, y in data:
            opt_body.zero_grad()
            for head, opt in zip(heads, opts):
                opt.zero_grad()
                loss_of(head(body(x)), y).backward()
                opt.step()
            opt_body.step()
        """,
    "two bodies and one head that is stepped after both": """
        head, bodies = nn.Linear(4, 1), [nn.Linear(3, 4), nn.Linear(3, 4)]
        opt_head, *opts = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (head, *bodies))
        for x, y in data:
            opt_head.zero_grad()
            for body, opt in zip(bodies, opts):
                opt.zero_grad()
                loss_of(head(body(x)), y).backward()
                opt.step()
            opt_head.step()
        """,
    "noise that climbs while gradients are summed": """
        model = network()
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            noise = torch.zeros_like(x, requires_grad=True)
            for climb in range(3):
                (loss_of(model(x + noise), y) / 3).backward()
                noise = (noise + 0.1 * noise.grad.sign()).detach().requires_grad_()
            opt.step()
        """,
}


@pytest.mark.parametrize("name", FOUND)
def test_other_ways_of_the_same_mistake_are_told_at_their_line(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    rule, program, blamed = FOUND[name]
    found = told(loaded_shell, tmp_path, DATA + textwrap.dedent(program))
    assert found.alarms == [[(rule.CODE, blamed)], [(rule.CODE, blamed)]], [each.to_text() for each in found.reports]


@pytest.mark.parametrize("name", QUIET)
def test_training_that_only_looks_like_it_is_left_alone(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    found = told(loaded_shell, tmp_path, DATA + textwrap.dedent(QUIET[name]))
    assert found.plain is None
    assert found.alarms == [[], []], [each.to_text() for each in found.reports]
