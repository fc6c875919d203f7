"""The table of what Paddle's nodes keep is what the installed version of Paddle keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import measure_saves
import paddle
import paddle.nn.functional as F
import pytest

import inplace_magic
from inplace_magic.capture.paddle.saves import AS_IT_LIES, SAVES, kept_in, table_of, tables


def test_the_table_is_what_is_measured() -> None:
    measured = measure_saves.measure()
    assert len(measured.saves) > 200
    assert measure_saves.differences(measured, table_of(paddle.__version__)) == {}


def test_storing_what_was_read_changes_nothing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = measure_saves.TABLE.read_text(encoding="utf-8")
    copy = tmp_path / "saves.json"
    monkeypatch.setattr(measure_saves, "TABLE", copy)
    measure_saves.write(tables())
    assert copy.read_text(encoding="utf-8") == stored


def test_a_version_has_the_table_of_the_newest_that_was_measured_and_is_not_newer() -> None:
    every = tables()
    assert {"3.0.0", "3.1.0", "3.1.1", "3.2.0", "3.2.2", "3.3.0", "3.3.1"} <= set(every)
    for version, table in every.items():
        assert table_of(version) == table
    assert table_of("3.0.9") == every["3.0.0"]
    assert table_of("3.2.1rc1") == every["3.2.0"]
    newest = list(every.values())[-1]
    for version in ("99.0", "0.0.0", "of a fork"):
        assert table_of(version) == newest
    assert table_of(paddle.__version__) == (SAVES, AS_IT_LIES)


def test_what_an_older_version_keeps_otherwise() -> None:
    oldest, before, newest = (table_of(version) for version in ("3.0.0", "3.2.2", "3.3.1"))
    assert oldest.saves["view_shape"] == ("in0",)
    assert before.saves["view_shape"] == newest.saves["view_shape"] == ()
    assert "median" in newest.saves
    assert "median" not in oldest.saves
    assert "sin" in newest.as_it_lies
    assert "sin" not in before.as_it_lies
    assert oldest.saves["matmul"] == before.saves["matmul"] == newest.saves["matmul"] == ("in0", "in1")


READS: dict[str, Callable[[Any], Any]] = {
    "view": lambda h: h.view([16]),
    "sin": paddle.sin,
    "sin turned": lambda h: paddle.sin(h.T),
    "pow": lambda h: h.pow(2.5),
    "pow turned": lambda h: h.T.pow(2.5),
    "multiply turned": lambda h: h * h.T,
}


@pytest.mark.parametrize("operation", READS)
def test_a_write_is_a_finding_exactly_where_this_version_of_paddle_refuses_it(operation: str) -> None:
    x = paddle.rand([4, 4]) + 0.5
    x.stop_gradient = False
    with inplace_magic.watch() as w:
        h = x * 1.0
        y = READS[operation](h)
        with paddle.no_grad():
            h.add_(paddle.ones([4, 4]))
        try:
            y.sum().backward()
            refused = False
        except RuntimeError:
            refused = True
    assert w.report is not None
    assert ("saved-tensor-overwritten" in [finding.code for finding in w.report.hazards]) == refused


def test_tensors_given_by_name_are_kept_as_those_in_their_places() -> None:
    x = paddle.rand([4, 4])
    x.stop_gradient = False
    with inplace_magic.watch() as w:
        h = x * 1.0
        y = paddle.matmul(y=h, x=x)
        with paddle.no_grad():
            h.add_(paddle.ones([4, 4]))
        with pytest.raises(RuntimeError):
            y.sum().backward()
    assert w.report is not None
    assert [finding.code for finding in w.report.hazards] == ["saved-tensor-overwritten"]


def test_known_operations_keep_what_their_derivatives_need() -> None:
    assert SAVES["sigmoid"] == ("out0",)
    assert SAVES["square"] == ("in0",)
    assert SAVES["square_"] == ("hidden",)
    assert SAVES["add"] == ()


def test_a_product_with_a_number_keeps_nothing() -> None:
    x = paddle.ones([2])
    x.stop_gradient = False
    assert kept_in(SAVES["__mul__"], (x, 2.0)) == ()
    assert kept_in(SAVES["__mul__"], (x, x)) == ("in0", "in1")


def test_what_is_not_in_the_table_is_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from inplace_magic.capture.paddle import spots

    monkeypatch.setattr(spots.facts_of("log_softmax"), "saves", None)
    x = paddle.ones([2])
    x.stop_gradient = False
    with inplace_magic.watch() as w:
        y = F.log_softmax(x)
        y.add_(x)
    assert w.report is not None
    assert w.report.hazards == []
    (told,) = (sentence for sentence in w.report.blindness if "log_softmax" in sentence)
    assert "unknown" in told


@pytest.mark.parametrize("retain", [True, False])
def test_what_a_node_keeps_is_compared_until_a_backward_has_used_it_up(retain: bool) -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with inplace_magic.watch() as watched:
        loss = (w * w).sum()
        loss.backward(retain_graph=retain)
        w.set_value(paddle.zeros([2]))
        paddle.exp(w).sum().backward()
    assert watched.report is not None
    first, second = (saved for saved in watched.report.trace.saved if saved.name.startswith("in"))
    assert (first.changed is not None) == (second.changed is not None) == retain
