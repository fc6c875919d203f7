"""Where stand-ins stand: also in modules that came after an earlier watch, and out again whatever strikes."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import paddle
import pytest

import inplace_magic
from inplace_magic.capture.paddle.spots import NOTHING, Spot, facts_of, take_off


def test_a_module_of_paddle_s_that_was_imported_after_a_watch_is_watched_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with inplace_magic.watch():
        paddle.ones([2])
    late: Any = ModuleType("paddle.late")
    late.exp_ = paddle._C_ops.exp_
    monkeypatch.setitem(sys.modules, "paddle.late", late)
    with inplace_magic.watch() as w:
        late.exp_(paddle.ones([2]))
    assert w.report is not None
    assert [call.name for call in w.report.calls if "exp" in call.name] == ["Tensor.exp_"]
    assert late.exp_ is paddle._C_ops.exp_


def test_an_interrupt_while_stand_ins_go_leaves_none_and_is_let_through() -> None:
    struck: list[str] = []

    class Interrupted(type):
        def __setattr__(cls, name: str, value: Any) -> None:
            if not struck:
                struck.append(name)
                raise KeyboardInterrupt
            super().__setattr__(name, value)

    class Holder(metaclass=Interrupted):
        first = second = "stand-in"

    names = {"third": "stand-in"}
    others = tuple(Spot(Holder, name, "old", facts_of(name)) for name in ("first", "second"))
    with pytest.raises(KeyboardInterrupt):
        take_off(NOTHING._replace(modules=((names, {"third": "old"}),), others=others))
    assert [Holder.first, Holder.second, names["third"], struck] == ["old", "old", "old", ["second"]]
