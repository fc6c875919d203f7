"""The judge of a generator stepped along the generator's loss as well: the diff clears its gradients before its own."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hazards.curing import cured, differing, run, watch_cell

BEGIN = """
import torch
from torch import nn
from torch.nn.functional import softplus

torch.manual_seed(0)
maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
maker_steps = torch.optim.SGD(maker.parameters(), lr=0.1)
judge_steps = torch.optim.SGD(judge.parameters(), lr=0.1)
pairs = [(torch.randn(8, 3), torch.randn(8, 2)) for _ in range(4)]
"""
ROUND = """
for real, noise in pairs:
    made = maker(noise)
    JUDGED
    maker_steps.zero_grad()
    judge_steps.zero_grad()
    softplus(-judge(made)).mean().backward()
    maker_steps.step()
"""
TRAINED = {
    "one loss": (
        "CLEAR\n(softplus(-judge(real)).mean() + softplus(judge(made.detach())).mean()).backward()\njudge_steps.step()"
    ),
    "a backward for each of its losses": (
        "CLEAR\nsoftplus(-judge(real)).mean().backward()\nsoftplus(judge(made.detach())).mean().backward()\n"
        "judge_steps.step()"
    ),
}
LOOP_OF_PLAYERS = """
def of_maker(real, noise):
    return softplus(-judge(maker(noise))).mean()

def of_judge(real, noise):
    return softplus(-judge(real)).mean() + softplus(judge(maker(noise).detach())).mean()

for real, noise in pairs:
    for loss_of, steps in ((of_maker, maker_steps), (of_judge, judge_steps)):
        loss = loss_of(real, noise)
        CLEAR
        loss.backward()
        steps.step()
        steps.zero_grad()
"""


def _round(judged: str) -> str:
    return BEGIN + ROUND.replace("    JUDGED", textwrap.indent(judged, "    "))


PROGRAMS = {name: _round(judged) for name, judged in TRAINED.items()} | {
    "a loop of players": BEGIN + LOOP_OF_PLAYERS,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_diff_cures_it(loaded_shell: Any, name: str) -> None:
    steps = "steps" if "players" in name else "judge_steps"
    meant, _ = run(PROGRAMS[name].replace("CLEAR", f"{steps}.zero_grad()"))
    source = PROGRAMS[name].replace("CLEAR", "pass").strip("\n")
    left, error = run(source)
    assert error == ""
    assert differing(left, meant, within="judge.weight"), "without a watch nothing says that it is wrong"
    report = watch_cell(loaded_shell, source)
    assert [hazard.code for hazard in report.hazards if hazard.is_alarm] == ["gradient-of-another-loss"]
    added = [line[1:].strip() for line in report.hazards[0].diff.splitlines() if line.startswith("+")]
    assert added[0] == f"{steps}.zero_grad()"
    healed, error = run(cured(source, report))
    assert error == ""
    assert differing(healed, meant, within="judge.weight") == []
    assert differing(healed, meant, within="maker.weight") == []


NO_DIFF = {
    "stepped now and then": (
        "softplus(-judge(real)).mean().backward()\nif real is not pairs[0][0]:\n    judge_steps.step()"
    ),
    "the optimizer has its name between them": (
        "softplus(-judge(real)).mean().backward()\nfirst = judge_steps\nfirst.step()"
    ),
}


@pytest.mark.parametrize("name", NO_DIFF)
def test_where_clearing_is_not_certain_there_is_no_diff(loaded_shell: Any, name: str) -> None:
    report = watch_cell(loaded_shell, _round(NO_DIFF[name]).strip("\n"))
    found = [hazard for hazard in report.hazards if hazard.is_alarm]
    assert [hazard.code for hazard in found] == ["gradient-of-another-loss"]
    assert found[0].diff == ""
