"""``inplace_magic.why()`` explains a script's failure where it is handled, and says where it can tell only a part."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import inplace_magic
from inplace_magic import Report
from inplace_magic.errors import CompareError


def run(path: Path, source: str) -> dict[str, Any]:
    """The names that a script leaves, run from its file."""
    path.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(source, str(path), "exec"), names)
    return names


BODY = """\
        y = torch.sigmoid(x)
        y.mul_(2)
        y.sum().backward()
"""
HANDLED = f"""\
import torch, inplace_magic
def main(x):
    try:
{BODY}    except RuntimeError:
        return inplace_magic.why()
x = torch.ones(3, requires_grad=True)
report = main(x)
"""


def test_in_the_handler_the_lines_of_the_try_are_run_again_and_the_fix_is_proven(tmp_path: Path) -> None:
    names = run(tmp_path / "handled.py", HANDLED)

    (hazard,) = (each for each in names["report"].hazards if each.severity == "error")
    assert (hazard.mutation.line, hazard.saved.line) == (5, 4)
    assert hazard.diff.endswith("-        y.mul_(2)\n+        y = y * 2")
    assert hazard.proof.verdict == "proven"
    assert names["x"].grad is None
    assert "second run of lines 4 to 6" in " ".join(names["report"].blindness)
    assert names["report"].faults == []


def test_statements_above_that_built_the_graph_are_run_as_well(tmp_path: Path) -> None:
    source = """\
import torch, inplace_magic
count = 0
x = torch.ones(3, requires_grad=True)
y = torch.sigmoid(x)
count += 1
y.mul_(2)
loss = y.sum()
try:
    loss.backward()
except RuntimeError:
    held = (x, y, loss)
    report = inplace_magic.why()
"""
    names = run(tmp_path / "above.py", source)

    hazard = names["report"].hazards[0]
    assert (hazard.mutation.line, hazard.saved.line, hazard.proof.verdict) == (6, 4, "proven")
    assert all(names[name] is held for name, held in zip(("x", "y", "loss"), names["held"], strict=True))
    assert (names["count"], names["x"].grad, names["y"]._version) == (1, None, 1)


def test_in_a_debugger_it_is_the_statement_of_the_outermost_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "unhandled.py"
    source = f"import torch\ndef train(x):\n    if True:\n{BODY}x = torch.ones(3, requires_grad=True)\ntrain(x)\n"
    with pytest.raises(RuntimeError) as raised:
        run(path, source)
    trace = raised.value.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(path):
        trace = trace.tb_next  # the interpreter has no frames of a test's
    monkeypatch.setattr(sys, "last_value", raised.value.with_traceback(trace), raising=False)
    monkeypatch.delattr(sys, "last_exc", raising=False)

    report = inplace_magic.why()

    assert report.hazards[0].mutation is not None
    assert report.hazards[0].mutation.line == 5
    assert report.hazards[0].proof is not None
    assert report.hazards[0].proof.verdict == "proven"


GIVEN = """\
import torch, inplace_magic
def helper(y):
    y.mul_(2)
def main(x):
    gate = torch.sigmoid(x)
    helper(gate)
    return gate.sum()
def handle(loss):
    try:
        loss.backward()
    except RuntimeError as error:
        return inplace_magic.why(error)
x = torch.ones(3, requires_grad=True)
report = handle(main(x))
"""


def test_where_it_cannot_be_run_again_what_the_error_left_tells_and_the_report_says_so(tmp_path: Path) -> None:
    report = run(tmp_path / "given.py", GIVEN)["report"]

    (hazard,) = report.hazards
    assert (hazard.saved_by, hazard.expected_version, hazard.found_version) == ("SigmoidBackward0", 0, 1)
    assert hazard.proof is None
    assert "Nothing was watched" in " ".join(report.blindness)
    assert Report.from_json(report.to_json()).hazards == report.hazards


def test_the_graph_is_left_as_it_was(tmp_path: Path) -> None:
    told = []
    for asked in ("inplace_magic.why(error)", "None"):
        source = GIVEN.replace("return inplace_magic.why(error)", f"return {asked}, loss")
        _report, loss = run(tmp_path / "left.py", source)["report"]
        with pytest.raises(RuntimeError) as raised:
            loss.backward()
        told.append(str(raised.value))
    assert told[0] == told[1]


def test_variables_on_the_changed_memory_are_named(tmp_path: Path) -> None:
    source = GIVEN.replace("return gate.sum()", "return gate, gate.sum()").replace("main(x))", "*main(x))")
    source = source.replace("def handle(loss)", "def handle(opened, loss)")

    assert run(tmp_path / "named.py", source)["report"].hazards[0].variable == "opened"


def test_what_cannot_be_explained_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("last_value", "last_exc"):
        monkeypatch.delattr(sys, name, raising=False)
    with pytest.raises(CompareError, match="No error is being handled"):
        inplace_magic.why()
    source = HANDLED.replace("y.mul_(2)", "open('log.txt', 'w'); raise ValueError")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CompareError, match="cannot run again: it changes the file"):
        run(tmp_path / "writes.py", source.replace("except RuntimeError", "except ValueError"))


def test_a_run_that_ends_otherwise_is_no_explanation(tmp_path: Path) -> None:
    source = """\
import torch, inplace_magic
steps = 0
x = torch.ones(3, requires_grad=True)
try:
    steps += 1
    y = torch.sigmoid(x)
    if steps == 1:
        y.mul_(2)
    y.sum().backward()
except RuntimeError:
    report = inplace_magic.why()
"""
    names: Any = run(tmp_path / "once.py", source)

    assert "Nothing was watched" in " ".join(names["report"].blindness)
    assert names["report"].hazards[0].saved_by == "SigmoidBackward0"
    assert names["steps"] == 1
    assert torch.is_grad_enabled()
