"""One mistake that is reached by several ways is one finding with its count; its card begins with the first write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import sigmoid_report, site
from hazards.both_ways import told

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.shown import one_card_a_cure, shown
from inplace_magic.record.places import Callsite
from inplace_magic.render.excerpt import excerpts
from inplace_magic.render.page.cards import finding_cards
from inplace_magic.report import Report

POWER_ITERATION = """
    class SpectralNorm(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module
            self.u = nn.Parameter(torch.randn(6), requires_grad=False)
            self.bar = nn.Parameter(module.weight.data.clone())
            del module._parameters["weight"]
        def forward(self, x):
            u, w = self.u, self.bar
            u.data = F.normalize(torch.mv(w, u), dim=0)
            self.module.weight = w / u.dot(w.mv(u))
            return self.module(x)
    first, second, third = (SpectralNorm(nn.Linear(6, 6)) for _ in range(3))
    x = torch.randn(3, 6)
    a = first(x)
    b = second(x)
    c = third(x)
    d = first(x)
    e = second(x)
    f = third(x)
    (a + b + c + d + e + f).sum().backward()
"""


def test_a_line_that_three_layers_reach_is_one_finding_with_its_count(loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, POWER_ITERATION)
    assert ran.plain is None, "PyTorch says nothing"
    for report, finding in zip(ran.reports, ran.the("saved-values-changed"), strict=True):
        assert finding.count == 3
        assert [place.caller.text for place in finding.mutations if place.caller is not None] == [
            "d = first(x)",
            "e = second(x)",
            "f = third(x)",
        ]
        assert finding.mutation == finding.mutations[0]
        assert "(saved-values-changed) ×3" in report.to_text()
        assert "×3" in finding_cards(report)
        assert Report.from_json(report.to_json()).hazards == report.hazards


def _shown(*findings: Hazard) -> list[Hazard]:
    return shown((each, False) for each in findings)


def test_findings_of_other_statements_rules_and_cells_stay_apart() -> None:
    (finding,) = sigmoid_report().hazards
    elsewhere = replace(finding, mutation=site(7))
    another = replace(finding, code="alias-written", mutation=site(8), severity="warning")
    later = replace(finding, mutation=replace(site(6), caller=site(3, cell=9)))
    note = replace(finding, severity="info")
    apart = [finding, elsewhere, later, another, note, note]
    assert _shown(*apart) == apart


def test_what_a_rule_finds_again_at_one_line_is_one_way_and_another_way_counts() -> None:
    (finding,) = sigmoid_report().hazards
    (once,) = _shown(finding, finding)
    assert once == finding
    other = replace(site(6), caller=site(8))
    (twice,) = _shown(finding, replace(finding, mutation=other, mutations=(other,)))
    assert (twice.count, len(twice.mutations)) == (2, 2)


def test_one_write_is_told_by_one_rule() -> None:
    (finding,) = sigmoid_report().hazards
    alias = replace(finding, code="alias-written", severity="warning", mutation=site(5), read=site(7))
    compared = replace(alias, code="same-memory-compared")
    other = replace(compared, code="argument-written", read=site(8))
    assert _shown(alias, compared, other) == [other]
    beside = replace(alias, mutation=finding.mutation)
    assert _shown(finding, beside) == [finding], "the worse of two at one write"
    unread = replace(alias, code="written-as-two", read=None, saved=None)
    assert _shown(unread, alias) == [alias], "what knows a reader, of two at one write"


CRITIC_IS_NEVER_CLEARED = """
    torch.manual_seed(0)
    maker, judge = nn.Linear(2, 6), nn.Linear(6, 1)
    maker_opt, judge_opt = torch.optim.SGD(maker.parameters(), lr=0.1), torch.optim.SGD(judge.parameters(), lr=0.1)
    for _ in range(3):
        made = maker(torch.randn(4, 2))
        judge_loss = judge(made.detach()).mean() - judge(torch.randn(4, 6)).mean()
        judge_loss.backward()
        judge_opt.step()
        maker_opt.zero_grad()
        maker_loss = -judge(made).mean()
        maker_loss.backward()
        maker_opt.step()
"""
TWO_NAMES = """
    w, g = torch.ones(3), torch.arange(3.0)
    m = v = torch.zeros_like(w)
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    w -= m / (v.sqrt() + 1e-8)
"""
A_GRADIENT_WRITTEN_TWICE = """
    class FixEnds(torch.autograd.Function):
        @staticmethod
        def forward(ctx, heights):
            return heights.clone()
        @staticmethod
        def backward(ctx, force):
            force[0] = 0.0
            force[-1] = 0.0
            return force
    heights = torch.zeros(5, requires_grad=True)
    (slope,) = torch.autograd.grad(FixEnds.apply(heights).sum(), heights)
"""
DETACHED_IN_PLACE = """
    torch.manual_seed(0)
    body, head, probe = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 2)
    parameters = [p for part in (body, head, probe) for p in part.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(2):
        features = body(torch.randn(5, 3))
        classes = probe(features.detach_())
        loss = head(features).sum() + classes.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
NOTHING_MOVES = """
    torch.manual_seed(0)
    maker, judge = nn.Linear(2, 6), nn.Linear(6, 1)
    optimizer = torch.optim.SGD(maker.parameters(), lr=0.1)
    for _ in range(2):
        made = maker(torch.randn(4, 2))
        score = judge(made.detach())
        optimizer.zero_grad()
        score.mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("program", "code", "line"),
    [
        pytest.param(CRITIC_IS_NEVER_CLEARED, "gradient-of-another-loss", "judge_loss.backward()", id="one reader"),
        pytest.param(TWO_NAMES, "alias-written", "m.mul_(0.9).add_(g, alpha=0.1)", id="one diff"),
        pytest.param(A_GRADIENT_WRITTEN_TWICE, "expanded-tensor-written", "force[0] = 0.0", id="one name bound anew"),
        pytest.param(DETACHED_IN_PLACE, "history-cut", "classes = probe(features.detach_())", id="one write"),
        pytest.param(NOTHING_MOVES, "step-without-gradients", "score = judge(made.detach())", id="one cut"),
    ],
)
def test_one_mistake_is_one_card(loaded_shell: Any, tmp_path: Path, program: str, code: str, line: str) -> None:
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None
    assert ran.alarms == [[(code, line)]] * 2, [report.to_text() for report in ran.reports]


def test_what_autograd_hands_to_a_function_has_not_the_name_of_an_argument(loaded_shell: Any, tmp_path: Path) -> None:
    for finding in told(loaded_shell, tmp_path, A_GRADIENT_WRITTEN_TWICE).the("expanded-tensor-written"):
        assert finding.variable == "force", "`heights` is what `grad` was asked about, and nobody wrote it"
        assert "force = force.clone()" in finding.diff
        assert len(finding.mutations) == 2, "both lines are marked"


def test_two_saves_of_one_name_are_two_cards() -> None:
    (finding,) = sigmoid_report().hazards
    first = replace(finding, call=2, saved_call=1, diff="@@\n-h += 1\n+probs = probs + 1")
    saved_again = replace(first, mutation=site(8), call=4, saved_call=3, diff="@@\n-h *= 2\n+probs = probs * 2")
    before = replace(saved_again, saved_call=1)
    assert one_card_a_cure([first, saved_again]) == [first, saved_again]
    assert [each.mutation for each in one_card_a_cure([first, before])] == [first.mutation]


def test_a_finding_that_gives_way_does_so_within_a_run_and_to_no_other_of_its_kind() -> None:
    (finding,) = sigmoid_report().hazards
    run = site(8)
    first, second = (replace(finding, mutation=replace(site(line, function="f"), caller=run)) for line in (5, 6))
    weak = replace(second, code="argument-written", severity="warning")
    assert shown([(weak, True), (first, False)]) == [first]
    other = replace(weak, mutation=first.mutation)
    assert shown([(weak, True), (other, True)]) == [weak, other]


def test_an_older_report_has_findings_that_count_once() -> None:
    report = sigmoid_report()
    old = report.to_dict()
    for finding in old["hazards"]:
        del finding["count"]
    assert Report.from_dict(old).hazards == report.hazards


def test_cells_of_a_notebook_come_as_they_were_run() -> None:
    report = sigmoid_report()
    (finding,) = report.hazards

    def cell(number: int) -> Callsite:
        return Callsite(line=1, text="h", cell=number)

    card = excerpts(replace(finding, mutation=cell(5), mutations=(cell(5),), saved=cell(4), raised=False), report.trace)
    assert [listing.source for listing in card] == ["Cell In[4]", "Cell In[5]"]


def test_the_first_write_comes_first_and_what_followed_in_the_order_of_time() -> None:
    report = sigmoid_report()
    (finding,) = report.hazards

    def line(number: int, text: str) -> Callsite:
        return Callsite(line=number, text=text, file="train.py")

    first, again = line(79, "h.mul_(2)"), line(17, "h.add_(1)")
    saved = line(40, "y = torch.sigmoid(h)")
    card = excerpts(replace(finding, mutation=first, mutations=(first, again), saved=saved, raised=False), report.trace)
    assert [[row.number for row in listing.lines] for listing in card] == [[79], [40], [17]]
    assert [row.marks[0].text for listing in card for row in listing.lines] == [
        "overwritten here",
        "saved here",
        "overwritten again here",
    ]
