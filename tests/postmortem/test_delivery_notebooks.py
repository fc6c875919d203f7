"""A cell that fails unwatched shows what caused its error, below it and at once, whenever the extension was loaded."""

from __future__ import annotations

import gc
import re
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cells import Ran, run_cell
from talking_to_kernels import execute, kinds, text_of

import inplace_magic

LOAD = "%load_ext inplace_magic"
FORWARD = "import torch\nw = torch.ones(3, requires_grad=True)\nh = torch.sigmoid(w)"
WRITE = "h.mul_(2)"
BACKWARD = "h.sum().backward()"
FAILING = f"{FORWARD}\n{WRITE}\n{BACKWARD}"


def run(shell: Any, cells: Sequence[str]) -> Ran:
    """Runs cells; what became of the last one."""
    return [run_cell(shell, cell) for cell in cells][-1]


def test_the_answer_stands_below_the_error_as_text_and_as_a_card(loaded_shell: Any) -> None:
    ran = run_cell(loaded_shell, FAILING)
    assert "modified by an inplace operation" in ran.out
    (shown,) = ran.displays
    assert set(shown) == {"text/plain", "text/html"}
    assert "`h.mul_(2)` (line 4)" in shown["text/plain"]
    assert re.search(r"> 4 \| h\.mul_\(2\) +<- overwritten here", shown["text/plain"])
    assert (
        shown["text/plain"]
        .rstrip()
        .splitlines()[-1]
        .startswith(("  `%inplace_why 1` ", "  – Not tried: `%inplace_why 1` "))
    )
    assert "<style" not in shown["text/html"]
    assert "overwritten here" in shown["text/html"]


def test_the_line_of_another_cell_is_named_with_its_cell_and_one_of_the_failing_cell_without(loaded_shell: Any) -> None:
    ran = run(loaded_shell, [FORWARD, WRITE, BACKWARD])
    (text,) = ran.answers
    assert "`h.mul_(2)` (Cell In[2], line 1)" in text
    assert "Cell In[3], line" not in text


@pytest.mark.parametrize("typed", ["\n \n" + FAILING, "  " + FAILING.replace("\n", "\n  ")])
def test_lines_are_those_of_the_traceback_where_ipython_takes_blank_lines_or_an_indentation_off(
    loaded_shell: Any, typed: str
) -> None:
    (text,) = run_cell(loaded_shell, typed).answers
    assert "`h.mul_(2)` (line 4)" in text
    assert "`h = torch.sigmoid(w)` (line 3)" in text


@pytest.mark.parametrize("before", [[FAILING], [FORWARD, WRITE, BACKWARD], [FORWARD, "7", WRITE, BACKWARD, "'on'"]])
def test_loading_after_the_failure_says_the_same_once(shell: Any, before: list[str]) -> None:
    run(shell, before)
    (text,) = run_cell(shell, LOAD).answers
    assert WRITE in text
    assert f"`%inplace_why {1 + before.index(next(cell for cell in before if cell.endswith(BACKWARD)))}`" in text
    assert inplace_magic.answer().mutation.text == WRITE
    for again in (LOAD, "%reload_ext inplace_magic", "%unload_ext inplace_magic", LOAD):
        ran = run_cell(shell, again)
        assert (ran.out.replace(ran.out if "already loaded" in ran.out else "", ""), ran.displays) == ("", [])


@pytest.mark.parametrize("way", ["%run {path}", "get_ipython().run_cell(open(r'{path}').read())"])
def test_a_file_whose_error_ends_with_its_traceback_is_answered_once(
    loaded_shell: Any, tmp_path: Path, way: str
) -> None:
    path = tmp_path / "program.py"
    path.write_text(FAILING, encoding="utf-8")
    ran = run_cell(loaded_shell, way.format(path=path))
    assert "modified by an inplace operation" in ran.out + ran.err
    (text,) = ran.answers
    assert WRITE in text
    assert run_cell(loaded_shell, "None").answers == [], "and not again below the next cell"


@pytest.mark.parametrize("before", [[], ["x = 1"], ["1 / 0"], ["x = = 1"], ["%no_such_magic"]])
def test_loading_where_no_such_failure_came_before_says_nothing(shell: Any, before: list[str]) -> None:
    for cell in before:
        run_cell(shell, cell)
    ran = run_cell(shell, LOAD)
    assert (ran.out, ran.err, ran.displays) == ("", "", [])


