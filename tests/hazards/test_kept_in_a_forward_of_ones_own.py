"""What a forward hook kept in a model whose ``forward`` the user wrote, all of it local to a function."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import made, site, tensor, wrote
from hazards.both_ways import told
from hazards.running import plainly

from inplace_magic.hazards import find_hazards
from inplace_magic.record.names import KeptByHook
from inplace_magic.record.trace import Trace

CODE = "kept-activation-overwritten"

NET = """
class Net(nn.Module):
    def __init__(self, inplace=True):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.norm = nn.BatchNorm2d(2)
        self.relu = nn.ReLU(inplace=inplace)
        self.head = nn.Linear(32, 1)
    def forward(self, x):
        x = self.conv(x)
        x = self.norm(x)
        return self.relu(x)
class Two(Net):
    def forward(self, x):
        x = super().forward(x)
        return x, self.head(x.flatten(1))
class Skips(Net):
    def forward(self, x):
        x = self.conv(x)
        y = self.norm(x)
        y += x
        return y
"""
MAIN = (
    NET
    + """
def show(values):
    return values.min().item()
def main():
    torch.manual_seed(0)
    feats = {}
    seen = []
    net = Net()
    %s
    return low
lowest = main()
"""
)
PASS = "y = net(torch.randn(1, 1, 6, 6))\n"
KEEP = "net.norm.register_forward_hook(lambda m, i, o: feats.update(x=o))\n"
ON_ALL = """
def keep(name):
    return lambda m, i, o: feats.update({name: o})
for name, layer in net.named_children():
    layer.register_forward_hook(keep(name))
