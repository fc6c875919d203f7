"""Paddle does not rewrite the history of views: its gradients are wrong without us, and the watch names the line."""

from __future__ import annotations

from typing import Any

import paddle
import pytest
from hazards.running import example

import inplace_magic

CODE = "history-missed"
CONSTANT = {"a row": "h[0].scale_(8.0)", "an element of a row": "h[0][1] = 0.0", "the transpose": "h.t()[0] = 0.0"}
CURES = {"a row": "h[0] = h[0] * 8.0", "an element of a row": "h[0, 1] = 0.0", "the transpose": "h[:, 0] = 0.0"}


def run(line: str) -> tuple[list[float], Any]:
    """The gradient of ``x``, and the report."""
    program = f"h = x * 2.0\n{line}\nh.sum().backward()\n"
    x = paddle.ones([2, 3])
    x.stop_gradient = False
    exec(compile(program, "<string>", "exec"), {"x": x})
    plain = x.grad.flatten().tolist()
    x.clear_gradient()
    with inplace_magic.watch() as w:
        exec(compile(program, "<string>", "exec"), {"x": x})
    assert x.grad.flatten().tolist() == plain
    return plain, w.report


@pytest.mark.parametrize("name", CONSTANT)
def test_paddle_misses_the_write_and_the_watch_finds_it(name: str) -> None:
    wrong, report = run(CONSTANT[name])
    right, cured = run(CURES[name])
    assert wrong == [2.0] * 6 != right
    assert [finding.code for finding in report.hazards] == [CODE]
    assert cured.hazards == []


def test_the_programs_of_the_page_are_as_it_says() -> None:
    found = {}
    for title in ("Bad", "Good"):
        x = paddle.ones([3, 2])
        x.stop_gradient = False
        with inplace_magic.watch() as w:
            exec(compile(example(CODE, title), "<string>", "exec"), {"x": x})
        assert w.report is not None
        found[title] = [finding.code for finding in w.report.hazards], x.grad.tolist()
    assert found["Bad"][0] == [CODE]
    assert found["Good"][0] == []
    assert found["Bad"][1] != found["Good"][1]
