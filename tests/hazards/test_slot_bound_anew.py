"""A tensor that several slots hold, written through one of them: the diff gives that slot a tensor of its own."""

from __future__ import annotations

from typing import Any

import pytest
from hazards.curing import cured, differing, run, watch_cell

CLASSES = """
import copy
import torch

class Meter:
    def __init__(self):
        self.total = torch.zeros(2)
    def add(self, x):
        WRITE

class Bag(dict):
    def turned(self, **changed):
        return Bag(self, **changed)

class Sums:
    def __init__(self, names):
        self.sums = dict.fromkeys(names, torch.zeros(2))
    def add(self, name, x):
        WRITE

rain = torch.arange(8.0).view(4, 2)
"""
TWO_METERS = """
one = Meter()
two = copy.copy(one)
for x in rain:
    one.add(x)
    two.add(-x)
left = torch.tensor([one.total.tolist(), two.total.tolist()])
"""
WRITES = {
    "an attribute": ("self.total += x", "self.total = self.total + x", TWO_METERS),
    "by a method": ("self.total.lerp_(x, 0.5)", "self.total = self.total.lerp(x, 0.5)", TWO_METERS),
    "by two methods": ("self.total.mul_(0.5).add_(x)", "self.total = self.total.mul(0.5).add(x)", TWO_METERS),
    "an entry under a name": (
        "self.sums[name] += x",
        "self.sums[name] = self.sums[name] + x",
        "sums = Sums(['upper', 'lower'])\nfor x in rain:\n    sums.add('upper', x)\n    sums.add('lower', -x)\n"
        "left = torch.stack([sums.sums['upper'], sums.sums['lower']])\n",
    ),
    "an entry of a copy": (
        "bag['mask'] &= rain[:, 0] > level",
        "bag['mask'] = bag['mask'] & (rain[:, 0] > level)",
        "first = Bag(mask=torch.ones(4, dtype=torch.bool), size=torch.tensor(4))\n"
        "def kept(bag, level):\n    WRITE\n    return bag\n"
        "soft = kept(first.turned(size=torch.tensor(2)), 3.0)\n"
        "left = soft['mask'].sum() / first['mask'].sum()\n",
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_the_diff_cures_it(loaded_shell: Any, name: str) -> None:
    write, anew, rest = WRITES[name]
    program = (CLASSES + rest).strip("\n")
    source = program.replace("WRITE", write)
    meant, _ = run(program.replace("WRITE", anew))
    left, error = run(source)
    assert error == ""
    assert differing(left, meant, within="left") == ["left"], "without a watch nothing says that it is wrong"
    report = watch_cell(loaded_shell, source)
    found = [hazard for hazard in report.hazards if hazard.is_alarm]
    assert found
    assert all(hazard.diff for hazard in found)
    assert "other holders of the old one keep its values" in found[0].fix
    assert differing(run(cured(source, report))[0], meant, within="left") == []


NO_SLOT = {
    "another method writes it, too": "self.total += x\n    def halve(self):\n        self.total *= 0.5",
    "a part of the tensor": "self.total[0] += x.sum()",
    "a name of the function's": "total = self.total\n        total += x",
}


@pytest.mark.parametrize("name", NO_SLOT)
def test_where_that_would_not_do_nothing_is_bound_anew(loaded_shell: Any, name: str) -> None:
    use = TWO_METERS.replace("two.add(-x)", "two.add(-x)\n    one.halve()") if "halve" in NO_SLOT[name] else TWO_METERS
    report = watch_cell(loaded_shell, (CLASSES.replace("WRITE", NO_SLOT[name]) + use).strip("\n"))
    assert any(hazard.is_alarm for hazard in report.hazards)
    assert not any("keep its values" in hazard.fix for hazard in report.hazards)