"""
BAD = {
    "by_its_key": KEEP + PASS + 'low = feats["x"].min().item()',
    "in_a_helper": KEEP + PASS + 'low = show(feats["x"])',
    "by_get": KEEP + PASS + 'low = feats.get("x").min().item()',
    "in_a_comprehension": KEEP + PASS + "low = min(kept.min().item() for kept in feats.values())",
    "beside_what_the_net_gave": KEEP + PASS + 'low = feats["x"].min().item() + 0 * (y - y).sum().item()',
    "against_what_the_net_gave": KEEP + PASS + 'low = (feats["x"] - 2 * y).max().item() * 0',
    "detached": KEEP.replace("=o", "=o.detach()") + PASS + 'low = feats["x"].min().item()',
    "in_a_list": KEEP.replace("feats.update(x=o)", "seen.append(o)") + PASS + "low = seen[0].min().item()",
    "in_each_pass": KEEP + f'for step in range(3):\n    {PASS}    low = feats["x"].min().item()',
    "by_a_hook_on_each_layer": ON_ALL + PASS + 'low = feats["norm"].min().item()',
    "by_a_key_that_is_a_variable": ON_ALL.replace("net.named_children()", '[("conv", net.conv), ("norm", net.norm)]')
    + PASS
    + 'key = "norm"\nlow = feats[key].min().item()',
    "as_an_attribute_of_the_layer": "def keep(m, i, o):\n    m.seen = o\nnet.norm.register_forward_hook(keep)\n"
    + PASS
    + "low = net.norm.seen.min().item()",
    "by_a_method": "class Keeper:\n    def take(self, m, i, o):\n        self.last = o\nkeeper = Keeper()\n"
    "net.norm.register_forward_hook(keeper.take)\n" + PASS + "low = keeper.last.min().item()",
    "before_a_sum": "net = Skips()\n" + KEEP + PASS + 'low = feats["x"].min().item() * 0',
}
GOOD = {
    "nobody_reads_it": KEEP + PASS + "low = y.min().item()",
    "what_the_net_gave_is_read": KEEP + PASS + "low = (y + 1).min().item()\nprint(len(feats))",
    "what_the_net_gave_is_shown": KEEP + PASS + "for name in feats:\n    low = show(y)",
    "one_of_two_results_is_read": "net = Two()\n" + KEEP + PASS.replace("y =", "y, z =") + "low = show(y)",
    "only_its_shape_is_read": KEEP + PASS + 'low = y.min().item()\nprint(feats["x"].shape)',
    "a_copy_was_kept": KEEP.replace("=o", "=o.clone()") + PASS + 'low = feats["x"].min().item()',
    "a_detached_copy": KEEP.replace("=o", "=o.detach().clone()") + PASS + 'low = feats["x"].min().item()',
    "the_layer_gives_its_own": "net = Net(inplace=False)\n" + KEEP + PASS + 'low = feats["x"].min().item()',
    "it_is_read_before": KEEP.replace("feats.update(x=o)", "feats.update(x=o.min().item())")
    + PASS
    + 'low = feats["x"]',
    "what_a_later_layer_was_given_is_read": "net = Two()\n"
    + ON_ALL.replace("{name: o}", '{name: o, name + "_in": i[0]}').replace(
        "net.named_children()", '[("norm", net.norm), ("head", net.head)]'
    )
    + PASS.replace("y =", "y, z =")
    + 'key = "head_in"\nlow = feats[key].min().item()',
    "of_the_writing_layer": KEEP.replace("norm", "relu") + PASS + 'low = feats["x"].min().item()',
    "another_entry_is_read": ON_ALL + PASS + 'low = feats["conv"].min().item()',
    "the_writers_entry_is_read": ON_ALL + PASS + 'low = feats["relu"].min().item()',
    "the_writer_fills_it_anew": KEEP + KEEP.replace("norm", "relu") + PASS + 'low = feats["x"].min().item()',
    "a_shape_was_kept": KEEP.replace("=o", "=o.shape") + PASS + 'low = y.min().item()\nprint(feats["x"])',
    "the_user_writes_it": KEEP.replace("norm", "relu") + PASS + 'feats["x"].mul_(2)\nlow = feats["x"].min().item()',
    "the_user_has_a_layer_write_it": KEEP.replace("norm", "relu")
    + PASS
    + 'nn.Hardtanh(inplace=True)(feats["x"])\nlow = feats["x"].min().item()',
    "the_hook_writes_it": "def keep(m, i, o):\n    feats.update(x=o)\n    o.mul_(1)\n"
    + "net.relu.register_forward_hook(keep)\n"
    + PASS
    + 'low = feats["x"].min().item()',
    "the_next_pass_reads_its_own": KEEP + f"for step in range(3):\n    {PASS}    low = y.min().item()",
    "the_loss_and_the_pass_are_one_line": KEEP
    + "low = nn.MSELoss()(net(torch.randn(1, 1, 6, 6)), torch.zeros(1, 2, 4, 4))",
}


def program(body: str) -> str:
    return MAIN % textwrap.indent(body.strip(), "    ").strip()


@pytest.mark.parametrize("name", BAD)
def test_it_is_found(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, program(BAD[name]))
    assert ran.plain is None
    assert ran.names["lowest"] == 0.0  # a normalized batch has negative numbers too; nothing was said
    for finding in ran.the(CODE):
        assert finding.severity == "warning"
        assert finding.mutation is not None
        assert finding.mutation.text == ("y += x" if name == "before_a_sum" else "return self.relu(x)")
        assert finding.read is not None
        assert "`BatchNorm2d`" in finding.message


@pytest.mark.parametrize("name", GOOD)
def test_it_is_quiet(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, program(GOOD[name]))
    assert ran.plain is None
    assert [code for found in ran.alarms for code, _ in found if code == CODE] == []


def test_plain_values_differ_with_and_without_the_copy(tmp_path: Path) -> None:
    bad = plainly(tmp_path, program(BAD["by_its_key"]))
    good = plainly(tmp_path, program(GOOD["a_copy_was_kept"]))
    assert bad.error is good.error is None
    assert bad.names["lowest"] == 0.0
    assert good.names["lowest"] < 0.0


LINES = ("x = self.conv(x)", "return self.relu(x)", 'low = feats["x"].min()', "low = y.min()")


def by_hand() -> Trace:
    given, weight, kept = tensor(1), tensor(2, requires_grad=True), tensor(3)
    return Trace(
        calls=(
            made(0, "F.conv2d", site(1, LINES, direct=False), (given, weight), (kept,)),
            replace(wrote(1, "F.relu", site(2, LINES, direct=False), kept), modules=("Net", "ReLU")),
            made(2, "Tensor.min", replace(site(3, LINES), expression='feats["x"].min()'), (kept,), (tensor(4),)),
        ),
        kept_by_hooks=(KeptByHook(write=1, tensor=3, layer="Conv2d", name="feats", key="x"),),
    )


def test_the_finding_of_a_trace_by_hand_names_layer_write_and_read() -> None:
    (finding,), faults = find_hazards(by_hand())
    assert faults == ()
    assert (finding.code, finding.severity) == (CODE, "warning")
    assert finding.mutation is not None
    assert finding.mutation.line == 2
    assert finding.read is not None
    assert finding.read.line == 3
    assert "`Conv2d`" in finding.message


def test_another_entry_is_another_tensor() -> None:
    trace = by_hand()
    assert find_hazards(replace(trace, kept_by_hooks=(replace(trace.kept_by_hooks[0], key="y"),))) == ((), ())
