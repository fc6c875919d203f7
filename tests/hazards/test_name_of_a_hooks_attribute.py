"""What a forward hook put into an attribute is written by other lines under other names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hazards.both_ways import told

PROGRAM = """
class Keeper:
    def __init__(self, layer):
        self.features = None
        layer.register_forward_hook(self.take)
    def take(self, module, given, out):
        self.features = out
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(3, 3)
        self.act = nn.Sigmoid()
    def forward(self, x):
        h = self.act(self.up(x))
        return double(h)
def double(z):
    z.mul_(2)
    return z
net = Net()
keeper = Keeper(net.act)
net(torch.ones(2, 3)).sum().backward()
"""


def test_the_write_is_told_by_the_name_that_the_lines_say(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, PROGRAM)
    assert "modified by an inplace operation" in str(ran.plain)
    for finding in ran.the("saved-tensor-overwritten"):
        assert finding.mutation is not None
        assert finding.mutation.text == "z.mul_(2)"
        assert finding.variable == "h"
