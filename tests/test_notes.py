"""An error that leaves ``with watch()`` takes the finding with it, once, to whoever shows it."""

from __future__ import annotations

import io
import logging
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
import torch
from forking.starting import python
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import inplace_magic

NOTES = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no notes: the finding is printed")

FAILING = """
import torch, inplace_magic
logits = torch.randn(4, requires_grad=True)
def forward():
    probs = torch.sigmoid(logits)
    probs[2] = 1.0
    return probs
def test_training():
    with inplace_magic.watch():
        forward().sum().backward()
"""
GUILTY = "was overwritten by `probs[2] = 1.0`"


def failed(block: str = "probs = torch.sigmoid(logits)\nprobs[2] = 1.0\nprobs.sum().backward()") -> BaseException:
    """What leaves a watched block."""
    try:
        with inplace_magic.watch():
            exec(block, {"torch": torch, "logits": torch.randn(4, requires_grad=True)})
    except BaseException as error:
        return error
    raise AssertionError("the block did not fail")


@NOTES
def test_an_error_carries_the_line_the_saver_and_the_fix_in_eight_lines() -> None:
    logits = torch.randn(4, requires_grad=True)

    def failing_block() -> None:
        with inplace_magic.watch():
            probs = torch.sigmoid(logits)
            probs[2] = 1.0
            probs.sum().backward()

    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        failing_block()
    (note,) = caught.value.__notes__
    assert "`probs` was overwritten by `probs[2] = 1.0`" in note
    assert "after `probs = torch.sigmoid(logits)`" in note
    assert "\nFix: " in note
    assert note.count("\n") < 8


VSCODES_LINK = re.compile(r"Cell\s*In\s*\[\d+\][\s,]+line \d+")
"""What VS Code makes a link of, anywhere in the output of an error without its colours; it drops the rest of the line.
The pattern `cellRegex` of https://github.com/microsoft/vscode/blob/01e0ff54/extensions/notebook-renderers/src/stackTraceHelper.ts
"""


@NOTES
def test_in_a_cells_error_a_place_is_nothing_that_vscode_makes_a_link_of(loaded_shell: InteractiveShell) -> None:
    with capture_output():
        for cell in (
            "import torch, inplace_magic\ndef clip(x):\n    x.clamp_(0, 0.5)",
            "with inplace_magic.watch():\n    probs = torch.sigmoid(torch.ones(3, requires_grad=True))\n"
            "    clip(probs)\n    probs.sum().backward()",
        ):
            error = loaded_shell.run_cell(cell, store_history=True).error_in_exec
    (note,) = error.__notes__
    assert "(In[1], line 3, in `clip`, called from line 3)" in note
    assert "(line 2) had saved it" in note
    assert VSCODES_LINK.search(note) is None
    assert VSCODES_LINK.search("Cell In[1], line 3"), "the usual way to name a place"


@NOTES
def test_a_log_shows_it() -> None:
    error, log, written = failed(), logging.getLogger("training"), io.StringIO()
    handler = logging.StreamHandler(written)
    log.addHandler(handler)
    log.error("failed", exc_info=error)
    log.removeHandler(handler)
    assert written.getvalue().count("inplace_magic: ") == 1


@NOTES
def test_it_is_added_once_though_the_error_leaves_two_watches() -> None:
    error = failed()

    def raised_again() -> None:
        with inplace_magic.watch():
            raise error

    with pytest.raises(RuntimeError):
        raised_again()
    assert len(error.__notes__) == 1


@NOTES
@pytest.mark.parametrize("block", ["raise ValueError('none of ours')", "torch.ones(2) + torch.ones(3)", "exit()"])
def test_an_error_that_the_report_says_nothing_of_is_left_alone(block: str) -> None:
    assert not hasattr(failed(block), "__notes__")


@NOTES
def test_notes_of_others_that_are_no_list_cost_no_more_than_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    def failing_block() -> None:
        logits = torch.randn(4, requires_grad=True)
        with inplace_magic.watch():
            probs = torch.sigmoid(logits)
            probs[2] = 1.0
            try:
                probs.sum().backward()
            except RuntimeError as error:
                error.__notes__ = "mine"  # type: ignore[assignment]  # which Python allows
                raise

    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        failing_block()
    assert caught.value.__notes__ == "mine"
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("words", [["program.py"], ["-m", "pytest", "-q", "-p", "no:cacheprovider", "program.py"]])
def test_a_traceback_and_pytest_show_it_once(tmp_path: Path, words: list[str]) -> None:
    call = "" if "pytest" in words else "test_training()\n"
    (tmp_path / "program.py").write_text(FAILING + call)
    # Where CI is set, pytest repeats a failure's whole message in its summary, notes and all.
    surroundings = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    ran = subprocess.run(
        [python(), *words], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert (ran.stdout + ran.stderr).count(GUILTY) == 1


def test_a_shell_shows_it_once_and_gives_no_hint(loaded_shell: InteractiveShell) -> None:
    with capture_output() as captured:
        loaded_shell.run_cell(FAILING + "\ntest_training()")
    said = captured.stdout + captured.stderr
    assert said.count(GUILTY) == 1
    assert "to see which line did it" not in said


def test_the_error_is_the_same_but_for_the_note() -> None:
    error = failed()
    plain = traceback.format_exception_only(type(error), RuntimeError(*error.args))
    assert traceback.format_exception_only(error)[: len(plain)] == plain
