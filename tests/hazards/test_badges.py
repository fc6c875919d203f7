"""What stands beside the lines of a card is what happened there: a comprehension does not call itself, a recursion does
not fill the card, and a step without gradients "moves nothing"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

from inplace_magic.language import use_language
from inplace_magic.render.excerpt import excerpts

CLEARED = """
net, x = nn.Linear(2, 1), torch.ones(3, 2)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
net(x).sum().backward()
sgd.zero_grad()
sgd.step()
"""
CUT = """
w, probe = torch.ones(3, requires_grad=True), nn.Linear(3, 1)
h = w * 2
aside = probe(h.detach_())
loss = (h * w).sum()
loss.backward()
"""
DROPPED = """
weight, nothing = torch.rand(2, 3), torch.tensor([True, False, True])
weight.masked_fill(nothing, 0.0)
total = weight.sum()
"""
RECURSIVE = """
def cleared(x, depth):
    x[[0, 1]].zero_()
    if depth:
        cleared(x, depth - 1)
    return x
left = cleared(torch.ones(3), 9).sum()
"""
KEPT = """
class Smoother:
    def smooth(self, means):
        smooth = list(means)
        for k in range(len(smooth) - 1):
            smooth[k] += smooth[k + 1]
        return smooth
means = [torch.full((2,), float(k)) for k in range(4)]
def revisions():
    smooth = Smoother().smooth(means)
    return torch.stack([(s - m)[0] for s, m in zip(smooth, means)])
changed = revisions()
"""


@pytest.mark.parametrize(
    ("program", "code", "badges"),
    [
        (CLEARED, "step-without-gradients", ["filled here", "cleared here", "moves nothing here"]),
        (CUT, "history-cut", ["cut off here", "read without its history"]),
        (DROPPED, "result-thrown-away", ["nothing uses it here"]),
    ],
)
def test_a_line_is_said_to_do_what_it_did(
    loaded_shell: Any, tmp_path: Path, program: str, code: str, badges: list[str]
) -> None:
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None, "PyTorch says nothing"
    for report, finding in zip(ran.reports, ran.the(code), strict=True):
        marks = [mark for listing in excerpts(finding, report.trace) for line in listing.lines for mark in line.marks]
        assert sorted(mark.text for mark in marks) == sorted(badges)
        assert "sees the new values" not in [mark.detail for mark in marks]
        shown = report.to_html()
        assert all(badge in shown for badge in badges)


def test_they_are_said_in_the_reports_language(loaded_shell: Any, tmp_path: Path) -> None:
    with use_language("zh"):
        ran = told(loaded_shell, tmp_path, CLEARED)
        for report, finding in zip(ran.reports, ran.the("step-without-gradients"), strict=True):
            marks = [
                mark for listing in excerpts(finding, report.trace) for line in listing.lines for mark in line.marks
            ]
            assert {mark.text for mark in marks} == {"在此填入", "在此清零", "在此什么也没更新"}


def test_a_recursion_shows_one_way_to_the_line_and_counts_the_others(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, RECURSIVE)
    assert ran.names["left"] == 3, "each write went into a copy"
    for report, finding in zip(ran.reports, ran.the("write-lost"), strict=True):
        ways = {site for site in finding.mutations if site != finding.mutation}
        assert len(ways) > 1
        marks = [mark for listing in excerpts(finding, report.trace) for line in listing.lines for mark in line.marks]
        assert sum(mark.text == "lost here" for mark in marks) == 2
        assert f"and {len(ways) - 1} more way" in [mark.detail for mark in marks if mark.detail][-1]


def test_a_comprehension_is_no_place_that_called_its_line(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, KEPT)
    assert float(ran.names["changed"].abs().sum()) == 0, "a difference of one memory"
    for report, finding in zip(ran.reports, ran.the("same-memory-compared"), strict=True):
        assert "in `revisions`, called from" in finding.message
        assert "comp>" not in report.to_text()
        called = [
            line for line in report.to_text().splitlines() if re.search(r"called from .*return torch\.stack", line)
        ]
        assert called == []
