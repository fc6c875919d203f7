"""An optimizer's step between forward and a later backward: what is advised trains every network as it was meant.

Each program raises in PyTorch without us. What is advised is taken at its word and run, and the parameters are those of
a program in which each network sees the gradients of its own loss alone.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hazards.curing import cured, differing, first_finding, run, watch_cell
from hazards.running import watched

RAISES = "modified by an inplace operation"
GAN = """
import torch
from torch import nn
torch.manual_seed(0)
G = nn.Linear(2, 3)
D = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
opt_D, opt_G = torch.optim.SGD(D.parameters(), lr=0.1), torch.optim.SGD(G.parameters(), lr=0.1)
real, z = torch.randn(8, 3), torch.randn(8, 2)
for _ in range(2):
    fake = G(z)
    p0, p1 = D(real), D(fake)
    d_loss = -torch.mean(torch.log(p0) + torch.log(1. - p1)); g_loss = torch.mean(torch.log(1. - p1))
    opt_D.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_D.step()
    opt_G.zero_grad()
    g_loss.backward()
    opt_G.step()
"""


def test_pytorch_raises_where_d_is_stepped_before_the_backward_of_g() -> None:
    assert RAISES in run(GAN)[1]


def test_computed_anew_as_advised_g_gets_the_gradient_of_the_stepped_d(loaded_shell: Any) -> None:
    source = GAN.replace("; g_loss", "\n    g_loss").replace(
        "p0, p1 = D(real), D(fake)", "p0 = D(real)\n    p1 = D(fake)"
    )
    report = watch_cell(loaded_shell, source.lstrip("\n"))
    assert "Compute the result after the step" in report.hazards[0].fix
    left, error = run(cured(source.lstrip("\n"), report))
    anew = """
    opt_D.zero_grad()
    d_loss.backward()
    opt_D.step()
    anew = torch.mean(torch.log(1. - D(G(z))))
    for p, g in zip(G.parameters(), torch.autograd.grad(anew, list(G.parameters()))):
        p.grad = g
    opt_G.step()
"""
    reference, raised = run(GAN[: GAN.index("    opt_D.zero_grad()")] + anew.lstrip("\n"))
    assert (error, raised) == ("", "")
    assert differing(reference, left, within="D.") == [
        f"D.{n}.grad" for n in ("0.bias", "0.weight", "2.bias", "2.weight")
    ]
    assert differing(reference, left, within="G.") == []
    assert not watch_cell(loaded_shell, cured(source.lstrip("\n"), report)).hazards


AGENT = """
import torch
from torch import nn

def update_params(optim, network, loss):
    optim.zero_grad()
    loss.backward(retain_graph=True)
    optim.step()

class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    def forward(self, s, a):
        x = torch.cat([s, a], 1)
        return self.net(x)

class Agent:
    def __init__(self):
        self.policy, self.critic = nn.Linear(3, 2), Critic()
        self.q_optim = torch.optim.SGD(self.critic.parameters(), lr=0.1)
        self.p_optim = torch.optim.SGD(self.policy.parameters(), lr=0.1)
    def calc_policy_loss(self, s):
        return -self.critic(s, torch.tanh(self.policy(s))).mean()
    def learn(self, s, a, y):
        q_loss = (self.critic(s, a) - y).pow(2).mean()
        policy_loss = self.calc_policy_loss(s)
        update_params(self.q_optim, self.critic, q_loss)
        update_params(self.p_optim, self.policy, policy_loss)

