"""The corpus itself: its drivers can be read, its facts are of it, and the runner tells the same from what is not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from corpus import body, run
from corpus.run import Driver

VERDICTS = {"true", "harmless", "debatable", "false"}
MODULE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = torch.sigmoid(self.first(x))
        return y.add_(1) if WRONG else y + 1
"""
DRIVER = """
from net import Net

model = Net()
x = torch.randn(4, 3)

# train model: model(x).square().mean()
"""


def test_drivers_can_be_read() -> None:
    drivers = run.drivers()
    assert len({driver.repository for driver in drivers}) == len(drivers) >= 100
    for driver in drivers:
        assert len(driver.commit) == 40 or "." in driver.commit, driver.repository
        ast.parse(driver.text)


def test_facts_are_of_the_corpus() -> None:
    known = {driver.repository: driver.commit for driver in run.drivers()}
    for fact in run.facts():
        assert known[fact["repository"]] == fact["commit"]
        assert fact["verdict"] in VERDICTS
        assert fact["why"]


@pytest.mark.parametrize("wrong", [False, True])
def test_a_run_is_compared_and_its_finding_is_new(tmp_path: Path, wrong: bool) -> None:
    (tmp_path / "net.py").write_text(MODULE.replace("WRONG", str(wrong)))
    result = run.judge(Driver("somebody/net", "0" * 40, "vision", DRIVER, "ops"), tmp_path)
    assert not result.problem
    assert result.modes == ["calls", "ops"]
    assert not any(result.differences.values())
    assert {each["place"] for each in result.findings} == ({"net.py:11"} if wrong else set())
    assert len(run.changes([result])) == len(result.findings)


def test_what_the_watch_changes_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("")
    asks = "import net\n\nwatched = float(torch._C._len_torch_function_stack())\nfirst = 1.0"
    result = run.judge(Driver("somebody/net", "0" * 40, "vision", asks, None), tmp_path)
    assert result.differences == {"calls": ["watched"]}


def test_cells_of_a_notebook_are_taken(tmp_path: Path) -> None:
    (tmp_path / "a b.ipynb").write_text(
        '{"cells": [{"cell_type": "markdown", "source": []}, {"cell_type": "code", "source": ["n = 5\\n", "m = n"]}]}'
    )
    text = "import torch\n\n# cells: a b.ipynb 0\n# instead: n = 5 => n = 2"
    first, taken = body.cells(text, tmp_path, tmp_path)
    assert (first.text, taken.text, taken.file.read_text()) == ("import torch", "n = 2\nm = n", "n = 2\nm = n")
