"""Casts, frames, parts, constructors, dictionaries and copies: programs in other clothes than on the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

BAD = {
    "a column that `resize_` takes for a square": (
        """
        board = torch.zeros(4, 4)
        column = board[:, 1]
        column.resize_(2, 2)
        column.fill_(1)
        s = board[:, 1].sum()
        """,
        "out-outgrown",
        "column.resize_(2, 2)",
    ),
    "two beliefs around one mean": (
        """
        from torch.distributions import Normal, kl_divergence

        mu, sd = torch.zeros(3) + 1, torch.ones(3) * 2
        prior = Normal(mu, sd)
        mu.add_(torch.ones(3))
        sd.mul_(0.5)
        gain = kl_divergence(Normal(mu, sd), prior).sum()
        """,
        "same-memory-compared",
        "mu.add_(torch.ones(3))",
    ),
    "two views of one frame": (
        """
        class Frame:
            def __init__(self, cols):
                self.cols = dict(cols)

            def view(self):
                return Frame(self.cols)


        def ranked(frame):
            f = frame.view()
            f.cols["score"].sub_(f.cols["score"].min())
            return f.cols["score"].argsort()


        def total(frame):
            f = frame.view()
            return f.cols["score"].sum()


        frame = Frame({"score": torch.tensor([3.0, 1.0, 2.0]) * 2})
        r = ranked(frame)
        t = total(frame)
        """,
        "objects-share-state",
        'f.cols["score"].sub_(f.cols["score"].min())',
    ),
}
"""By name: the program, the code of the finding, and the line that is blamed."""


@pytest.mark.parametrize(("program", "code", "line"), [pytest.param(*case, id=name) for name, case in BAD.items()])
def test_the_line_is_named(loaded_shell: Any, tmp_path: Path, program: str, code: str, line: str) -> None:
    found = told(loaded_shell, tmp_path, program)
    assert found.plain is None
    assert all((code, line) in alarms for alarms in found.alarms), [report.to_text() for report in found.reports]
