"""The report as text."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
import torch
from builders import sigmoid_report, site
from render.samples import fine_report, hostile_report, long_report

import inplace_magic
from inplace_magic.hazards import Hazard
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace
from inplace_magic.render.style import SEVERITY_SYMBOL
from inplace_magic.render.terminal import fitted
from inplace_magic.render.verdict import verdict
from inplace_magic.report import Report


def test_the_whole_text_of_the_sigmoid_failure(golden):
    golden("sigmoid.txt", sigmoid_report().to_text())


def test_the_whole_text_of_a_cell_with_nothing_wrong(golden):
    golden("fine.txt", fine_report().to_text())


def test_the_verdict_names_the_tensor_and_both_places():
    assert verdict(sigmoid_report()) == (
        "✗ `probs` was overwritten (line 6) after it had been saved for backward (line 5), so backward raised an error."
    )


def test_the_verdict_speaks_of_the_future_when_backward_has_not_run():
    report = sigmoid_report()

    sentence = verdict(Report(report.trace, (replace(report.findings[0], raised=False),)))

    assert sentence.endswith("so backward will raise an error.")


def test_the_verdict_counts_further_findings_and_leaves_notes_out():
    (finding,) = sigmoid_report().findings
    note = replace(finding, severity="info")

    assert "1 more finding below" in verdict(Report(sigmoid_report().trace, (finding, finding, note)))
    assert "more finding" not in verdict(Report(sigmoid_report().trace, (finding, note)))


def test_notes_alone_do_not_spoil_the_verdict():
    note = Hazard("some-note", "info", "Worth knowing.", "Nothing.")

    assert verdict(Report(fine_report().trace, (note,))).startswith("✓ Nothing wrong found")


def test_the_verdict_of_other_findings_is_their_first_sentence():
    finding = Hazard("silent-write", "silent", "`a.b` was written by `x[0] = 2.5`. Then more.", "Clone it.")

    assert verdict(Report(Trace(), (finding,))) == "≠ `a.b` was written by `x[0] = 2.5`."


def test_an_error_of_autograd_that_no_rule_explains_is_not_called_fine():
    trace = sigmoid_report().trace
    report = Report(replace(trace, error=trace.calls[-1].error))

    assert verdict(report) == (
        "✗ `Tensor.backward` (Cell In[7], line 8) raised `RuntimeError`; no rule of inplace_magic explains it."
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("NameError: name 'y' is not defined", "The watched code raised `NameError`."),
        ("KeyboardInterrupt: ", "The watched code was interrupted."),
    ],
)
def test_an_error_that_is_none_of_ours_is_told_in_a_neutral_line_with_what_was_done(error: str, said: str):
    done = "7 torch calls, 1 of them in-place"
    trace = replace(sigmoid_report().trace, error=error, calls=tuple(quiet_calls()))

    assert verdict(Report(trace)) == f"{SEVERITY_SYMBOL['info']} {said} Until then: {done}."
    assert verdict(Report(Trace(error=error))).endswith(f"{said} Until then: no torch call was seen.")


def test_sizes_that_do_not_fit_are_told_with_the_call_and_without_blame():
    text = "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"
    *calls, last = quiet_calls()
    report = Report(replace(sigmoid_report().trace, error=text, calls=(*calls, replace(last, error=text))))

    assert verdict(report).startswith(
        f"{SEVERITY_SYMBOL['info']} `Tensor.backward` (Cell In[7], line 8) raised `RuntimeError`. Until then: 7 torch"
    )


def quiet_calls() -> list[CallEvent]:
    return [replace(call, error=None, refusal=None) for call in sigmoid_report().trace.calls]


def test_an_error_that_the_code_caught_is_mentioned_and_nothing_is_wrong():
    sentence = verdict(Report(sigmoid_report().trace))

    assert sentence.startswith("✓ Nothing wrong found")
    assert "1 raised an error that the code caught" in sentence


def test_a_fault_of_ours_shows_in_the_verdict_and_in_the_text():
    report = Report(replace(fine_report().trace, faults=("The rule `x` failed. Please report it.",)))

    assert "a part of this report failed" in verdict(report)
    assert "The rule `x` failed. Please report it." in report.to_text()


def test_the_guilty_line_is_pointed_at():
    lines = sigmoid_report().to_text().splitlines()

    assert [line for line in lines if line.lstrip().startswith(">")] == [
        "  > 6 | probs[2] = 2.0                 <- overwritten here (version 0 → 1)"
    ]
    assert any("5 | probs = torch.sigmoid(logits)" in line and "<- saved here" in line for line in lines)


def test_a_place_in_another_file_gets_its_own_listing_with_the_lines_that_led_there():
    (finding,) = sigmoid_report().findings
    inside = replace(site(6), cell=None, file="/srv/project/model.py", line=31, text="x.mul_(2)", caller=site(6))
    text = Report(sigmoid_report().trace, (replace(finding, mutation=inside, mutations=(inside,)),)).to_text()

    assert "  model.py:\n  > 31 | x.mul_(2)  <- overwritten here" in text
    assert "called from Cell In[7], line 6: probs[2] = 2.0" in text


def test_lines_that_were_reached_by_one_way_say_it_once():
    (finding,) = sigmoid_report().findings
    call = replace(site(6), line=20, text="train(model)")
    way = replace(call, caller=call)  # twice on one line, as `train(model).backward()` leads to a hook
    saved, written = (
        replace(place, cell=None, file="/srv/project/model.py", caller=way) for place in (site(5), site(6))
    )
    told = replace(finding, saved=saved, mutation=written, mutations=(written,), raised=False)
    text = Report(sigmoid_report().trace, (told,)).to_text()

    assert text.count("called from Cell In[7], line 20: train(model)") == 1
    assert text.index("<- saved here") < text.index("called from Cell") < text.index("<- overwritten here")


def test_every_later_write_is_marked():
    (finding,) = sigmoid_report().findings
    text = Report(sigmoid_report().trace, (replace(finding, mutations=(site(6), site(7))),)).to_text()

    assert "overwritten again here" in text


def test_a_loop_is_folded_into_one_row():
    trace = sigmoid_report().trace
    calls = tuple(
        replace(trace.calls[5], index=i, outputs=(replace(trace.calls[5].outputs[0], tensor=10 + i),))
        for i in range(1000)
    )

    text = Report(replace(trace, calls=calls, saved=(), storages=())).to_text()

    assert text.count("loss = probs.sum()") == 2
    assert "created, 1000 times" in text


def test_a_long_report_is_cut_with_a_sentence_that_says_how_to_get_the_rest():
    text = long_report(300).to_text()

    assert "more rows not shown; `report.to_frame(" in text
    assert len(text.splitlines()) < 700


@pytest.mark.parametrize("report", [Report(Trace()), hostile_report()], ids=["empty", "hostile"])
def test_any_report_has_a_text(report):
    assert report.to_text().strip()


def test_repetitions_that_differ_are_not_said_to_be_alike() -> None:
    givens = (torch.zeros(2), torch.zeros(3))
    with inplace_magic.watch() as watched:
        lengths = [len(torch.ones(size)) for size in (2, 3)]
        rows = [len(given[:1]) for given in givens]

    text = watched.report.to_text()
    assert (lengths, rows) == ([2, 3], [1, 1])
    assert "+ T1, T2, created, 2 times\n" in text
    assert "and of others, 2 times, float32[1]" in text


def test_a_line_calls_what_it_writes_as_it_says_itself():
    """A tensor has the name by which the watched code knows it at the end, and beside it the line's own."""

    def bump(t: torch.Tensor) -> None:
        t.add_(1)

    with inplace_magic.watch() as w:
        a = torch.zeros(3, 3)
        b = a
        b.add_(1)
        bump(a)
        a[0].add_(1)
        a[1:].add_(1)
    text = w.report.to_text()

    wrote = [line.partition(", mutated")[0].split("✎ ")[1] for line in text.splitlines() if "✎ T" in line]
    assert [label.partition(" ")[2] for label in wrote] == ["a = b", "a = t", "a[0]", ""]
    assert "a = b · S" in w.report.to_dot()
    assert b is a


def test_a_terminal_wraps_what_a_line_did_and_no_source_no_diff_and_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    text = sigmoid_report().to_text()

    shown = fitted(text, terminal).split("\n")

    steps = [line for line in text.split("\n") if line.startswith("      ") and "|" not in line]
    assert max(map(len, steps)) > 60
    assert not set(shown) & {line for line in steps if len(line) > 60}
    for kept in (line for line in text.split("\n") if " | " in line or line.startswith(("    -", "    +", "  line "))):
        assert kept in shown
