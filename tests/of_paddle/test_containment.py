"""Whatever fails in the room for Paddle, the user's results and errors stay, all comes off, and the report says it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import paddle
import paddle.nn.functional as F
import pytest

import inplace_magic
import inplace_magic.capture.paddle as room
from inplace_magic.capture.paddle.spots import spots

BOUNDARY = {
    "spots.take_off": "takes the stand-ins off",
    "session.PaddleSession.leave": "takes the stand-ins off",
    "session.PaddleSession.abandon": "runs in a forked child",
    "session.PaddleSession.let_go": "runs when the report is made",
    "probe.Probe._watching": "makes what runs the user's call",
    "probe.Probe._end": "contains what fails after a call",
    "probe.Probe._note": "contains what fails as a gradient is read or cleared",
    "recorder.Recorder.drop": "lets go of a call whose closing failed",
}
"""What may raise, and why."""


class Injected(LookupError):
    """A fault that no code of ours expects."""


def targets() -> Iterator[tuple[str, FunctionType]]:
    """Every function of the room, by a short name."""
    for found in pkgutil.iter_modules(room.__path__):
        module = importlib.import_module(f"{room.__name__}.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                yield f"{found.name}.{name}", value
            elif inspect.isclass(value) and value.__module__ == module.__name__:
                for attribute, member in vars(value).items():
                    if isinstance(member, FunctionType) and member.__module__ == module.__name__:
                        yield f"{found.name}.{name}.{attribute}", member


TARGETS = {name: function for name, function in targets() if name not in BOUNDARY and not function.__closure__}


def program() -> list[Any]:
    """Views, hooks, in-place writes, an optimizer, a PyLayer, and an error in the end."""

    class Twice(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensor()
            return grad * 2.0 + x * 0.0

    paddle.seed(5)
    w = paddle.rand([3, 3])
    w.stop_gradient = False
    optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
    h = Twice.apply(F.sigmoid(w * 1.0))
    h.register_hook(lambda grad: grad * 3.0)
    h.square_()
    part = h[0:1]
    counts = paddle.zeros([4])
    counts[paddle.to_tensor([1, 1])] = 2.0
    (h.sum() + part.sum()).backward()
    optimizer.step()
    kept = w.grad
    optimizer.clear_grad()
    again = paddle.exp(w)
    again.scale_(2.0)
    text = ""
    try:
        again.sum().backward()
    except RuntimeError as error:
        text = str(error)
    return [text, *(one.numpy().tobytes() for one in (w, h, part, counts, kept)), h.inplace_version]


PLAIN: list[Any] = []


@pytest.mark.parametrize("name", TARGETS)
def test_a_fault_in_any_function_changes_nothing_and_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not PLAIN:
        PLAIN.extend(program())
        with inplace_magic.watch():
            program()  # what is computed once is computed
    function = TARGETS[name]
    reached: list[bool] = []
    before = [vars(spot.holder).get(spot.name) for spot in spots()]

    def broken(*args: Any, **kwargs: Any) -> Any:
        reached.append(True)
        raise Injected(name)

    _break(function, broken, monkeypatch)
    with inplace_magic.watch() as w:
        result = program()
    monkeypatch.undo()
    assert result == PLAIN
    assert all(vars(spot.holder).get(spot.name) is old for spot, old in zip(spots(), before, strict=True))
    assert w.report is not None
    if reached:
        assert any("Injected" in line for line in w.report.faults), w.report.faults


def _break(function: FunctionType, broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts `broken` wherever the function is called by its name."""
    for module in [one for name, one in sys.modules.items() if name.startswith("inplace_magic.capture")]:
        for name, value in list(vars(module).items()):
            if value is function:
                monkeypatch.setattr(module, name, broken)
            elif inspect.isclass(value) and vars(value).get(function.__name__) is function:
                monkeypatch.setattr(value, function.__name__, broken)
