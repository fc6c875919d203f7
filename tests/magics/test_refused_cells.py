"""What cannot be watched fails with one sentence, runs nothing, and leaves the shell ready for the next cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cells import run_cell
from IPython.core.error import UsageError

import inplace_magic.render
from inplace_magic.report import Report
from inplace_magic.watching.api import watch


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("%%inplace_watch --levle ops\nran = True", "did you mean --level?"),
        ("%%inplace_watch --level op\nran = True", "choose one of calls, ops"),
        ("%%inplace_watch -o 3x\nran = True", "is not a variable name"),
        ("%%inplace_watch ran = True\nran = True", "takes options only"),
        ("%%inplace_watch", "There is no code below"),
        ("%%inplace_watch\n%%time\nran = True", "Put `%%time` on the first line"),
        ("%%inplace_watch\n%%bash\necho hello 'world", "move `%%bash` to a cell of its own"),
        ("%%inplace_watch\n%%inplace_watch\nran = True", "more than once, on lines 1 and 2"),
        ("ran = True\n%%inplace_watch\nran = True", "it must be the first line"),
        ("%inplace_report", "There is no report yet"),
        ("%inplace_report nothing", "`nothing` is no report; `%%inplace_watch -o nothing` makes one."),
    ],
)
def test_it_fails_with_one_line_and_runs_nothing(loaded_shell: Any, cell: str, sentence: str) -> None:
    ran = run_cell(loaded_shell, cell)
    assert isinstance(ran.error, UsageError)
    assert not ran.result.success
    assert ran.err.startswith("UsageError: ")
    assert ran.err.count("\n") == 1
    assert sentence in ran.err
    assert ran.displays == []
    assert "ran" not in loaded_shell.user_ns
    assert len(run_cell(loaded_shell, "%%inplace_watch\nx = 1").reports) == 1


def test_a_syntax_error_is_shown_as_ever_and_nothing_else(loaded_shell: Any) -> None:
    ran = run_cell(loaded_shell, "%%inplace_watch -o r\nx = 1\ny = = 2")
    assert isinstance(ran.error, SyntaxError)
    assert ran.error.lineno == 3
    assert ran.displays == []
    assert "r" not in loaded_shell.user_ns
    assert "x" not in loaded_shell.user_ns


def test_a_silent_cell_is_refused(loaded_shell: Any) -> None:
    ran = run_cell(loaded_shell, "%%inplace_watch\nran = True", silent=True, store_history=False)
    assert isinstance(ran.error, UsageError)
    assert "ran" not in loaded_shell.user_ns


def test_help_is_shown_instead_of_running_the_cell(loaded_shell: Any) -> None:
    ran = run_cell(loaded_shell, "%%inplace_watch --help\n1 / 0")
    assert ran.error is None
    assert "--no-graph" in ran.out
    assert "The cell was not run" in ran.out
    assert "not run" not in run_cell(loaded_shell, "%%inplace_watch -h").out


def test_a_watched_cell_inside_a_watched_cell_fails_and_the_outer_watch_goes_on(loaded_shell: Any) -> None:
    inner = "inner = get_ipython().run_cell('%%inplace_watch\\nran = True')"
    ran = run_cell(loaded_shell, f"%%inplace_watch -o r\nimport torch\n{inner}\nx = torch.ones(2)")
    assert ran.error is None
    assert "the watch of Cell In[1] is still running" in ran.err
    assert isinstance(loaded_shell.user_ns["inner"].error_in_exec, UsageError)
    assert "ran" not in loaded_shell.user_ns
    assert len(ran.reports) == 1
    assert len(loaded_shell.user_ns["r"].calls) == 1


def test_a_watch_block_inside_a_watched_cell_raises_and_the_outer_watch_still_reports(loaded_shell: Any) -> None:
    ran = run_cell(
        loaded_shell, "%%inplace_watch -o r\nimport inplace_magic\nwith inplace_magic.watch() as w:\n    x = 1"
    )
    assert type(ran.error).__name__ == "InplaceMagicError"
    assert len(ran.reports) == 1
    assert isinstance(loaded_shell.user_ns["r"], Report)


def test_a_watched_cell_inside_a_watch_block_is_refused(loaded_shell: Any) -> None:
    with watch() as outer:
        ran = run_cell(loaded_shell, "%%inplace_watch\nran = True")
    assert isinstance(ran.error, UsageError)
    assert "ran" not in loaded_shell.user_ns
    assert outer.report is not None


def test_a_fault_in_starting_lets_the_cell_run_and_says_so(loaded_shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("ours\nin two lines")

    monkeypatch.setattr(watch, "start", fail)
    ran = run_cell(loaded_shell, "%%inplace_watch\n7")
    assert ran.result.result == 7
    assert ran.err.startswith("inplace_magic: this cell runs unwatched")
    assert "please report it" in ran.err
    assert ran.err.count("\n") == 1


def test_a_fault_in_making_the_report_leaves_the_cells_result(
    loaded_shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> Report:
        raise RuntimeError("ours")

    monkeypatch.setattr("inplace_magic.watching.recording.analyze", fail)
    ran = run_cell(loaded_shell, "%%inplace_watch -o r\n7")
    assert ran.result.success
    assert ran.result.result == 7
    assert ran.err.startswith("inplace_magic: the cell was watched, but no report could be made (RuntimeError: ours).")
    assert ran.err.count("\n") == 1


def test_a_fault_in_showing_the_report_leaves_the_cells_result(
    loaded_shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> dict[str, str]:
        raise RuntimeError("ours")

    monkeypatch.setattr(inplace_magic.render, "to_mimebundle", fail)
    ran = run_cell(loaded_shell, "%%inplace_watch -o r\n7")
    assert ran.result.success
    assert ran.err.startswith("inplace_magic: the report could not be displayed (RuntimeError: ours).")
    assert isinstance(loaded_shell.user_ns["r"], Report)


def test_a_fault_in_saving_leaves_the_cells_result(
    loaded_shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr("inplace_magic.render.save.save", fail)
    ran = run_cell(loaded_shell, f"%%inplace_watch --save '{tmp_path}/r.html'\n7")
    assert ran.result.success
    assert len(ran.reports) == 1
    assert "the report could not be saved to" in ran.err
