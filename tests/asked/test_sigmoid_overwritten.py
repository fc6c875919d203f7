"""Asked: which line overwrote the tensor that backward needed, and which line had saved it?"""

from __future__ import annotations

import pytest
import torch
from asked.asking import Asker, alarms, only_write

GIVEN = "t = torch.zeros(2, requires_grad=True)\n"
CELL = "probs = torch.sigmoid(t)\nprobs.mul_(2.0)\nprobs.sum().backward()\n"


def test_pytorch_raises_without_naming_the_line_that_wrote() -> None:
    probs = torch.sigmoid(torch.zeros(2, requires_grad=True))
    probs.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        torch.autograd.backward(probs.sum())
    assert "mul_" not in str(caught.value)


def test_the_report_names_both_lines_the_node_the_versions_and_the_tensor(ask: Asker) -> None:
    asked = ask(CELL, given=GIVEN)
    assert isinstance(asked.error, RuntimeError)
    finding = asked.report.hazards[0]
    assert (finding.code, finding.severity, finding.variable) == ("saved-tensor-overwritten", "error", "probs")
    assert finding.raised
    assert finding.mutation is not None
    assert finding.saved is not None
    assert (finding.mutation.line, finding.saved.line) == (3, 2)
    assert (finding.saved_by, finding.expected_version, finding.found_version) == ("SigmoidBackward0", 0, 1)
    write = only_write(asked.call(3))
    assert (write.values_before, write.values_after) == ((0.5, 0.5), (1.0, 1.0))
    assert asked.report.verdict.startswith("✗ `probs` was overwritten")


def test_the_finding_is_there_before_backward_is_called(ask: Asker) -> None:
    asked = ask("probs = torch.sigmoid(t)\nprobs.mul_(2.0)\nloss = probs.sum()\n", given=GIVEN)
    assert asked.error is None
    (finding,) = asked.report.hazards
    assert (finding.severity, finding.raised) == ("error", False)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        asked.user["loss"].backward()


def test_an_ordinary_multiplication_cures_it(ask: Asker) -> None:
    asked = ask("probs = torch.sigmoid(t)\nprobs = probs * 2.0\nprobs.sum().backward()\n", given=GIVEN)
    assert asked.error is None
    assert alarms(asked.report) == []
    assert asked.user["t"].grad.tolist() == [0.5, 0.5]
