"""A watch follows the frameworks that the watched code uses, and imports Paddle for nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import paddle
import pytest

import inplace_magic
from inplace_magic.capture.paddle import recorder as recording

ROOT = Path(inplace_magic.__file__).parent.parent
NO_TORCH = """
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Absent())
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "torch" else real(name, package)
"""
FAILING = """
import inplace_magic, json, sys
try:
    with inplace_magic.watch() as w:
        import paddle
        x = paddle.ones([2])
        x.stop_gradient = False
        y = paddle.exp(x)
        y.scale_(2.0)
        y.sum().backward()
except RuntimeError:
    pass
(finding,) = w.report.hazards
lines_after = finding.mutation.line - finding.saved.line
print(json.dumps([w.report.framework, finding.code, finding.saved_by, lines_after, "torch" in sys.modules]))
"""


def run(program: str) -> Any:
    """What a fresh process says in its last line of output."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_paddle_imported_by_the_watched_code_itself_is_watched() -> None:
    assert run(FAILING)[:-1] == ["paddle", "saved-tensor-overwritten", "ExpGradNode", 1]


def test_who_has_no_torch_watches_paddle() -> None:
    found = run(NO_TORCH + FAILING)
    assert found == ["paddle", "saved-tensor-overwritten", "ExpGradNode", 1, False]


def test_a_watch_of_paddle_imports_no_torch() -> None:
    assert run("import paddle\n" + FAILING)[-1] is False


def test_a_watch_of_torch_imports_no_paddle_and_replaces_nothing() -> None:
    program = """
import inplace_magic, json, sys, torch
before = list(sys.meta_path)
with inplace_magic.watch() as w:
    y = torch.ones(2).exp_()
print(json.dumps(["paddle" in sys.modules, sys.meta_path == before, w.report.framework, len(w.report.calls)]))
"""
    assert run(program) == [False, True, "torch", 2]


def test_code_of_two_frameworks_gets_one_report_and_a_sentence() -> None:
    torch = pytest.importorskip("torch")
    with inplace_magic.watch() as w:
        x = paddle.ones([2])
        y = x * 2.0
        z = torch.ones(2)
    assert (y.tolist(), z.tolist()) == ([2.0, 2.0], [1.0, 1.0])
    assert w.report is not None
    assert w.report.framework == "paddle"
    assert len(w.report.calls) == 2
    assert any("Calls of a second framework in the watched code: 1." in sentence for sentence in w.report.blindness)
    assert "1 call of another framework" in w.report.verdict


def test_of_two_frameworks_the_one_whose_error_ended_the_code_is_told_of() -> None:
    torch = pytest.importorskip("torch")

    def program() -> None:
        for _ in range(9):
            paddle.ones([2])
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"), inplace_magic.watch() as w:
        program()
    assert w.report is not None
    assert w.report.framework == "torch"
    assert [finding.code for finding in w.report.hazards] == ["saved-tensor-overwritten"]
    assert any("Calls of a second framework in the watched code: 9." in line for line in w.report.blindness)


def test_torch_alone_is_told_of_as_ever_although_paddle_is_there() -> None:
    torch = pytest.importorskip("torch")
    with inplace_magic.watch() as w:
        torch.ones(2).exp_()
    assert w.report is not None
    assert w.report.framework == "torch"
    assert not any("framework" in sentence for sentence in w.report.blindness)


def test_what_failed_on_one_side_is_said_in_a_report_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*args: Any, **kwargs: Any) -> Any:
        raise LookupError("on purpose")

    torch = pytest.importorskip("torch")
    monkeypatch.setattr(recording.Recorder, "open", faulty)
    with inplace_magic.watch() as w:
        torch.ones(2).exp_()
        paddle.ones([2])
    assert w.report is not None
    assert w.report.framework == "torch"
    assert any("on purpose" in fault for fault in w.report.faults)


@pytest.mark.parametrize("level", ["ops", "writes"])
def test_another_level_than_calls_is_refused_in_a_sentence(level: str) -> None:
    with inplace_magic.watch(level=level) as w:
        paddle.ones([2]) * 2.0
    assert w.report is not None
    assert w.report.trace.level == "calls"
    assert any(f"Level `{level}` does not exist for Paddle" in sentence for sentence in w.report.blindness)


def test_a_watch_within_a_watch_is_refused_and_the_outer_one_goes_on() -> None:
    with inplace_magic.watch() as w:
        with pytest.raises(inplace_magic.InplaceMagicError, match="running already"), inplace_magic.watch():
            pass
        paddle.ones([2]).exp_()
    assert w.report is not None
    assert len(w.report.calls) == 2


def test_an_older_paddle_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paddle, "__version__", "2.6.2")
    with inplace_magic.watch() as w:
        paddle.ones([2]).exp_()
    assert w.report is not None
    assert w.report.calls == []
    assert any("Paddle 2.6.2 is older than 3.0" in sentence for sentence in w.report.blindness)
    assert "✓" not in w.report.verdict


def test_a_comparison_of_paddle_functions_is_refused_in_a_sentence() -> None:
    pytest.importorskip("torch")

    def plain(x: Any) -> Any:
        return paddle.exp(x)

    def in_place(x: Any) -> Any:
        return (x * 1.0).exp_()

    with pytest.raises(inplace_magic.CompareError, match="This code uses Paddle"):
        inplace_magic.compare(plain, in_place, inputs=paddle.ones([2]))


def test_a_story_across_cells_names_lines_of_both_cells(loaded_shell: Any) -> None:
    run_cell = loaded_shell.run_cell
    run_cell("import paddle\nx = paddle.ones([2])\nx.stop_gradient = False", store_history=True)
    run_cell("%inplace_watch on -o report", store_history=True)
    run_cell("y = paddle.exp(x)", store_history=True)
    run_cell("y.scale_(2.0)", store_history=True)
    run_cell("y.sum().backward()", store_history=True)
    run_cell("%inplace_watch off", store_history=True)
    report = loaded_shell.user_ns["report"]
    (finding,) = (found for found in report.hazards if found.severity != "info")
    assert finding.code == "saved-tensor-overwritten"
    assert (finding.saved.text, finding.mutation.text) == ("y = paddle.exp(x)", "y.scale_(2.0)")
    assert finding.mutation.cell == finding.saved.cell + 1
