"""The snippets of Paddle's in-place guide, in a watched cell: they do what the guide says.

The guide is "Inplace 介绍" of PaddlePaddle's community documents (https://github.com/PaddlePaddle/community).
"""

from __future__ import annotations

from typing import Any

import pytest

from inplace_magic.report import Report


def watched(shell: Any, program: str) -> tuple[Any, dict[str, Any], Report]:
    result = shell.run_cell(f"%%inplace_watch -o report\n{program}")
    report = shell.user_ns["report"]
    assert report.faults == []
    return result.error_in_exec, shell.user_ns, report


def test_scale_in_place_gives_the_tensor_itself_and_the_right_gradient(loaded_shell: Any) -> None:
    error, names, report = watched(
        loaded_shell,
        "import paddle\n"
        "a = paddle.to_tensor([1.0, 2.0], stop_gradient=False)\n"
        "x = a * 3.0\n"
        "before = id(x)\n"
        "y = x.scale_(2.0)\n"
        "y.sum().backward()\n",
    )
    assert error is None
    assert names["y"] is names["x"]
    assert id(names["y"]) == names["before"]
    assert names["a"].grad.tolist() == [6.0, 6.0]
    assert report.hazards == []
    (write,) = (call for call in report.calls if call.kind == "in-place")
    assert (write.name, write.mutations[0].version_before, write.mutations[0].version_after) == ("Tensor.scale_", 0, 1)


def test_a_leaf_that_wants_a_gradient_is_not_scaled_in_place(loaded_shell: Any) -> None:
    error, _names, report = watched(
        loaded_shell, "import paddle\na = paddle.to_tensor([1.0], stop_gradient=False)\na.scale_(2.0)\n"
    )
    assert isinstance(error, ValueError)
    (finding,) = report.hazards
    assert (finding.code, finding.variable, finding.mutation and finding.mutation.line) == ("leaf-written", "a", 4)
    assert "paddle.no_grad()" in finding.fix


@pytest.mark.parametrize(
    ("line", "kind"),
    [("z = x + 1.0", "ordinary"), ("z = x.reshape([4])", "view"), ("z = x.add_(x)", "in-place")],
)
def test_the_three_kinds_of_operation_are_told_apart(loaded_shell: Any, line: str, kind: str) -> None:
    error, _names, report = watched(loaded_shell, f"import paddle\nx = paddle.ones([2, 2])\n{line}\n")
    assert error is None
    (call,) = (call for call in report.calls if call.callsite is not None and call.callsite.line == 4)
    assert call.kind == kind
    inside, outside = call.inputs[0], call.outputs[0]
    assert (inside.storage == outside.storage) == (kind != "ordinary")
    assert (inside.tensor == outside.tensor) == (kind == "in-place")


def test_a_view_shares_memory_and_version(loaded_shell: Any) -> None:
    error, names, report = watched(
        loaded_shell, "import paddle\nx = paddle.zeros([2, 2])\nv = x[0]\nv.fill_(7.0)\nshown = x.tolist()\n"
    )
    assert error is None
    assert names["shown"] == [[7.0, 7.0], [0.0, 0.0]]
    assert names["x"].inplace_version == names["v"].inplace_version == 1
    assert report.hazards == []


def test_an_augmented_assignment_makes_a_new_tensor(loaded_shell: Any) -> None:
    error, names, report = watched(
        loaded_shell, "import paddle\nx = paddle.ones([2])\nold = x\nx += 1.0\nsame = x is old\n"
    )
    assert error is None
    assert names["same"] is False
    assert not any(call.kind == "in-place" for call in report.calls)
