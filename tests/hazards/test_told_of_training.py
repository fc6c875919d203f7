"""Rules on what training carries on, weights, averages, statistics and the gradients of several losses: the bad program
of each page is named at its line, and its good one is quiet."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, plainly, watched
from hazards.trained import DATA


@dataclass(frozen=True)
class Page:
    """What the two programs of a rule's page need, and what is expected of them."""

    rule: str
    setup: str
    blamed: str
    """The statement blamed in the bad program."""
    result: str
    """An expression over the program's names in which the bad and the good one differ."""
    tail: str = ""


PAGES = {
    page.rule: page
    for page in (
        Page(
            "gradient-of-another-loss",
            "maker, judge, noise, real = nn.Linear(2, 3), nn.Linear(3, 1), torch.randn(8, 2), torch.randn(8, 3)\n"
            "fake = torch.randn(8, 3)\n"
            "opt_maker, opt_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))",
            "loss_of(judge(real), judge(fake)).backward()",
            "round(judge.weight.sum().item(), 6)",
        ),
        Page(
            "gradient-edited-late",
            "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=1)\n"
            "def loss_of(w):\n    return (w * 9).sum()",
            "nn.utils.clip_grad_norm_([w], 1.0)      # the step is over",
            "round(w[0].item(), 3)",
        ),
        Page(
            "gradients-left-over",
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
    finding = bad.the(page.rule)
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


FOUND = {
    "an actor's loss goes through the critic": (
        "gradient-of-another-loss",
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
        "gradient-edited-late",
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
        "gradients-left-over",
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


@pytest.mark.parametrize("name", FOUND)
def test_other_ways_of_the_same_mistake_are_told_at_their_line(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    rule, program, blamed = FOUND[name]
    found = told(loaded_shell, tmp_path, DATA + textwrap.dedent(program))
    assert found.alarms == [[(rule, blamed)], [(rule, blamed)]], [each.to_text() for each in found.reports]