@pytest.mark.parametrize("late", [False, True])
def test_why_without_a_number_takes_the_newest_failure_of_its_kind_and_says_which(shell: Any, late: bool) -> None:
    cells = [FAILING, "undefined"]
    run(shell, [*cells, LOAD] if late else [LOAD, *cells])
    ran = run_cell(shell, "%inplace_why -o report")
    number, other = (1, 2) if late else (2, 3)
    assert f"this is about Cell In[{number}]. Cell In[{other}] failed later" in ran.out
    assert shell.user_ns["report"].hazards[0].mutation.line == 4


def test_why_where_nothing_failed_names_no_cell_that_is_not_there(loaded_shell: Any) -> None:
    ran = run_cell(loaded_shell, "%inplace_why")
    assert "No unwatched cell of this session has failed" in str(ran.error)
    assert not re.search(r"\d", str(ran.error))


@pytest.mark.parametrize("watched", ["%%inplace_watch", "%%inplace_watch --level ops"])
def test_a_watched_cell_shows_its_report_and_no_answer(loaded_shell: Any, watched: str) -> None:
    ran = run_cell(loaded_shell, f"{watched}\n{FAILING}")
    assert len(ran.reports) == 1
    assert ran.answers == []


def test_what_a_debugger_sees_and_the_printed_error_are_those_of_a_plain_shell(shell: Any) -> None:
    plain = run_cell(shell, FAILING)
    shell.reset()
    inplace_magic.load_ipython_extension(shell)
    ran = run_cell(shell, FAILING)
    assert sys.last_value is ran.error
    assert str(ran.error) == str(plain.error)
    assert getattr(ran.error, "__notes__", []) == []
    assert ran.out.splitlines()[3:] == plain.out.splitlines()[3:]


def test_after_the_answer_nothing_of_ours_holds_the_error_or_its_tensors(loaded_shell: Any) -> None:
    ran = run_cell(loaded_shell, f"{FAILING}")
    assert ran.answers
    assert inplace_magic.answer() is not None
    h = weakref.ref(loaded_shell.user_ns["h"])
    del ran, loaded_shell.user_ns["h"]
    loaded_shell.last_execution_result = None
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
    loaded_shell.InteractiveTB.tb = loaded_shell.InteractiveTB.etype = loaded_shell.InteractiveTB.evalue = None
    gc.unfreeze()
    gc.collect()
    assert h() is None


def test_an_answer_can_be_asked_for_as_a_record_by_tools(loaded_shell: Any) -> None:
    assert run(loaded_shell, [FAILING]).answers
    found = inplace_magic.answer()
    assert found is not None
    assert (found.code, found.certain, found.saved_by) == ("saved-tensor-overwritten", True, "SigmoidBackward0")
    assert (found.expected_version, found.found_version, found.variable) == (0, 1, "h")
    assert (found.mutation, found.mutation.cell, found.mutation.line) == (found.candidates[0], 1, 4)
    assert (found.saved.cell, found.saved.line) == (1, 3)
    plain = found.to_dict()
    assert (plain["mutation"]["line"], plain["candidates"][0]["line"], plain["certain"]) == (4, 4, True)
    assert str(found).startswith("inplace_magic: ")
    ran = run_cell(loaded_shell, "%inplace_wy")  # a magic that was mistyped is no failure of the program
    assert inplace_magic.answer() == found
    assert run_cell(loaded_shell, "import inplace_magic\ninplace_magic.answer()").error is None
    run_cell(loaded_shell, "1 / 0")
    assert ran.answers == []
    assert inplace_magic.answer() is None


KERNEL = {"before": [LOAD, FAILING], "after": [FAILING, LOAD]}


@pytest.mark.parametrize("cells", KERNEL.values(), ids=KERNEL.keys())
def test_in_a_kernel_the_error_comes_first_and_the_answer_second(cells: list[str]) -> None:
    ask = "import inplace_magic\nfound = inplace_magic.answer()\nprint(found.mutation.cell, found.mutation.line)"
    ran = execute([*cells, ask], allow_errors=True, prologue="import torch")
    shown = [kind for cell in ran[:2] for kind in kinds(cell)]
    assert shown == ["error", "answer"]
    failed = 3 if cells[0] == LOAD else 2
    text = "".join(text_of(cell, "answer") for cell in ran)
    assert ("`h.mul_(2)` (line 4)" if cells[0] == LOAD else "`h.mul_(2)` (Cell In[2], line 4)") in text
    assert f"`%inplace_why {failed}`" in text
    assert text_of(ran[2], "stdout") == f"{failed} 4\n"
