"""``%inplace_watch on``, ``off`` and ``status``: what the switch says."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.error import UsageError
from magics.stories import BACKWARD, FORWARD, STEP, run


def test_status_is_one_line_that_tells_all(ip: Any) -> None:
    for cell in (FORWARD, STEP, BACKWARD):
        run(ip, cell)
    line = run(ip, "%inplace_watch status").out
    assert line.startswith("inplace_watch is on (level calls), since Cell In[2]: ")
    assert line.endswith(" calls recorded, 1 finding shown.\n")
    run(ip, "%inplace_watch off")
    assert run(ip, "%inplace_watch status").out == (
        "inplace_watch is off. `%inplace_watch on` watches every cell from there on.\n"
    )


def test_switching_on_or_off_twice_is_one_line_and_no_failure(ip: Any) -> None:
    twice = run(ip, "%inplace_watch on --level ops")
    assert twice.error is None
    assert twice.out.startswith("inplace_watch is on already, since Cell In[2]")
    run(ip, "%inplace_watch off")
    off = run(ip, "%inplace_watch off")
    assert off.error is None
    assert off.out.startswith("inplace_watch is off.")
    assert off.displays == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "",
            "%inplace_watch takes on, off or status. To watch one cell, write %%inplace_watch, with two percent signs",
        ),
        ("onn", "%inplace_watch takes on, off or status, not 'onn'; did you mean on?"),
        ("-o r", "%inplace_watch takes on, off or status, not '-o'."),
        ("on --levle ops", "%inplace_watch on has no option --levle; did you mean --level?"),
        ("on --level op", "%inplace_watch on: level 'op' does not exist; choose one of calls, ops, writes."),
        ("on --level", "%inplace_watch on: argument --level: expected one argument."),
        (
            "on x = 1",
            "%inplace_watch on takes options only, not 'x'; put the code to watch into the cells that follow.",
        ),
        ("off now", "%inplace_watch off takes nothing more, not 'now'."),
    ],
)
def test_a_wrong_line_gives_one_sentence_and_switches_nothing(loaded_shell: Any, line: str, sentence: str) -> None:
    ran = run(loaded_shell, f"%inplace_watch {line}\nran = True")
    assert isinstance(ran.error, UsageError)
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert "ran" not in loaded_shell.user_ns
    assert run(loaded_shell, "%inplace_watch status").out.startswith("inplace_watch is off.")


@pytest.mark.parametrize("line", ["-h", "on --help", "on --level ops -h"])
def test_help_is_shown_and_switches_nothing(loaded_shell: Any, line: str) -> None:
    assert "--no-graph" in run(loaded_shell, f"%inplace_watch {line}").out
    assert run(loaded_shell, "%inplace_watch status").out.startswith("inplace_watch is off.")


def test_both_magics_are_known_to_help_and_completion(loaded_shell: Any) -> None:
    assert "until `%inplace_watch off`" in loaded_shell.object_inspect_text("%inplace_watch")
    assert "Watch this cell" in loaded_shell.object_inspect_text("%%inplace_watch")
    assert {"%inplace_watch", "%%inplace_watch"} <= set(loaded_shell.complete("%inplace_w")[1])
