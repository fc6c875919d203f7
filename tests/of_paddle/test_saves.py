"""The table of what Paddle's nodes keep is what this version of Paddle keeps."""

from __future__ import annotations

import json

import measure_saves
import paddle
import paddle.nn.functional as F
import pytest

import inplace_magic
from inplace_magic.capture.paddle.saves import SAVES, TABLE, kept_in

OTHER_VERSIONS = 6
"""Operations that may be otherwise in another version than the one measured; see docs/paddle.md."""


def test_the_table_is_what_is_measured() -> None:
    stored = json.loads(TABLE.read_text(encoding="utf-8"))
    measured = measure_saves.measure()
    assert len(measured) > 200
    differing = {name for name in measured if stored["saves"].get(name) != measured[name]}
    if paddle.__version__ == stored["measured_with"]:
        assert differing == set()
    else:
        assert len(differing & set(stored["saves"])) <= OTHER_VERSIONS, differing


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
    assert "not known" in told
