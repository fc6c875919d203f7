"""``with watch():`` in a cell that has no magic: its places are those of the notebook, and its fixes are tried."""

from __future__ import annotations

from typing import Any

import pytest
from cells import run_cell

from inplace_magic.report import Report

HELPER = "import torch\nfrom inplace_magic import watch\ndef doubled_inside(t):\n    t.mul_(2)"
BLOCK = """
x = torch.tensor([0.5, 1.0], requires_grad=True)
with watch() as w:
    y = x.sigmoid()
    doubled_inside(y)
    y.sum().backward()
"""


@pytest.fixture
def report(shell: Any) -> Report:
    assert run_cell(shell, HELPER).error is None
    assert isinstance(run_cell(shell, BLOCK.strip()).error, RuntimeError)
    report = shell.user_ns["w"].report
    assert isinstance(report, Report)
    return report


def test_its_places_are_cells_and_lines_of_the_notebook(report: Report) -> None:
    [hazard] = [each for each in report.hazards if each.severity == "error"]
    assert hazard.saved is not None
    assert hazard.mutation is not None
    assert hazard.mutation.caller is not None
    places = [hazard.saved, hazard.mutation, hazard.mutation.caller]
    assert [place.place for place in places] == ["Cell In[2], line 3", "Cell In[1], line 4", "Cell In[2], line 4"]
    assert all(call.callsite is not None and call.callsite.cell in (1, 2) for call in report.calls)


def test_its_fix_is_tried_on_the_cell_and_proven(report: Report) -> None:
    [hazard] = [each for each in report.prove().hazards if each.severity == "error"]
    assert hazard.diff.startswith("@@ Cell In[2], line 3 @@\n-    y = x.sigmoid()\n")
    assert hazard.proof is not None
    assert hazard.proof.verdict == "proven"
