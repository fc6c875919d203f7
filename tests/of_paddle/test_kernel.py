"""Through a real kernel: a cell fails as ever, its report stands above the traceback; unwatched it gets an answer."""

from __future__ import annotations

from kernel_sockets import kernel_sockets
from talking_to_kernels import execute, kinds, text_of

FAILING = """\
import paddle
x = paddle.ones([2])
x.stop_gradient = False
y = paddle.exp(x)
y.scale_(2.0)
y.sum().backward()"""


def test_a_watched_cell_that_imports_paddle_fails_with_its_own_error_and_a_report() -> None:
    watched, asked, unwatched, leaf = execute(
        [
            f"%%inplace_watch -o report\n{FAILING}",
            "print(report.framework, report.hazards[0].mutation.line, report.hazards[0].saved.line)",
            FAILING,
            "x.scale_(2.0)",
        ],
        allow_errors=True,
        settings=kernel_sockets(),  # its own environment is not that from which kernels are forked
    )
    assert [kind for kind in kinds(watched) if kind != "stderr"] == ["report", "error"]
    assert "(PermissionDenied) Tensor ''" in text_of(watched, "error")
    assert "stand_in" not in text_of(watched, "error")
    assert text_of(asked, "stdout") == "paddle 6 5\n"
    for cell in (unwatched, leaf):
        assert "%%inplace_watch" in text_of(cell, "answer")
