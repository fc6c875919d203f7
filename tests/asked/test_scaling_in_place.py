"""Asked: is ``x.mul_(2.0)`` safe under autograd, what does it give back, and why is a leaf refused?"""

from __future__ import annotations

import pytest
import torch
from asked.asking import Asked, Asker, alarms, only_write

CELL = "x = a * 2.0\ny = x.mul_(2.0)\ny.sum().backward()\n"
GIVEN = "a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
REFUSAL = "a leaf Variable that requires grad is being used in an in-place operation."


def stores_of(asked: Asked, line: int) -> set[int | None]:
    """The storages that a line made."""
    return {storage.storage for storage in asked.report.trace.storages if storage.born == asked.call(line).index}


def kept_by(asked: Asked, line: int) -> set[int | None]:
    """The storages that the autograd nodes of a line keep, such as the factor 2.0."""
    nodes = {node.node for node in asked.report.trace.nodes if node.call == asked.call(line).index}
    return {saved.storage for saved in asked.report.trace.saved if saved.node in nodes}


def test_the_result_is_the_same_tensor_one_version_up_on_the_same_memory(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    (x,), (y,) = asked.call(2).outputs, asked.call(3).outputs
    assert asked.call(3).kind == "in-place"
    assert (y.tensor, y.python_id, y.storage) == (x.tensor, x.python_id, x.storage)
    assert (x.version, y.version) == (0, 1)
    assert asked.user["y"] is asked.user["x"]
    write = only_write(asked.call(3))
    assert (write.values_before, write.values_after) == ((2.0, 4.0), (4.0, 8.0))
    assert stores_of(asked, 3) <= kept_by(asked, 3)


def test_backward_stays_right_because_nothing_had_saved_the_result(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    assert asked.error is None
    assert asked.user["a"].grad.tolist() == [4.0, 4.0]
    assert alarms(asked.report) == []
    (x,) = asked.call(2).outputs
    assert [saved.name for saved in asked.report.trace.saved if saved.storage == x.storage] == []
    assert asked.report.verdict.startswith("✓ Nothing wrong found")


def test_pytorch_refuses_the_write_of_a_leaf() -> None:
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=REFUSAL):
        a.mul_(2.0)


def test_the_report_says_which_leaf_was_refused_where_and_why(ask: Asker) -> None:
    asked = ask("b = a.detach() + 1\na.mul_(2.0)\n", given=GIVEN)
    assert isinstance(asked.error, RuntimeError)
    assert str(asked.error) == REFUSAL
    (finding,) = asked.report.hazards
    assert (finding.code, finding.severity, finding.variable) == ("leaf-written", "error", "a")
    assert finding.mutation is not None
    assert (finding.mutation.line, finding.mutation.text) == (3, "a.mul_(2.0)")
    assert "`a` is a leaf that requires grad" in finding.message
    assert "with torch.no_grad():" in finding.diff
    (call,) = asked.calls(3)
    assert (call.kind, call.mutations) == ("in-place", ())
    assert call.error == f"RuntimeError: {REFUSAL}"
    assert call.inputs[0].is_leaf
    assert call.inputs[0].requires_grad
    assert asked.user["a"].tolist() == [1.0, 2.0]


def test_the_fix_that_the_report_names_cures_the_leaf_write(ask: Asker) -> None:
    asked = ask("with torch.no_grad():\n    a.mul_(2.0)\n", given=GIVEN)
    assert asked.error is None
    assert alarms(asked.report) == []
    assert only_write(asked.call(3)).values_after == (2.0, 4.0)
