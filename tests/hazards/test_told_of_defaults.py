"""What is made once for all calls of a function, or for all objects of a class; and what
differs from each in the one fact that decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

HEALTHY = {
    "defaults: handed": """
def confusion(pred, true, table=torch.zeros(2, 2)):
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
mine = torch.zeros(2, 2)
confusion([0, 0], [0, 0], mine)
test = confusion([1], [1])
""",
    "defaults: zeroed": """
def confusion(pred, true, table=torch.zeros(2, 2)):
    table.zero_()
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
a = confusion([0, 0], [0, 0]).sum().item()
b = confusion([1], [1]).sum().item()
""",
    "defaults: fresh": """
def confusion(pred, true, table=torch.zeros(2, 2)):
    table = table.clone()
    for p, t in zip(pred, true):
        table[t, p] += 1
    return table
a = confusion([0, 0], [0, 0]).sum().item()
b = confusion([1], [1]).sum().item()
""",
    "defaults: counter in a loop": """
def visit(i, seen=torch.zeros(4)):
    seen[i] += 1
    return seen
for i in (0, 1, 1, 3):
    seen = visit(i)
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_it_is_quiet_on(loaded_shell: Any, tmp_path: Path, name: str) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []]
