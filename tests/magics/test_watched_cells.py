"""A watched cell is an ordinary cell, in a real shell: its value, its output, its failure; and then one report."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest
from cells import run_cell

from inplace_magic.report import Report

BROKEN = """\
%%inplace_watch -o report
logits = torch.ones(3, requires_grad=True) * 2
probs = torch.sigmoid(logits)
probs.mul_(2)
probs.sum().backward()
"""


@pytest.fixture
def ip(loaded_shell: Any) -> Any:
    """A shell with the extension and torch."""
    run_cell(loaded_shell, "import torch")
    return loaded_shell


def user_lines(error: BaseException) -> list[int]:
    """Line numbers of the traceback's frames in cells."""
    return [
        frame.lineno or 0
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in frame.filename
    ]


def test_a_watched_cell_shows_one_report_as_html_and_text_without_a_widget(ip: Any) -> None:
    ran = run_cell(ip, "%%inplace_watch\nx = torch.ones(2)\nx.add_(1)\nNone")
    assert ran.error is None
    (data,) = ran.displays
    assert set(data) == {"text/html", "text/plain"}


def test_out_binds_the_report(ip: Any) -> None:
    run_cell(ip, "%%inplace_watch -o report\nx = torch.ones(2)\nx.add_(1);")
    report = ip.user_ns["report"]
    assert isinstance(report, Report)
    assert [call.kind for call in report.calls] == ["ordinary", "in-place"]


def test_a_failing_cell_fails_with_its_own_error_on_its_own_line_and_the_report_is_bound(ip: Any) -> None:
    ran = run_cell(ip, BROKEN)
    assert not ran.result.success
    assert isinstance(ran.error, RuntimeError)
    assert "modified by an inplace operation" in str(ran.error)
    assert 5 in user_lines(ran.error)
    assert ran.out.count("Traceback (most recent call last)") + ran.err.count("Traceback (most recent call last)") == 1
    assert len(ran.reports) == 1
    assert [call.callsite.line for call in ip.user_ns["report"].calls if call.callsite] == [2, 2, 3, 4, 5, 5]


def test_places_are_the_gutters_lines_of_the_right_cell(ip: Any) -> None:
    ran = run_cell(ip, "\n\n%%inplace_watch -o r\n\nx = torch.ones(2)\n")
    (call,) = ip.user_ns["r"].calls
    assert call.callsite is not None
    assert (call.callsite.line, call.callsite.text) == (5, "x = torch.ones(2)")
    assert call.callsite.cell == ran.result.execution_count
    assert ip.user_ns["r"].trace.source[2] == "%%inplace_watch -o r"


def test_code_of_an_earlier_cell_is_named_by_its_own_cell(ip: Any) -> None:
    earlier = run_cell(ip, "def double(x):\n    return x * 2")
    watched = run_cell(ip, "%%inplace_watch -o r\ny = double(torch.ones(2))")
    site = ip.user_ns["r"].calls[-1].callsite
    assert (site.cell, site.line) == (earlier.result.execution_count, 2)
    assert (site.caller.cell, site.caller.line) == (watched.result.execution_count, 2)


def test_the_last_value_is_shown_and_returned(ip: Any) -> None:
    ran = run_cell(ip, "%%inplace_watch\nx = 20\nx + 22")
    assert ran.result.result == 42
    assert "Out[2]: 42" in ran.out


def test_a_closing_semicolon_hides_the_last_value(ip: Any) -> None:
    assert "42" not in run_cell(ip, "%%inplace_watch\n40 + 2;").out


def test_top_level_await_works(ip: Any) -> None:
    ran = run_cell(
        ip, "%%inplace_watch -o r\nimport asyncio\nawait asyncio.sleep(0)\nx = torch.ones(2)\nawait asyncio.sleep(0, 7)"
    )
    assert ran.result.result == 7
    assert [call.callsite.line for call in ip.user_ns["r"].calls] == [4]


def test_magics_shell_commands_and_strings_in_the_body_behave_as_ever(ip: Any) -> None:
    ran = run_cell(
        ip,
        "%%inplace_watch -o r\nanswer = !echo from the shell\n"
        + 'text = """\n  %%inplace_watch\n    %time\n"""\n%pwd\nx = torch.ones(1)\ntext',
    )
    assert ran.error is None
    assert list(ip.user_ns["answer"]) == ["from the shell"]
    assert ran.result.result == "\n  %%inplace_watch\n    %time\n"
    assert ip.user_ns["r"].trace.source[1] == "answer = !echo from the shell"
    assert ip.user_ns["r"].calls[0].callsite.line == 8


