"""The labels of the programs agree with what PyTorch itself does, without this package.

A corpus is worth what its labels are worth. So every program of ``programs/`` and ``programs/further/`` is run plainly:
the exception is really raised, with the versions and the producer that the label gives; anomaly mode really names the
labelled node and the statement that made it; a silently wrong program really says so of itself; a harmless one passes.
"""

from __future__ import annotations

import ast
import json
import re
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

PROGRAMS = Path(__file__).parent / "programs"
FOLDERS = [folder for folder in (PROGRAMS, PROGRAMS / "further") if (folder / "cases.jsonl").is_file()]
VERSIONS = re.compile(r"(?:which is output \d+ of (\w+), )?is at version (\d+); expected version (\d+) instead")
REFUSED_VIEW = re.compile(r"is a view and|view was created|detach views in-place")
LATE = "base edited after unbind"
"""PyTorch refuses the next read of the view here, not the edit of its base."""
SYMPTOMS = {"backward_error", "leaf_error", "view_error", "silent_wrong", "harmless"}
MAX_LINES = 45


@dataclass(frozen=True)
class Ending:
    """How a program ended when it ran by itself."""

    error: Exception | None
    lines: tuple[int, ...]
    """The program's lines in the traceback, outermost first."""
    node: str | None
    """The autograd node that anomaly mode names first."""
    made_at: tuple[int, ...]
    """The program's lines in the forward traceback that anomaly mode prints for it."""
    names: dict[str, Any]


def labels() -> list[tuple[Path, dict[str, Any]]]:
    """Every program's path with its label."""
    found = []
    for folder in FOLDERS:
        for line in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            found.append((folder / f"{case['case']}.py", case))
    return found


def labelled(*symptoms: str) -> pytest.MarkDecorator:
    """Parametrises a test over the programs with one of these symptoms."""
    chosen = [pytest.param(path, case, id=case["case"]) for path, case in labels() if case["symptom"] in symptoms]
    return pytest.mark.parametrize(("path", "case"), chosen)


