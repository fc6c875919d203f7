"""The labels of the programs agree with what PyTorch itself does, without this package.

A corpus is worth what its labels are worth. So every first and every further program is run plainly:
the exception is really raised, with the versions and the producer that the label gives; anomaly mode really names the
labelled node and the statement that made it; a silently wrong program really says so of itself; a harmless one passes.
"""

from __future__ import annotations

import ast
import re
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from programs import packed

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


FILE = "<program>"
"""What a program is called in tracebacks."""


def labels() -> list[tuple[str, dict[str, Any]]]:
    """Every program's text with its label."""
    return [
        (packed.source_of(programs, case["case"]), case)
        for programs in (packed.FIRST, packed.FURTHER)
        for case in packed.cases_in(programs)
    ]


def labelled(*symptoms: str) -> pytest.MarkDecorator:
    """Parametrises a test over the programs with one of these symptoms."""
    chosen = [pytest.param(source, case, id=case["case"]) for source, case in labels() if case["symptom"] in symptoms]
    return pytest.mark.parametrize(("source", "case"), chosen)


class Without(ast.NodeTransformer):
    """Takes the statements that begin on these lines out of a program."""

    def __init__(self, lines: set[int]) -> None:
        self.lines = lines

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and node.lineno in self.lines:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def run(source: str, *, anomaly: bool = False, without: set[int] | None = None) -> Ending:
    """Runs a program in a new namespace, all of it or without the statements on some lines."""
    names: dict[str, Any] = {"__name__": "__main__"}
    program = Without(without or set()).visit(ast.parse(source))
    code = compile(program, FILE, "exec")
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
    made_at = re.findall(rf'File "{re.escape(FILE)}", line (\d+)', said)
    return Ending(
        error,
        tuple(frame.lineno or 0 for frame in frames if frame.filename == FILE),
        node[1] if node else None,
        tuple(int(line) for line in made_at),
        names,
    )


def statements(source: str, lines: list[int] | tuple[int, ...]) -> set[int]:
    """The first lines of the innermost statements that hold these lines."""
    first: dict[int, int] = {}
    # ast.walk goes level by level, so an inner statement overwrites the lines of the outer one.
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            first.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.lineno))
    return {first[line] for line in lines}


def bare(name: str | None) -> str | None:
    """``SigmoidBackward0`` and ``Sigmoid`` are one node to a label; PyTorch prints either."""
    return re.sub(r"Backward\d*$", "", name) if name else name


@labelled("harmless")
def test_a_harmless_program_raises_nothing(source: str, case: dict[str, Any]) -> None:
    ending = run(source)
    assert ending.error is None
    assert "SILENTLY_WRONG" not in ending.names


@labelled("silent_wrong")
def test_a_silently_wrong_program_raises_nothing_and_differs_from_its_honest_reference(
    source: str, case: dict[str, Any]
) -> None:
    ending = run(source)
    assert ending.error is None
    assert ending.names["SILENTLY_WRONG"] is True


@labelled("backward_error")
def test_the_label_gives_the_versions_and_the_producer_of_pytorchs_own_message(
    source: str, case: dict[str, Any]
) -> None:
    ending = run(source)
    assert isinstance(ending.error, RuntimeError)
    said = VERSIONS.search(str(ending.error))
    assert said is not None, str(ending.error)
    assert (int(said[3]), int(said[2])) == (case["expected_version"], case["found_version"])
    assert bare(said[1]) == case["message_producer"]


@labelled("backward_error")
def test_anomaly_mode_names_the_labelled_node_and_the_statement_that_saved(source: str, case: dict[str, Any]) -> None:
    ending = run(source, anomaly=True)
    assert ending.node == case["saved_by"]
    assert statements(source, [case["saving_line"]]) <= statements(source, ending.made_at)


@labelled("backward_error")
def test_without_the_labelled_write_pytorch_no_longer_makes_this_complaint(source: str, case: dict[str, Any]) -> None:
    ending = run(source, without=statements(source, case["mutating_lines"]))
    said = VERSIONS.search(str(ending.error))
    assert said is None or (int(said[3]), int(said[2])) != (case["expected_version"], case["found_version"])


@labelled("leaf_error")
def test_a_leaf_is_refused_at_the_labelled_statement_under_the_labelled_call(source: str, case: dict[str, Any]) -> None:
    ending = run(source)
    assert isinstance(ending.error, RuntimeError)
    assert "leaf Variable that requires grad is being used in an in-place operation" in str(ending.error)
    assert statements(source, ending.lines[-1:]) <= statements(source, case["mutating_lines"])
    assert statements(source, case["call_lines"]) <= statements(source, ending.lines)


@labelled("view_error")
def test_a_view_is_refused_at_the_labelled_statement_under_the_labelled_call(source: str, case: dict[str, Any]) -> None:
    ending = run(source)
    assert isinstance(ending.error, RuntimeError)
    assert REFUSED_VIEW.search(str(ending.error)), str(ending.error)
    if case["family"] == LATE:
        assert ending.lines[-1] > max(case["mutating_lines"])
    else:
        assert statements(source, ending.lines[-1:]) <= statements(source, case["mutating_lines"])
    assert statements(source, case["call_lines"]) <= statements(source, ending.lines)


@pytest.mark.parametrize(("source", "case"), [pytest.param(source, case, id=case["case"]) for source, case in labels()])
def test_a_label_is_complete_and_its_lines_are_statements_of_a_short_program(source: str, case: dict[str, Any]) -> None:
    count = len(source.splitlines())
    lines = [*case["mutating_lines"], *case["call_lines"], *([case["saving_line"]] if case["saving_line"] else [])]
    assert count <= MAX_LINES
    assert statements(source, lines) or case["symptom"] == "harmless"
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
    assert {case["symptom"] for _, case in labels()} == SYMPTOMS
