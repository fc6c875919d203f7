"""A write put into somebody's code is known by its line, and what is said of it is held against that line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch._dynamo  # noqa: F401  # here, or each fork imports it anew
from corpus import injected
from corpus.run import Driver

NET = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = torch.sigmoid(self.first(x))
        z = y * y
        return z
"""
DRIVER = """
from inner.net import Net

model = Net()
x = torch.randn(4, 3)

# train model: model(x).square().mean()
"""


def test_a_write_is_named_and_the_checkout_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(injected, "CELLS", 1)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "net.py").write_text(NET)
    driver = Driver("somebody/net", "0" * 40, "vision", DRIVER, None)
    loud, silent = injected.judge(driver, tmp_path, random.Random(0), 1)
    assert (loud["kind"], silent["kind"]) == ("loud", "silent")
    assert loud["function"] == "forward"
    for result in (loud, silent):
        for one in result["told"].values():
            assert one["error"] == result["error"]
            assert one["differs"] == []
            assert one["finding"]["word"] == "named"
    assert loud["told"]["plain"]["answer"]["rank"] == 1
    assert "named 1" in injected.summary([loud, silent])
    assert (tmp_path / "inner" / "net.py").read_text() == NET
    assert not [*tmp_path.rglob("__pycache__")]


def test_a_wrong_line_is_told_apart() -> None:
    said = {"word": "WRONG", "diff": "", "rank": 0}
    told = {mode: {"error": "e", "differs": [], "faults": [], "finding": said} for mode in injected.MODES}
    result = {"kind": "silent", "repository": "a/b", "error": "e", "told": told}
    assert "WRONG 1" in injected.summary([result])