torch.manual_seed(0)
agent = Agent()
agent.learn(torch.randn(6, 3), torch.randn(6, 2), torch.randn(6, 1))
policy, critic = agent.policy, agent.critic
"""


def test_in_a_helper_the_call_that_must_move_is_named_and_not_the_innermost_line(tmp_path: Path) -> None:
    scaled = (
        "\n        policy_loss *= 0.5\n        update_params(self.q_optim"  # no diff: it would have to move as well
    )
    program = AGENT.replace("\n        update_params(self.q_optim", scaled)
    ran = watched(tmp_path, textwrap.dedent(program))
    assert ran.report.hazards[0].diff == ""
    assert RAISES in str(ran.error)
    fix = ran.report.hazards[0].fix

    assert fix.startswith("Compute `policy_loss` again after `update_params(self.q_optim, self.critic, q_loss)`")
    assert "return self.net(x)" not in fix


def test_the_call_moved_as_advised_trains_policy_and_critic_each_by_its_own_loss(loaded_shell: Any) -> None:
    source = AGENT.lstrip("\n")
    assert RAISES in run(source)[1]
    left, error = run(cured(source, watch_cell(loaded_shell, source)))
    reference = source.replace("        policy_loss = self.calc_policy_loss(s)\n", "").replace(
        "        update_params(self.p_optim",
        "        policy_loss = self.calc_policy_loss(s)\n        update_params(self.p_optim",
    )
    assert error == ""
    assert differing(run(reference)[0], left, within="policy.") == []
    assert differing(run(reference)[0], left, within="critic.") == []


STATE = """
import torch
from torch import nn
torch.manual_seed(0)
cell, head = nn.LSTMCell(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h, c = torch.zeros(2, 4), torch.zeros(2, 4)
for x in torch.randn(3, 2, 3):
    h, c = cell(x, (h, c))
    loss = head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
"""


def test_a_recurrent_state_that_carries_the_graph_of_the_pass_before_is_cut_off(loaded_shell: Any) -> None:
    source = STATE.lstrip("\n")
    assert RAISES in run(source)[1]
    report = watch_cell(loaded_shell, source)

    assert "\n+    h, c = h.detach(), c.detach()" in report.hazards[0].diff
    new = cured(source, report)
    left, error = run(new)
    reference = source.replace("cell(x, (h, c))", "cell(x, (h.detach(), c.detach()))").replace("retain_graph=True", "")
    assert error == ""
    assert differing(run(reference)[0], left, within="cell.") == []
    assert not watch_cell(loaded_shell, new).hazards


def test_a_file_gets_the_same_diff_as_a_cell(tmp_path: Path, loaded_shell: Any) -> None:
    for program in (STATE, AGENT):
        in_a_file = watched(tmp_path, program).report.hazards[0]
        in_a_cell = watch_cell(loaded_shell, program.lstrip("\n")).hazards[0]
        assert in_a_file.diff.startswith("@@ watched_program.py")
        assert _changes(in_a_file.diff) == _changes(in_a_cell.diff) != []


def _changes(diff: str) -> list[str]:
    return [line[0] + line[1:].strip() for line in diff.splitlines() if not line.startswith("@@")]


def test_a_state_whose_beginning_is_not_plain_is_cut_off_below_the_step(tmp_path: Path) -> None:
    initial = "def initial(device):\n    return torch.zeros(2, 4, device=device), torch.zeros(2, 4, device=device)\n"
    begun = STATE.replace("h, c = torch.zeros(2, 4), torch.zeros(2, 4)\n", initial + "h, c = initial(None)\n")
    assert begun != STATE
    assert "opt.step()\n+        h, c = h.detach(), c.detach()" in watched(tmp_path, begun).report.hazards[0].diff


def test_a_state_that_is_a_tuple_is_cut_off_entry_by_entry(tmp_path: Path) -> None:
    source = STATE.replace("nn.LSTMCell(3, 4)", "nn.LSTM(3, 4)").replace(
        "h, c = torch.zeros(2, 4), torch.zeros(2, 4)", "state = None"
    )
    source = source.replace("h, c = cell(x, (h, c))", "h, state = cell(x, state)")
    ran = watched(tmp_path, textwrap.dedent(source))
    assert RAISES in str(ran.error)
    assert "+        state = tuple(part.detach() for part in state)" in ran.report.hazards[0].diff
    advised = source.replace("    opt.step()\n", "    opt.step()\n    state = tuple(part.detach() for part in state)\n")
    assert run(advised)[1] == ""


ONE = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(5, 3)
out = net(x)
first = out[:, 0].mean()
second = out[:, 1].pow(2).mean()
first.backward(retain_graph=True)
opt.step()
opt.zero_grad()
second.backward()
opt.step()
"""


def test_two_losses_of_one_network_with_a_step_between_the_second_is_computed_anew(loaded_shell: Any) -> None:
    source = ONE.lstrip("\n")
    assert RAISES in run(source)[1]
    left, error = run(cured(source, watch_cell(loaded_shell, source)))
    reference = source.replace("second.backward()", "net(x)[:, 1].pow(2).mean().backward()")
    assert error == ""
    assert differing(run(reference)[0], left, within="net.") == []


def test_a_line_between_that_changes_what_would_be_computed_anew_leaves_no_diff(loaded_shell: Any) -> None:
    source = ONE.lstrip("\n").replace("first = ", "out[0] = 0\nfirst = ")
    finding = first_finding(loaded_shell, source)
    assert finding.diff == ""
    assert "Compute `second` again after `opt.step()`" in finding.fix


@pytest.mark.parametrize("gradient", ["torch.autograd.grad(second, list(net.parameters()))"])
def test_gradients_that_are_handed_out_and_not_added_up_may_come_before_the_step(
    loaded_shell: Any, gradient: str
) -> None:
    source = ONE.lstrip("\n").replace("second.backward()\n", f"got = {gradient}\n")
    assert RAISES in run(source)[1]
    left, error = run(cured(source, watch_cell(loaded_shell, source)))
    reference = source.replace(f"got = {gradient}\n", "").replace("first.backward", f"got = {gradient}\nfirst.backward")
    reference = reference.replace("parameters()))\n", "parameters()), retain_graph=True)\n")
    assert error == ""
    assert differing(run(reference)[0], left, within="got") == []


SOFTMAX_GAN = """
class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    def forward(self, image):
        validity = self.model(image)
        return validity
maker, judge = nn.Linear(3, 4), Judge()
opt_maker, opt_judge = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (maker, judge))
real, made = torch.randn(5, 4), maker(torch.randn(5, 3))
on_real = judge(real)
on_made = judge(made)
z = torch.sum(torch.exp(-on_real)) + torch.sum(torch.exp(-on_made))
loss = 0.2 * torch.sum(on_real) + torch.log(z)
loss.backward(retain_graph=True)
opt_judge.step()
ANEW
loss = 0.1 * (torch.sum(on_real) + torch.sum(on_made)) + torch.log(z)
loss.backward()
"""


def test_a_loss_that_is_made_after_the_step_of_older_tensors_has_all_of_them_made_anew(loaded_shell: Any) -> None:
    """Whatever the losses are called: the first one, before the step, is another one than that of the backward."""
    imports = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
    source = imports + SOFTMAX_GAN.replace("ANEW\n", "").lstrip("\n")
    lines = source.split("\n")
    anew = lines[lines.index("on_real = judge(real)") :][:3]
    assert RAISES in run(source)[1]

    finding = first_finding(loaded_shell, source)
    left, error = run(cured(source, watch_cell(loaded_shell, source)))
    reference = source.replace("opt_judge.step()", "\n".join(["opt_judge.step()", *anew]))

    assert [line[1:] for line in finding.diff.split("\n") if line.startswith("+")] == anew
    assert error == ""
    assert differing(run(reference)[0], left) == []


def test_where_there_is_no_diff_all_that_was_made_before_the_step_is_named(tmp_path: Path) -> None:
    program = SOFTMAX_GAN.replace("ANEW\n", "").replace("on_real = judge", "on_real: torch.Tensor = judge")
    ran = watched(tmp_path, program)
    assert RAISES in str(ran.error)
    finding = ran.report.hazards[0]
    assert finding.diff == ""
    assert finding.fix.startswith("Compute `on_real` and `on_made` and `z` again after `opt_judge.step()`")


def test_a_function_that_is_called_twice_is_no_loop_that_carries_a_state(tmp_path: Path) -> None:
    program = """
        class Words(nn.Module):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(3, 3, bias=False)
            def forward(self, x):
                h = self.out(x)
                with torch.no_grad():
                    self.out.weight.div_(2)
                return h @ self.out.weight
        words = Words()
        once = words(torch.ones(2, 3))
        words(once).sum().backward()"""
    ran = watched(tmp_path, program)
    assert RAISES in str(ran.error)

    assert ran.report.hazards[0].fix.startswith("Compute `h` again after `self.out.weight.div_(2)`")


def test_after_weights_that_were_loaded_the_loss_is_computed_anew(tmp_path: Path) -> None:
    program = """
        def main():
            net, best = nn.Linear(3, 1), nn.Linear(3, 1)
            loss = net(nn.Linear(3, 3)(torch.ones(4, 3))).mean()
            net.load_state_dict(best.state_dict())
            try:
                loss.backward()
            finally:
                print("done")
        main()
        """
    ran = watched(tmp_path, program)
    assert RAISES in str(ran.error)
    fix = ran.report.hazards[0].fix
    assert fix.startswith("Compute `loss` again after `net.load_state_dict(best.state_dict())`")


def test_what_is_to_be_computed_anew_stands_between_step_and_backward_of_one_method(tmp_path: Path) -> None:
    program = """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
                self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
            def learn(self, x):
                out = self.net(x)
                self.first, self.second = out.mean(), out.square().mean()
                self.go_back()
            def go_back(self):
                self.first.backward(retain_graph=True)
                self.opt.step()
                self.second.backward()
        Model().learn(torch.ones(5, 3))
        """
    ran = watched(tmp_path, program)
    assert RAISES in str(ran.error)
    assert "again after `self.opt.step()`" in ran.report.hazards[0].fix
    assert "go_back" not in ran.report.hazards[0].fix, "it steps and goes backward: below it is too late"
