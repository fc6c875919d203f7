"""Two arrays of one tensor that are held against each other: zero, whatever was written between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hazards.running import plainly, watched

from inplace_magic.hazards.stale.array_shares_memory import CODE

SETUP = "x = torch.arange(4.0)"
WRONG = {
    "in a cell": """
before = x.numpy()
x += 1
after = x.numpy()
change = (after - before).sum()
""",
    "in a function": """
def moved(x):
    old = x.detach().numpy()
    for _ in range(3):
        x.mul_(2)
    new = x.detach().numpy()
    return abs(old - new).max()
change = moved(x)
""",
    "handed out by a method": """
class Tank:
    def __init__(self, level):
        self.level = level
    def read(self):
        return self.level.numpy()
tank = Tank(x)
first = tank.read()
tank.level += 1
last = tank.read()
gain = last - first
change = gain.sum()
""",
    "in each pass": """
changes = []
for _ in range(3):
    start = x.numpy()
    x.add_(1)
    end = x.numpy()
    changes.append(float((end - start).sum()))
change = sum(changes)
""",
    "under attributes": """
class Log:
    pass
log = Log()
log.before = x.numpy()
x.clamp_(max=1)
log.after = x.numpy()
change = float((log.after - log.before).sum())
""",
}
MEANT = {
    "copied": WRONG["in a cell"].replace("before = x.numpy()", "before = x.numpy().copy()"),
    "copied below": WRONG["in a cell"].replace("x += 1", "before = before.copy()\nx += 1"),
    "nothing is written between them": "a = x.numpy()\nb = x.numpy()\nx += 1\nchange = (b - a).sum()",
    "other elements": "a = x[:2].numpy()\nx += 1\nb = x[2:].numpy()\nchange = (b - a).sum()",
    "another tensor": "a = x.numpy()\nx = x + 1\nb = x.numpy()\nchange = (b - a).sum()",
    "shown to be one memory": "a = x.numpy()\nx += 1\nb = x.numpy()\nsame = (a == b).all()",
    "a sum of both": "a = x.numpy()\nx += 1\nb = x.numpy()\nchange = (a + b).sum()",
}


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_a_difference_that_is_zero_is_told(program: str, tmp_path: Path) -> None:
    assert plainly(tmp_path, SETUP, program).names["change"] == 0, "PyTorch says nothing and is wrong"
    copied = program.replace(".numpy()", ".numpy().copy()")
    assert plainly(tmp_path, SETUP, copied).names["change"] != 0
    assert watched(tmp_path, SETUP, program).codes() == {CODE}
    assert watched(tmp_path, SETUP, copied).codes() == set()


@pytest.mark.parametrize("program", MEANT.values(), ids=MEANT)
def test_what_holds_as_it_is_written_is_not(program: str, tmp_path: Path) -> None:
    assert CODE not in watched(tmp_path, SETUP, program).codes()
