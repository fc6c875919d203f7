"""A watched error that no rule is about gets the answer that an unwatched one gets."""

from __future__ import annotations

from typing import Any

import pytest
from cells import run_cell
from hazards.curing import cured, run, watch_cell

from inplace_magic.report import Report
from inplace_magic.watching.last import last_report

OUT = """\
import torch
x = torch.ones(3, requires_grad=True)
gap = x * 2
torch.clamp(gap, 0, 1, out=gap)
gap.sum().backward()"""
NO_GRAPH = """\
import torch
net = torch.nn.Linear(3, 1)
out = net(torch.ones(4, 3))
loss = {loss}
loss.backward()"""


def test_a_refused_out_is_named_and_left_out(loaded_shell: Any) -> None:
    report = watch_cell(loaded_shell, OUT)

    (finding,) = report.hazards
    assert (finding.code, finding.severity, finding.variable) == ("out-with-gradient", "error", "gap")
    assert finding.mutation is not None
    assert finding.mutation.text.startswith("torch.clamp(")
    assert "+gap = torch.clamp(gap, 0, 1)" in finding.diff
    assert run(cured(OUT, report))[1] == ""
    assert Report.from_json(report.to_json()).hazards == report.hazards


@pytest.mark.parametrize(
    ("loss", "kept"),
    [
        ("torch.tensor(out.pow(2).mean().item())", "out.pow(2).mean()"),
        ("out.detach().pow(2).mean()", "out.pow(2).mean()"),
        ("(out - 1).data.pow(2).mean()", "(out - 1).pow(2).mean()"),
    ],
)
def test_the_line_that_ended_the_graph_is_named_and_mended(loaded_shell: Any, loss: str, kept: str) -> None:
    source = NO_GRAPH.format(loss=loss)

    report = watch_cell(loaded_shell, source)

    (finding,) = report.hazards
    assert finding.code == "loss-without-graph"
    assert finding.mutation is not None
    assert finding.mutation.text == f"loss = {loss}"
    assert f"+loss = {kept}" in finding.diff
    assert run(cured(source, report))[1] == ""


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.ones(2) @ torch.ones(3)",
        "raise ValueError('element 0 of the list is empty')",
        NO_GRAPH.format(loss="out.detach().mean()").replace(
            "loss.backward()", "try:\n    loss.backward()\nexcept RuntimeError:\n    pass"
        ),
    ],
)
def test_any_other_error_and_one_that_the_code_caught_have_no_finding(loaded_shell: Any, source: str) -> None:
    assert [hazard for hazard in watch_cell(loaded_shell, source).hazards if hazard.is_alarm] == []


def test_of_several_cells_no_error_is_said_to_be_caught(loaded_shell: Any) -> None:
    run_cell(loaded_shell, "%inplace_watch on")
    run_cell(loaded_shell, "import torch\nb = torch.tensor([True]) - torch.tensor([False])")
    run_cell(loaded_shell, "c = torch.ones(2) + 1")
    run_cell(loaded_shell, "%inplace_watch off")

    report = last_report()
    assert report is not None
    text = report.to_text()

    assert "1 raised an error" in text
    assert "caught" not in text
