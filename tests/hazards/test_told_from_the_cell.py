"""Rules that read the watched cell's text: the bad program of each page is named where it writes, the good one is
quiet."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hazards.running import IMPORTS, code_of, example
from hazards.test_fixes import cured, watch_cell

from inplace_magic.hazards.shared import copy_shares_parameters
from inplace_magic.hazards.stale import array_shares_memory, initial_value_written, results_share_memory
from inplace_magic.hazards.twice import run_again as recomputed_with_other_values

START = IMPORTS.replace("import inplace_magic\n", "import numpy as np\nfrom torch.utils.checkpoint import checkpoint\n")
PROGRAMS: dict[ModuleType | str, tuple[str, str, str]] = {
    array_shares_memory: (
        "w, history = torch.ones(2, requires_grad=True), []\nfor step in range(3):\n    w.grad = None\n"
        "    w.square().sum().backward()\n    with torch.no_grad():\n",
        "wrong = (history[0] == history[-1]).all()",
        "w -= 0.1 * w.grad",
    ),
    copy_shares_parameters: (
        "online, x = nn.Linear(2, 1), torch.randn(3, 2)\nfirst = online(x).detach()\n"
        "optimizer = torch.optim.SGD(online.parameters(), lr=0.1)\nonline(x).sum().backward()\n",
        "wrong = not torch.equal(target(x), first)",
        "optimizer.step()",
    ),
    initial_value_written: (
        "sequences, finals = [torch.ones(2, 3), torch.ones(2, 3)], []\n",
        "wrong = finals[0] != finals[1]",
        "h += x",
    ),
    recomputed_with_other_values: (
        "w, x, temperature = torch.randn(3, 3, requires_grad=True), torch.randn(2, 3), torch.tensor(1.0)\n"
        "honest = torch.autograd.grad(torch.tanh(x @ w).sum(), w)[0]\n",
        "wrong = not torch.allclose(w.grad, honest)",
        "temperature.mul_(0.5)",
    ),
    results_share_memory: (
        "a, b, c, buffer = *torch.randn(3, 3, 3), torch.empty(3, 3)\nw = torch.ones(2, requires_grad=True)\n"
        "w.square().sum().backward()\nloss_b = w.sum()\n",
        "wrong = bool((first == second).all() and grad_a is grad_b)",
        "second = torch.mm(a, c, out=buffer)",
    ),
    "swapped-through-views": ("x = torch.arange(6.0).view(2, 3)\n", "wrong = torch.equal(x[0], x[1])", "x[0], x[1]"),
}
"""Rule -> what stands before its example, whether the outcome is wrong, and how the line that writes begins."""


def program(rule: ModuleType | str, title: str) -> str:
    before, after, _write = PROGRAMS[rule]
    text = example(rule, title)
    if rule is array_shares_memory:
        text = f"        pass\n    {text}".replace("\nw -=", "\n    with torch.no_grad():\n        w -=")
    return f"{START}{before}{text}\n{after}"


@pytest.mark.parametrize("rule", PROGRAMS, ids=code_of)
def test_the_bad_program_is_named_where_it_writes_and_its_diff_cures_it(
    rule: ModuleType | str, loaded_shell: Any
) -> None:
    source = program(rule, "Bad")
    report = watch_cell(loaded_shell, source)
    assert loaded_shell.user_ns["wrong"]

    found = [hazard for hazard in report.hazards if hazard.code == code_of(rule)]
    assert found, report.to_text()
    assert found[0].mutation is not None
    assert found[0].mutation.statement.startswith(PROGRAMS[rule][2])
    if found[0].diff:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(cured(source, report), names)
        assert not names["wrong"]


GOOD = {
    array_shares_memory: "history.append(w.detach().numpy().copy())",
    copy_shares_parameters: "target = copy.deepcopy(online)",
    initial_value_written: "h = h0.clone()",
    results_share_memory: "first = torch.mm(a, b, out=buffer).clone()",
    "swapped-through-views": "x[[0, 1]] = x[[1, 0]]",
}
"""The line of the good program that takes the place of one in the bad one."""
BAD = {
    array_shares_memory: "history.append(w.detach().numpy())",
    copy_shares_parameters: "target = copy.copy(online)",
    initial_value_written: "h = h0",
    results_share_memory: "first = torch.mm(a, b, out=buffer)",
    "swapped-through-views": "x[0], x[1] = x[1], x[0]",
}


@pytest.mark.parametrize("rule", GOOD, ids=code_of)
def test_the_good_line_in_its_place_is_quiet(rule: ModuleType | str, loaded_shell: Any) -> None:
    assert GOOD[rule] in example(rule, "Good")
    source = program(rule, "Bad").replace(f"{BAD[rule]}\n", f"{GOOD[rule]}\n", 1)
    source = source.replace("grad_a = w.grad\n", "grad_a = w.grad.clone()\n")

    report = watch_cell(loaded_shell, source)

    assert code_of(rule) not in {hazard.code for hazard in report.hazards}, report.to_text()


def test_a_checkpoint_whose_backward_came_first_is_quiet(loaded_shell: Any) -> None:
    *before, write, backward, after = program(recomputed_with_other_values, "Bad").splitlines()
    assert backward == "loss.backward()"
    good = [*before, backward, write, after]

    report = watch_cell(loaded_shell, "\n".join(good))

    assert not loaded_shell.user_ns["wrong"]
    assert recomputed_with_other_values.CODE not in {hazard.code for hazard in report.hazards}, report.to_text()