class Without(ast.NodeTransformer):
    """Takes the statements that begin on these lines out of a program."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = lines

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and node.lineno in self.lines:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def run(path: Path, *, anomaly: bool = False, without: set[int] | None = None) -> Ending:
    """Runs a program in a new namespace, all of it or without the statements on some lines."""
    names: dict[str, Any] = {"__name__": "__main__"}
    program = Without(without or set()).visit(ast.parse(path.read_text(encoding="utf-8")))
    code = compile(program, str(path), "exec")
    error: Exception | None = None
    with warnings.catch_warnings(record=True) as caught, torch.autograd.set_detect_anomaly(anomaly):
        warnings.simplefilter("always")
        try:
            exec(code, names)
        except Exception as raised:  # Whatever the program raises is what the test looks at.
            error = raised
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    said = next((str(w.message) for w in caught if "Error detected in" in str(w.message)), "")
    node = re.search(r"Error detected in (\w+)", said)
    made_at = re.findall(rf'File "{re.escape(str(path))}", line (\d+)', said)
    return Ending(
        error,
        tuple(frame.lineno or 0 for frame in frames if frame.filename == str(path)),
        node[1] if node else None,
        tuple(int(line) for line in made_at),
        names,
    )


def statements(path: Path, lines: list[int] | tuple[int, ...]) -> set[int]:
    """The first lines of the innermost statements that hold these lines."""
    first: dict[int, int] = {}
    # ast.walk goes level by level, so an inner statement overwrites the lines of the outer one.
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt):
            first.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.lineno))
    return {first[line] for line in lines}


def bare(name: str | None) -> str | None:
    """``SigmoidBackward0`` and ``Sigmoid`` are one node to a label; PyTorch prints either."""
    return re.sub(r"Backward\d*$", "", name) if name else name


@labelled("harmless")
def test_a_harmless_program_raises_nothing(path: Path, case: dict[str, Any]) -> None:
    ending = run(path)
    assert ending.error is None
    assert "SILENTLY_WRONG" not in ending.names


@labelled("silent_wrong")
def test_a_silently_wrong_program_raises_nothing_and_differs_from_its_honest_reference(
    path: Path, case: dict[str, Any]
) -> None:
    ending = run(path)
    assert ending.error is None
    assert ending.names["SILENTLY_WRONG"] is True


@labelled("backward_error")
def test_the_label_gives_the_versions_and_the_producer_of_pytorchs_own_message(
    path: Path, case: dict[str, Any]
) -> None:
    ending = run(path)
    assert isinstance(ending.error, RuntimeError)
    said = VERSIONS.search(str(ending.error))
    assert said is not None, str(ending.error)
    assert (int(said[3]), int(said[2])) == (case["expected_version"], case["found_version"])
    assert bare(said[1]) == case["message_producer"]


@labelled("backward_error")
def test_anomaly_mode_names_the_labelled_node_and_the_statement_that_saved(path: Path, case: dict[str, Any]) -> None:
    ending = run(path, anomaly=True)
    assert ending.node == case["saved_by"]
    assert statements(path, [case["saving_line"]]) <= statements(path, ending.made_at)


@labelled("backward_error")
def test_without_the_labelled_write_pytorch_no_longer_makes_this_complaint(path: Path, case: dict[str, Any]) -> None:
    ending = run(path, without=statements(path, case["mutating_lines"]))
    said = VERSIONS.search(str(ending.error))
    assert said is None or (int(said[3]), int(said[2])) != (case["expected_version"], case["found_version"])


@labelled("leaf_error")
def test_a_leaf_is_refused_at_the_labelled_statement_under_the_labelled_call(path: Path, case: dict[str, Any]) -> None:
    ending = run(path)
    assert isinstance(ending.error, RuntimeError)
    assert "leaf Variable that requires grad is being used in an in-place operation" in str(ending.error)
    assert statements(path, ending.lines[-1:]) <= statements(path, case["mutating_lines"])
    assert statements(path, case["call_lines"]) <= statements(path, ending.lines)


@labelled("view_error")
def test_a_view_is_refused_at_the_labelled_statement_under_the_labelled_call(path: Path, case: dict[str, Any]) -> None:
    ending = run(path)
    assert isinstance(ending.error, RuntimeError)
    assert REFUSED_VIEW.search(str(ending.error)), str(ending.error)
    if case["family"] == LATE:
        assert ending.lines[-1] > max(case["mutating_lines"])
    else:
        assert statements(path, ending.lines[-1:]) <= statements(path, case["mutating_lines"])
    assert statements(path, case["call_lines"]) <= statements(path, ending.lines)


@pytest.mark.parametrize(("path", "case"), [pytest.param(path, case, id=case["case"]) for path, case in labels()])
def test_a_label_is_complete_and_its_lines_are_statements_of_a_short_program(path: Path, case: dict[str, Any]) -> None:
    count = len(path.read_text(encoding="utf-8").splitlines())
    lines = [*case["mutating_lines"], *case["call_lines"], *([case["saving_line"]] if case["saving_line"] else [])]
    assert count <= MAX_LINES
    assert statements(path, lines) or case["symptom"] == "harmless"
    assert case["source"].startswith("https://")
    assert all(case[word] for word in ("family", "mechanism", "fix"))
    of_a_save = (case["saving_line"], case["saved_by"], case["expected_version"], case["found_version"])
    if case["symptom"] == "backward_error":
        assert None not in of_a_save
        assert case["expected_version"] < case["found_version"]
    else:
        assert of_a_save == (None, None, None, None)
    assert not case["is_inplace_but_fine"] or (case["symptom"] == "harmless" and case["mutating_lines"])


def test_every_program_has_one_label_and_no_two_share_a_name() -> None:
    named = [case["case"] for _, case in labels()]
    assert len(named) == len(set(named))
    written = {path for folder in FOLDERS for path in folder.glob("*.py")} - {PROGRAMS / "score.py"}
    assert {path for path, _ in labels()} == written
    assert {case["symptom"] for _, case in labels()} == SYMPTOMS
