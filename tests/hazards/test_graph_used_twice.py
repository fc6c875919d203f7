"""A backward into a graph that an earlier backward had used up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import site, tensor
from hazards.both_ways import told
from hazards.running import IMPORTS, WATCH, example, plainly, watched

from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rules import graph_used_twice as rule
from inplace_magic.record.autograd import AutogradNode, Backward, SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace

SAID = "Trying to backward through the graph a second time"
SETUP = """
cell = nn.GRUCell(3, 4)
batches = [torch.randn(2, 3) for each in range(3)]
w = torch.randn(3, requires_grad=True)
"""
GAN = """
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 1))
opt_G, opt_D = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
fake = torch.sigmoid(G(torch.randn(5, 2)))
loss_D = D(fake).mean()
loss_D.backward()
opt_D.step()
loss_G = -D(fake).mean()
loss_G.backward()
"""
BAD = {
    "twice": ("loss = w.sigmoid().sum()\nloss.backward()\nloss.backward()", "loss.backward()", ("`loss`",)),
    "in_a_loop": (
        "loss = w.sigmoid().sum()\nfor step in range(2):\n    loss.backward()",
        "loss.backward()",
        ("`loss = w.sigmoid().sum()`", "into the loop"),
    ),
    "a_shared_part": (
        "h = w.sigmoid()\none, other = h.sum(), (h * h).sum()\none.backward()\nother.backward()",
        "one.backward()",
        ("`h`", "on the sum of the two results"),
    ),
    "a_stepped_part": (
        "h = w.sigmoid()\none, other = h.sum(), (h * h).sum()\none.backward()\n"
        "with torch.no_grad():\n    w -= 0.1\nother.backward()",
        "one.backward()",
        ("`h`", "Compute `h` again after `w -= 0.1`"),
    ),
    "by_grad": (
        "loss = w.sigmoid().sum()\n(g,) = torch.autograd.grad(loss, w)\nloss.backward()",
        "(g,) = torch.autograd.grad(loss, w)",
        ("`loss`",),
    ),
    "a_gan": (GAN, "loss_D.backward()", ("`fake`", "by `.detach()` of `fake`")),
    "a_function_of_ones_own": (
        "class Double(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * 2\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return g * 2\n"
        "loss = Double.apply(w).sum()\nloss.backward()\nloss.backward()",
        "loss.backward()",
        ("`loss`",),
    ),
    "after_one_that_failed": (
        "h = w.sigmoid()\ny = h.sigmoid()\ndef fail(g):\n    raise ValueError\nh.register_hook(fail)\n"
        "try:\n    y.sum().backward()\nexcept ValueError:\n    pass\n(2 * y.sum()).backward()",
        "y.sum().backward()",
        ("half freed",),
    ),
    "a_state_in_a_function": (
        "def run():\n    h = torch.zeros(2, 4)\n    for x in batches:\n        h = cell(x, h)\n"
        "        h.pow(2).mean().backward()\nrun()",
        "h.pow(2).mean().backward()",
        ("`h = h.detach()`",),
    ),
    "two_states": (
        "lstm = nn.LSTMCell(3, 4)\nh, c = torch.zeros(2, 4), torch.zeros(2, 4)\nfor x in batches:\n"
        "    h, c = lstm(x, (h, c))\n    loss = h.pow(2).mean()\n    loss.backward()",
        "loss.backward()",
        ("`h, c = h.detach(), c.detach()`",),
    ),
}
GOOD = {
    "retained": "loss = w.sigmoid().sum()\nloss.backward(retain_graph=True)\nloss.backward()",
    "anew": "for step in range(2):\n    loss = w.sigmoid().sum()\n    loss.backward()",
    "the_sum": "h = w.sigmoid()\n(h.sum() + (h * h).sum()).backward()",
    "nothing_saved": "loss = (w + 1).sum()\nloss.backward()\nloss.backward()",
    "a_gan": GAN.replace("D(fake).mean()\nloss_D", "D(fake.detach()).mean()\nloss_D"),
}


@pytest.mark.parametrize("name", BAD)
def test_both_backwards_are_named(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    program, first, words = BAD[name]
    ran = told(loaded_shell, tmp_path, SETUP + program)
    assert SAID in str(ran.plain)
    for finding in ran.the(rule.CODE):
        assert finding.severity == "error"
        assert finding.raised
        assert finding.freed is not None
        assert finding.freed.statement == first
        assert finding.mutation is None
        for word in words:
            assert word in f"{finding.message} {finding.fix}"


@pytest.mark.parametrize("name", GOOD)
def test_a_graph_used_once_or_kept_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, SETUP + GOOD[name])
    assert ran.plain is None
    assert ran.alarms == [[], []]


def test_the_bad_program_names_the_state_and_the_pass(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    assert SAID in str(ran.error)
    finding = ran.the(rule.CODE)
    assert ran.at(finding.freed) == "h.pow(2).mean().backward()"
    assert ran.at(finding.saved) == "h = cell(x, h)"
    assert finding.variable == "h"
    assert "back through `h` into the graph of an earlier pass" in finding.message
    assert "Detach the state between two passes, by `h = h.detach()`" in finding.fix
    assert [line for line in finding.diff.split("\n") if line[:1] in "+-"] == ["+        h = h.detach()"]
    assert "freed here (by the first backward)" in ran.report.to_text()


def test_the_good_program_is_quiet(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Good"))
    assert ran.error is None
    assert ran.codes() == set()


def test_what_the_fix_says_cures_it(tmp_path: Path) -> None:
    program = BAD["two_states"][0]
    cured = program.replace("    h, c = lstm", "    h, c = h.detach(), c.detach()\n    h, c = lstm")
    assert SAID in str(plainly(tmp_path, SETUP, program).error)
    assert plainly(tmp_path, SETUP, cured).error is None


def test_of_a_backward_before_the_watch_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "before.py"
    before = "w = torch.randn(3, requires_grad=True)\nh = w.sigmoid()\nh.sum().backward()\n"
    path.write_text(IMPORTS + before + WATCH + "    (2 * h).sum().backward()\n")
    names: dict[str, Any] = {"__name__": "__main__"}
    with pytest.raises(RuntimeError, match=SAID):
        exec(compile(path.read_text(), str(path), "exec"), names)
    (finding,) = names["watched"].report.hazards
    assert finding.code == rule.CODE
    assert finding.freed is None
    assert "from before this watch began" in finding.message
    assert "names the first backward" in finding.fix


def test_of_a_backward_on_another_thread_nothing_is_guessed(tmp_path: Path) -> None:
    program = """
    import threading
    loss = w.sigmoid().sum()
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()
    loss.backward()
    """
    ran = watched(tmp_path, SETUP, program)
    assert SAID in str(ran.error)
    finding = ran.the(rule.CODE)
    assert finding.freed is None
    assert "The record does not show which backward." in finding.message


def test_it_is_told_in_chinese(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    (finding,) = (each for each in ran.report.in_language("zh").hazards if each.code == rule.CODE)
    assert "`h = h.detach()`" in finding.fix
    assert "释放" in finding.message


CELL = ("loss = torch.sigmoid(w).sum()", "loss.backward()", "loss.backward()")


def by_hand() -> Trace:
    w, loss = tensor(1, requires_grad=True), tensor(2, shape=(), requires_grad=True, is_leaf=False, node=2)
    return Trace(
        calls=(
            CallEvent(0, "torch.sigmoid", "ordinary", site(1, CELL), (w,), (loss,)),
            CallEvent(1, "Tensor.backward", "query", site(2, CELL), (loss,)),
            CallEvent(2, "Tensor.backward", "query", site(3, CELL), (loss,), refusal=refusal_of(SAID)),
        ),
        nodes=(AutogradNode(1, "AccumulateGrad", variable=1), AutogradNode(2, "SigmoidBackward0", 0, (1,), call=0)),
        saved=(SavedTensor(2, "result", 2, 2, 0, 2),),
        backwards=(Backward(1, (2,)), Backward(2, (2,))),
    )


def test_a_trace_by_hand_names_both() -> None:
    (finding,), faults = find_hazards(by_hand())
    assert faults == ()
    assert (finding.code, finding.freed, finding.saved) == (rule.CODE, site(2, CELL), site(1, CELL))
    assert finding.saved_by == "SigmoidBackward0"


def test_a_backward_that_kept_the_graph_freed_nothing() -> None:
    trace = by_hand()
    kept = replace(trace, backwards=(replace(trace.backwards[0], retain_graph=True), trace.backwards[1]))
    (finding,), _ = find_hazards(kept)
    assert finding.freed is None
