"""Paddle's errors about gradients, each provoked in a cell that nobody watched: the answer names the line."""

from __future__ import annotations

from pathlib import Path

import paddle
import pytest
from postmortem import refused

PROGRAMS = list(refused.programs(Path(__file__).parent / "refused.md"))
NAMES = {"paddle": paddle, "nn": paddle.nn, "F": paddle.nn.functional}


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.cause is not None], ids=str)
def test_the_answer_names_code_line_and_variable(program: refused.Program) -> None:
    error, answer = refused.run(program.text, names=NAMES)
    assert error is not None
    assert answer is not None
    assert (answer.code, answer.variable) == (program.code, program.variable)
    assert (answer.candidates[0].line, answer.place.line) == (program.cause, program.raises)
    assert "PyTorch" not in answer.message


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.cause is None], ids=str)
def test_the_cured_program_raises_nothing(program: refused.Program) -> None:
    assert refused.run(program.text, names=NAMES) == (None, None)


def test_any_other_error_of_paddle_has_no_answer() -> None:
    assert refused.run("paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))\n", names=NAMES)[1] is None