def test_a_future_import_below_the_magic_works_as_in_any_cell(ip: Any) -> None:
    ran = run_cell(ip, "%%inplace_watch\nfrom __future__ import annotations\ndef f(x: Unknown) -> None: ...\n'fine'")
    assert (ran.error, ran.result.result) == (None, "fine")


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt()", "ValueError('mine')"])
def test_whatever_the_cell_raises_is_its_own_and_the_report_is_still_shown(ip: Any, error: str) -> None:
    ran = run_cell(ip, f"%%inplace_watch -o r\nx = torch.ones(2)\nraise {error}")
    assert type(ran.error).__name__ == error.split("(")[0]
    assert len(ran.reports) == 1
    assert len(ip.user_ns["r"].calls) == 1


def test_an_interrupt_that_leaves_the_cells_coroutine_still_ends_the_watch(
    ip: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # When Ctrl-C meets IPython itself instead of the user's code, the end is announced with another ExecutionInfo.
    def interrupted(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(ip, "showtraceback", interrupted)
    ran = run_cell(ip, "%%inplace_watch -o r\nx = torch.ones(2)\n1 / 0")
    assert isinstance(ran.error, KeyboardInterrupt)
    assert len(ran.reports) == 1
    assert run_cell(ip, "y = torch.ones(2)").reports == []


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError])
def test_the_traceback_is_printed_whatever_becomes_of_the_report_above_it(
    ip: Any, fault: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(**_: object) -> None:
        raise fault

    vars(ip)["kernel"] = object()  # as in a notebook
    with monkeypatch.context() as patch:
        patch.setattr(ip.display_pub, "publish", interrupted)
        ran = run_cell(ip, BROKEN)
    del vars(ip)["kernel"]
    assert "modified by an inplace operation" in str(ran.error)
    assert "Traceback (most recent call last)" in ran.out
    assert len(ip.user_ns["report"].hazards) == 1
    assert len(run_cell(ip, "%inplace_report").reports) == 1


def test_a_cell_that_another_cell_runs_does_not_end_the_watch(ip: Any) -> None:
    others = "get_ipython().run_cell('x.add_(1);')\nget_ipython().run_cell('  ')"
    ran = run_cell(ip, f"%%inplace_watch -o r\nx = torch.ones(1)\n{others}\nx.mul_(2);")
    assert len(ran.reports) == 1
    assert [call.name.split(".")[-1] for call in ip.user_ns["r"].calls] == ["ones", "add_", "mul_"]


def test_time_above_the_magic_times_the_watched_code(ip: Any) -> None:
    ran = run_cell(ip, "%%time\n%%inplace_watch -o r\nx = torch.ones(2)\ny = x.add_(1)")
    assert ran.error is None
    assert "Wall time" in ran.out
    assert len(ran.reports) == 1
    report = ip.user_ns["r"]
    assert [call.name.split(".")[-1] for call in report.calls] == ["ones", "add_"]
    assert report.trace.cell == ran.result.execution_count
    assert report.trace.source[1] == "x = torch.ones(2)"


def test_time_above_the_magic_keeps_the_places_of_the_watched_code(ip: Any) -> None:
    run_cell(ip, "%%time\n%%inplace_watch -o r\nx = torch.ones(2)\ny = x.add_(1)")
    sites = [call.callsite for call in ip.user_ns["r"].calls]
    assert [(site.line, site.text) for site in sites] == [(2, "x = torch.ones(2)"), (3, "y = x.add_(1)")]


def test_capture_above_the_magic_captures_the_report(ip: Any) -> None:
    ran = run_cell(ip, "%%capture kept\n%%inplace_watch\nx = torch.ones(2)")
    assert ran.reports == []
    assert len(ip.user_ns["kept"].outputs) == 1


def test_the_cell_magic_itself_runs_the_cell_watched(ip: Any) -> None:
    ran = run_cell(ip, "get_ipython().run_cell_magic('inplace_watch', '-o r', 'x = torch.ones(2)\\nx.add_(1)\\n7')")
    assert ran.error is None
    assert "7" in ran.out + "".join(data.get("text/plain", "") for data in ran.displays)
    assert [call.callsite.line for call in ip.user_ns["r"].calls] == [2, 3]
    assert len(ran.reports) == 1


def test_the_cell_magic_itself_lets_the_cell_fail(ip: Any) -> None:
    ran = run_cell(ip, "get_ipython().run_cell_magic('inplace_watch', '-o r', 'x = torch.ones(2)\\n1 / 0\\n')")
    assert isinstance(ran.error, ZeroDivisionError)
    assert 3 in user_lines(ran.error)
    assert len(ran.reports) == 1


def test_a_cell_pasted_with_prompts_is_watched(ip: Any) -> None:
    ran = run_cell(ip, "In [1]: %%inplace_watch -o r\n   ...: x = torch.ones(2)\n")
    assert ran.error is None
    assert len(ip.user_ns["r"].calls) == 1


def test_the_next_cell_is_not_watched(ip: Any) -> None:
    run_cell(ip, "%%inplace_watch -o r\nx = torch.ones(2)")
    before = ip.user_ns["r"]
    assert run_cell(ip, "x.add_(1)").reports == []
    assert ip.user_ns["r"] is before


def test_an_option_can_take_its_value_from_a_variable(ip: Any) -> None:
    run_cell(ip, "name = 'bound'\n")
    run_cell(ip, "%%inplace_watch -o $name\nx = torch.ones(2)")
    assert isinstance(ip.user_ns["bound"], Report)


@pytest.mark.parametrize("ending", ["html", "svg", "dot", "json", "csv"])
def test_save_writes_the_file_and_says_where(ip: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"my report.{ending}"
    ran = run_cell(ip, f"%%inplace_watch --save '{path}'\nx = torch.ones(2)\nx.add_(1);")
    assert path.stat().st_size > 0
    assert f"report saved to {path}" in ran.out


def test_a_file_that_cannot_be_written_costs_one_line_and_nothing_else(ip: Any, tmp_path: Path) -> None:
    ran = run_cell(ip, f"%%inplace_watch -o r --save '{tmp_path}/missing/r.html'\nx = torch.ones(2)\n7")
    assert ran.result.success
    assert ran.result.result == 7
    assert ran.err.startswith("inplace_magic: The report was not saved to")
    assert ran.err.count("\n") == 1
    assert len(ran.reports) == 1


def test_the_report_magic_shows_the_last_report_and_a_named_one_again(ip: Any) -> None:
    first = run_cell(ip, "%%inplace_watch -o first\nx = torch.ones(2)")
    last = run_cell(ip, "%%inplace_watch\ny = torch.zeros(3)\ny.add_(1);")
    assert run_cell(ip, "%inplace_report").reports == last.reports
    assert run_cell(ip, "%inplace_report first").reports == first.reports
    asked = run_cell(ip, "%inplace_report --help")
    assert asked.out.startswith("usage: %inplace_report [--open SECTION[,…]]")
    assert "the last one or, with NAME, that of `%%inplace_watch -o NAME`" in asked.out
    assert asked.displays == []


def test_the_last_report_is_no_name_of_the_users(ip: Any) -> None:
    before = set(ip.user_ns)
    run_cell(ip, "%%inplace_watch\nNone")
    assert {name for name in set(ip.user_ns) - before if not name.startswith("_")} == set()


def test_a_traceback_that_the_cell_prints_itself_ends_no_watch(ip: Any) -> None:
    shown = "try:\n    1 / 0\nexcept ZeroDivisionError:\n    get_ipython().showtraceback()"
    ran = run_cell(ip, f"%%inplace_watch -o r\nx = torch.ones(1)\n{shown}\nx.mul_(2);")
    assert "ZeroDivisionError" in ran.out
    assert [call.name.split(".")[-1] for call in ip.user_ns["r"].calls] == ["ones", "mul_"]


def test_the_shells_own_methods_are_back_after_a_cell_that_failed(ip: Any) -> None:
    before = dict(vars(ip))
    run_cell(ip, "%%inplace_watch\nx = torch.ones(1)\n1 / 0")
    for name in ("showtraceback", "_showtraceback"):
        assert vars(ip).get(name) is before.get(name)


def test_a_report_is_shown_again_in_another_language_with_other_sections_open(ip: Any) -> None:
    run_cell(ip, "%%inplace_watch -o first\nx = torch.ones(1).add_(1)")
    (data,) = run_cell(ip, "%inplace_report first --lang zh --open lines").displays
    assert data["text/plain"].startswith("✓ 没有发现问题")
    assert data["text/html"].count("<details open>") == 1
    for options, refused in (
        ("--lang xx", "%inplace_report: "),
        ("--open pictures", "%inplace_report: --open 'pictures' is no section"),
        ("--lagn zh", "%inplace_report has no option --lagn; did you mean --lang?"),
        ("first second", "%inplace_report takes options only, not 'second'"),
    ):
        ran = run_cell(ip, f"%inplace_report {options}")
        assert refused in ran.err + ran.out
        assert ran.displays == []
