"""Of a very long record a part is drawn, which is said; what is found is told of the whole."""

from __future__ import annotations

import pytest
import torch

import inplace_magic
from inplace_magic.render.reading import part_of
from inplace_magic.report import Report


def long_run(level: str) -> Report:
    with inplace_magic.watch(level=level) as w:
        for step in range(60):
            probs = torch.sigmoid(torch.ones(3, requires_grad=True))
            if step == 20:
                probs.data[0] = 0.0
            probs.sum().backward()
    assert w.report is not None
    return w.report


@pytest.mark.parametrize("level", ["calls", "ops"])
def test_a_part_has_the_calls_of_the_findings_and_is_said(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = long_run(level)
    for name in ("MOST_IN_A_NOTEBOOK", "MOST_IN_A_FILE"):
        for module in ("reading", "page.html", "text", "graph.dot"):
            monkeypatch.setattr(f"inplace_magic.render.{module}.{name}", 40, raising=False)
    drawn = part_of(report, 40)
    (finding,) = (hazard for hazard in report.hazards if hazard.is_alarm)
    indexes = [call.index for call in drawn.calls]
    assert indexes == sorted(set(indexes))
    assert {finding.saved_call, finding.call} <= set(indexes)
    assert (indexes[0], indexes[-1]) == (report.calls[0].index, report.calls[-1].index)
    assert len(indexes) <= 40 // 2 + 2
    told = f"are of {len(indexes)} of the {len(report.calls)} calls"
    for shown in (report.to_text(), report.to_html(), *report._repr_mimebundle_().values()):
        assert told in shown
        assert "probs.data[0] = 0.0" in shown
    assert len(report.to_frame("calls")) == len(report.calls)
    assert report.to_svg().startswith("<svg")


def test_of_a_record_that_is_not_long_all_is_drawn_and_nothing_said() -> None:
    report = long_run("calls")
    assert part_of(report, len(report.calls)) is report.trace
    assert "Picture, timeline and tables are of" not in report.to_text() + report.to_html()
