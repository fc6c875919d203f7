"""``%inplace_watch on``: cells are one story; it is quiet until something went wrong, and leaves nothing behind."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path
from typing import Any

import pytest
from cells import REPORT_WORDS, Ran, run_cell
from conftest import shell_hooks, torch_modes
from IPython.core.error import UsageError
from magics.stories import BACKWARD, FORWARD, STEP, run
from talking_to_kernels import execute, kinds, text_of

import inplace_magic
from inplace_magic.render.style import theme_script
from inplace_magic.report import Report


def card(ran: Ran) -> str:
    """The text of the only card that a cell shows."""
    (data,) = ran.displays
    assert set(data) == {"text/html", "text/plain"}
    assert REPORT_WORDS not in data["text/plain"]
    return str(data["text/plain"])


def is_quiet(ran: Ran) -> bool:
    return ran.error is None and (ran.out, ran.err, ran.displays) == ("", "", [])


def test_forward_step_and_backward_in_three_cells_are_one_story(ip: Any) -> None:
    assert is_quiet(run(ip, FORWARD))
    assert is_quiet(run(ip, STEP))
    failed = run(ip, BACKWARD)
    assert isinstance(failed.error, RuntimeError)
    text = card(failed)
    assert "`model[2].weight` was overwritten by `opt.step()` (Cell In[4], line 1)" in text
    assert "`loss = model(x).sum()` (Cell In[3], line 5) had saved it" in text
    assert "Cell In[5]:\n    1 | loss.backward()  <- backward raised here" in text
    assert "`%inplace_report` shows the whole story so far." in text


def test_a_finding_is_shown_once_and_told_again_in_one_line(ip: Any) -> None:
    for cell in (FORWARD, STEP):
        run(ip, cell)
    failed = run(ip, BACKWARD)
    assert "was overwritten" not in failed.out
    assert len(failed.displays) == 1
    again = run(ip, BACKWARD)
    assert again.displays == []
    assert "a finding shown before explains this error" in again.out


def test_an_error_of_another_kind_is_not_explained_by_what_the_story_found(ip: Any) -> None:
    run(ip, "gate = torch.sigmoid(torch.ones(3, requires_grad=True))\ngate[0] = 0")
    failed = run(ip, "nothing_of_this_name")
    assert isinstance(failed.error, NameError)
    assert "overwritten" not in failed.out
    assert "a finding shown before" not in failed.out


def test_a_card_says_the_same_in_html(ip: Any) -> None:
    for cell in (FORWARD, STEP):
        run(ip, cell)
    (data,) = run(ip, BACKWARD).displays
    for words in ("overwritten here", "opt.step()", "Cell In[3]", "Cell In[4]", "Fix: "):
        assert words in data["text/html"]
    assert "<script" not in data["text/html"].replace(f"<script>{theme_script()}</script>", "")


def test_healthy_cells_show_nothing(ip: Any) -> None:
    assert is_quiet(run(ip, FORWARD))
    assert is_quiet(
        run(
            ip,
            "for _ in range(3):\n    opt.zero_grad()\n    loss = model(x).sum()\n    loss.backward()\n    opt.step()",
        )
    )
    assert is_quiet(run(ip, "with torch.no_grad():\n    best = {k: v.clone() for k, v in model.state_dict().items()}"))


def test_a_graph_that_lies_about_is_no_finding_when_weights_are_loaded(ip: Any) -> None:
    run(ip, FORWARD)
    assert is_quiet(run(ip, "out = model(x)"))
    assert is_quiet(run(ip, "model.load_state_dict({k: v * 0 for k, v in model.state_dict().items()});"))
    assert is_quiet(run(ip, "model[2].weight.data.normal_();"))


def test_wrong_numbers_are_shown_in_the_cell_whose_backward_used_them(ip: Any) -> None:
    assert is_quiet(run(ip, "gate = torch.sigmoid(torch.ones(3, requires_grad=True))"))
    assert is_quiet(run(ip, "gate.data[0] = 0"))
    used = run(ip, "gate.sum().backward()")
    assert used.error is None
    text = card(used)
    assert "(saved-values-changed)" in text
    assert "Cell In[4]" in text


def test_a_write_that_torch_did_not_see_is_not_blamed_on_a_line_of_another_cell(ip: Any) -> None:
    run(ip, "array = torch.ones(3).numpy()\nt = torch.from_numpy(array)\nw = torch.ones(3, requires_grad=True)")
    run(ip, "y = (t * w).sum()\nint(7);")
    run(ip, "array[0] = 7\n\n\n\n\nz = t + 1")
    text = card(run(ip, "y.backward()"))
    assert "(saved-values-changed)" in text
    assert "int(7)" not in text


def test_the_rest_of_the_cell_that_switches_on_is_watched(loaded_shell: Any) -> None:
    run(loaded_shell, f"import torch\nbefore = torch.ones(1)\n%inplace_watch on -o r\n{FORWARD}")
    run(loaded_shell, STEP)
    run(loaded_shell, BACKWARD)
    (finding,) = [hazard for hazard in loaded_shell.user_ns["r"].hazards if hazard.raised]
    assert (finding.saved.cell, finding.saved.line) == (1, 8)
    assert loaded_shell.user_ns["r"].calls[0].callsite.line > 3


def test_a_story_that_begins_in_the_cell_that_loads_the_extension_counts_that_cell(shell: Any) -> None:
    run(shell, f"%load_ext inplace_magic\n%inplace_watch on\nimport torch\n{FORWARD}")
    run(shell, STEP)
    assert "(Cell In[1], line 8) had saved it" in card(run(shell, BACKWARD))


def test_a_silent_cell_can_switch_on_and_leaves_no_probe(loaded_shell: Any) -> None:
    run(loaded_shell, "%inplace_watch on\nimport torch\nw = torch.ones(1)", silent=True, store_history=False)
    assert is_quiet(run(loaded_shell, "y = torch.ones(2)"))
    assert "2 calls recorded" in run(loaded_shell, "%inplace_watch status").out


def test_each_finding_is_shown_once_and_a_repeated_failure_points_at_it(ip: Any) -> None:
    for cell in (FORWARD, STEP, BACKWARD):
        run(ip, cell)
    assert is_quiet(run(ip, "y = torch.ones(2)"))
    again = run(ip, BACKWARD)
    assert isinstance(again.error, RuntimeError)
    assert again.displays == []
    assert "a finding shown before explains this error" in again.out


def test_the_same_line_in_a_loop_is_one_finding(ip: Any) -> None:
    text = card(
        run(
            ip,
            "for _ in range(4):\n"
            "    gate = torch.sigmoid(torch.ones(3, requires_grad=True))\n"
            "    gate.data[0] = 0\n"
            "    gate.sum().backward()",
        )
    )
    assert "Finding 1" in text
    assert "Finding 2" not in text


def test_cells_that_are_run_again_and_fail_again_are_shown_with_their_new_numbers(ip: Any) -> None:
    for cell in (FORWARD, STEP, BACKWARD, FORWARD, STEP):
        run(ip, cell)
    text = card(run(ip, BACKWARD))
    assert "Finding 2" not in text
    assert "(Cell In[7], line 1)" in text
    assert "(Cell In[6], line 5)" in text


def test_places_end_at_the_cell_and_name_the_callers_in_other_cells(ip: Any) -> None:
    run(ip, "%inplace_watch off\n%inplace_watch on -o r")
    run(ip, "def half(t):\n    return t / 2")
    run(ip, "\ndef quarter(t):\n    return half(half(t))\n\nquarter(torch.ones(2));")
    site = ip.user_ns["r"].calls[-1].callsite
    chain = []
    while site is not None:
        chain.append((site.place, site.file))
        site = site.caller
    # IPython drops the blank line on top, and its own tracebacks count as this does.
    assert chain == [("Cell In[4], line 2", None), ("Cell In[5], line 2", None), ("Cell In[5], line 4", None)]


def test_a_cell_that_another_cell_runs_is_part_of_the_story(ip: Any) -> None:
    run(ip, FORWARD)
    assert is_quiet(run(ip, "get_ipython().run_cell('opt.step()');"))
    assert "Cell In[4]" in card(run(ip, BACKWARD))


def test_a_cell_with_await_is_part_of_the_story(ip: Any) -> None:
    run(ip, FORWARD)
    assert is_quiet(run(ip, "import asyncio\nawait asyncio.sleep(0)\nopt.step()"))
    assert "(Cell In[4], line 3)" in card(run(ip, BACKWARD))


@pytest.mark.parametrize(
    "failure", ["1 / 0", "raise KeyboardInterrupt", "x = = 1", "nothing_of_this_name", "%no_magic"]
)
def test_a_cell_that_fails_leaves_the_story_on(ip: Any, failure: str) -> None:
    run(ip, FORWARD)
    failed = run(ip, f"y = torch.ones(2)\n{failure}")
    assert failed.displays == []
    run(ip, STEP)
    assert "Cell In[5]" in card(run(ip, BACKWARD))


def test_level_ops_takes_both_probes_off_between_cells(ip: Any) -> None:
    run(ip, "%inplace_watch off")
    assert "level ops" in run(ip, "%inplace_watch on --level ops").out
    for cell in (FORWARD, STEP):
        assert is_quiet(run(ip, cell))
    assert "Cell In[6]" in card(run(ip, BACKWARD))


def test_a_cell_without_torch_calls_makes_no_new_report(ip: Any) -> None:
    run(ip, "%inplace_watch off\n%inplace_watch on -o r")
    run(ip, "y = torch.ones(2)")
    report = ip.user_ns["r"]
    run(ip, "y.shape[0] + 1;")
    run(ip, "1 / 0")
    assert ip.user_ns["r"] is report
    run(ip, "y + 1;")
    assert ip.user_ns["r"] is not report


def test_off_says_so_in_one_line_and_shows_and_keeps_the_whole_report(ip: Any, tmp_path: Path) -> None:
    run(ip, f"%inplace_watch off\n%inplace_watch on -o r --save '{tmp_path}/story.json'")
    run(ip, FORWARD)
    assert is_quiet(run(ip, "late = model(x).sum()\nopt.step()"))
    off = run(ip, "%inplace_watch off")
    assert off.out.startswith("inplace_watch is off. It was on since Cell In[3]: ")
    assert off.out.count("\n") == 2  # the other says where the file is
    assert len(off.reports) == 1
    report = ip.user_ns["r"]
    assert isinstance(report, Report)
    assert {call.callsite.cell for call in report.calls} == {4, 5}
    assert [hazard.raised for hazard in report.hazards] == [False]  # a backward from `late`; not before the end
    assert Report.from_json((tmp_path / "story.json").read_text(encoding="utf-8")) == report
    assert run(ip, "%inplace_report").reports == off.reports
    assert is_quiet(run(ip, "z = torch.ones(2)"))
    assert len(report.calls) == len(ip.user_ns["r"].calls)


def test_off_folds_the_findings_that_were_shown(ip: Any) -> None:
    for cell in (FORWARD, STEP, BACKWARD):
        run(ip, cell)
    (off,) = run(ip, "%inplace_watch off").reports
    (again,) = run(ip, "%inplace_report").reports
    code = "saved-tensor-overwritten"
    assert re.search(r"<details[^>]*>\s*<summary[^>]*>1 finding, shown before", off["text/html"])
    assert not re.search(r"<details[^>]*\bopen\b[^>]*>\s*<summary[^>]*>1 finding, shown before", off["text/html"])
    assert off["text/html"].index(code) > off["text/html"].index("1 finding, shown before")
    assert "shown before" not in again["text/html"]


def test_the_report_magic_shows_the_story_so_far(ip: Any) -> None:
    run(ip, FORWARD)
    (data,) = run(ip, "%inplace_report").reports
    assert "Cell In[3], line 5: loss = model(x).sum()" in data["text/plain"]


def test_the_cell_magic_within_a_story_is_one_line_and_the_cell_runs(ip: Any) -> None:
    run(ip, FORWARD)
    ran = run(ip, "%%inplace_watch -o r\nopt.step()\n7")
    assert ran.result.result == 7
    assert "this cell is watched already, by `%inplace_watch on` in Cell In[2]" in ran.out
    assert ran.reports == []
    assert "(Cell In[4], line 2)" in card(run(ip, BACKWARD))


def test_a_watch_block_within_a_story_raises_and_the_story_goes_on(ip: Any) -> None:
    ran = run(ip, "import inplace_magic\nwith inplace_magic.watch() as w:\n    x = 1")
    assert type(ran.error).__name__ == "InplaceMagicError"
    for cell in (FORWARD, STEP):
        run(ip, cell)
    assert "Cell In[5]" in card(run(ip, BACKWARD))


def test_a_story_cannot_begin_where_another_watch_is_on(loaded_shell: Any) -> None:
    ran = run(loaded_shell, "%%inplace_watch -o r\n%inplace_watch on")
    assert isinstance(ran.error, UsageError)
    assert "write `%inplace_watch on` into a cell of its own" in ran.err
    ran = run(loaded_shell, "import inplace_magic\nwith inplace_magic.watch():\n    %inplace_watch on")
    assert isinstance(ran.error, UsageError)
    assert run(loaded_shell, "%inplace_watch status").out.startswith("inplace_watch is off.")


def test_a_cell_under_a_watch_of_the_users_own_runs_and_one_line_says_that_it_is_not_in_the_story(ip: Any) -> None:
    with inplace_magic.watch():
        ran = run_cell(ip, "y = torch.ones(2)\n7")
    assert ran.result.result == 7
    assert ran.err.startswith("inplace_magic: this cell is not part of the story of `%inplace_watch on`.")
    assert ran.err.count("\n") == 1
    assert is_quiet(run(ip, "y + 1;"))


def test_unloading_ends_the_story_shows_it_and_leaves_nothing(ip: Any) -> None:
    run(ip, FORWARD)
    ran = run(ip, "%unload_ext inplace_magic")
    assert len(ran.reports) == 1
    assert shell_hooks(ip) == []
    assert is_quiet(run(ip, "y = torch.ones(2)"))


def test_a_reset_of_the_shell_leaves_no_probe_and_no_tensor(ip: Any) -> None:
    run(ip, FORWARD)
    parameter = weakref.ref(ip.user_ns["model"][0].weight)
    run(ip, "%reset -f")
    gc.collect()
    assert parameter() is None
    assert is_quiet(run(ip, "import torch"))
    ip.reset()
    assert torch_modes() == []
    assert len(run(ip, "%inplace_watch off").reports) == 1


def test_a_story_keeps_no_tensor_of_a_cell_that_is_over(ip: Any) -> None:
    run(ip, "class Big(torch.Tensor):\n    pass\nkept = torch.ones(3, requires_grad=True)\nh = torch.sigmoid(kept * 2)")
    hidden = weakref.ref(ip.user_ns["h"])
    run(ip, "del h")
    gc.collect()
    assert hidden() is None


def test_a_fault_in_making_the_report_costs_one_line_and_the_story_goes_on(
    ip: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> Report:
        raise RuntimeError("ours")

    with monkeypatch.context() as patch:
        patch.setattr("inplace_magic.watching.recording.analyze", fail)
        ran = run(ip, f"{FORWARD}7")
    assert ran.result.result == 7
    assert ran.err.startswith("inplace_magic: the story was watched, but no report could be made (RuntimeError: ours).")
    assert ran.err.count("\n") == 1
    run(ip, STEP)
    assert "Cell In[3]" in card(run(ip, BACKWARD))


def test_in_a_kernel_the_card_names_the_cells_even_where_two_have_the_same_text() -> None:
    cells = [
        "%inplace_watch on",
        FORWARD,
        STEP,
        "step_again = 1",
        BACKWARD,
        FORWARD,
        STEP,
        BACKWARD,
        "%inplace_watch off",
    ]
    on, forward, step, idle, failing, forward2, step2, failing2, off = execute(cells, allow_errors=True)
    assert kinds(on) == ["stdout"]
    for quiet in (forward, step, idle, forward2, step2):
        assert quiet.outputs == []
    for failed, wrote, saved in ((failing, step, forward), (failing2, step2, forward2)):
        assert kinds(failed) == ["report", "error"]
        text = text_of(failed, "report")
        assert f"by `opt.step()` (Cell In[{wrote.execution_count}], line 1)" in text
        assert f"(Cell In[{saved.execution_count}], line 5) had saved it" in text
        assert "Finding 2" not in text
    assert kinds(off) == ["stdout", "report"]
    assert f"(Cell In[{step.execution_count}], line 1)" in text_of(off, "report")
