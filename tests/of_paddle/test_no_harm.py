"""The watched Paddle program is the user's program, bit for bit."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import paddle
import paddle.nn as nn
import paddle.nn.functional as F
import pytest

import inplace_magic
from inplace_magic.capture.paddle import recorder as recording
from inplace_magic.capture.paddle.spots import spots

IN_PLACE = sorted(
    name
    for name in dir(paddle.Tensor)
    if name.endswith("_") and not name.startswith("_") and hasattr(paddle.Tensor, name[:-1])
)
OTHER_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("add_", "subtract_", "multiply_", "divide_", "remainder_", "mod_", "pow_"), ("other",)),
    **dict.fromkeys(("floor_divide_", "floor_mod_", "hypot_", "copysign_", "gcd_", "lcm_", "ldexp_"), ("other",)),
    **{name: ([2, 8],) for name in ("reshape_", "view_")},
    "clip_": (0.2, 0.8),
    "transpose_": ([1, 0],),
    "cast_": ("float64",),
    "unsqueeze_": (0,),
    "lerp_": ("other", 0.5),
    "masked_fill_": ("mask", 0.5),
    "scale_": (2.0,),
    "cumprod_": (0,),
    "addmm_": ("other", "other"),
}


def outcome(program: Callable[[], dict[str, Any]], *, watched: bool) -> tuple[Any, ...]:
    """Everything that a program leaves: values, gradients, versions, random state, error and traceback."""
    paddle.seed(7)
    error = None
    kept: dict[str, Any] = {}
    try:
        if watched:
            with inplace_magic.watch() as w:
                kept = program()
            assert w.report is not None
            assert w.report.faults == []
        else:
            kept = program()
    except Exception as raised:
        entries = traceback.extract_tb(raised.__traceback__)
        mine = (__file__, inplace_magic.__file__.removesuffix("__init__.py"))
        library = [(entry.filename, entry.lineno) for entry in entries if not entry.filename.startswith(mine)]
        ours = [entry.filename for entry in entries if entry.filename.startswith(mine[1])]
        error = type(raised).__name__, str(raised), library, ours
    facts = {}
    for name, value in kept.items():
        grad = value.grad
        facts[name] = (
            value.numpy().tobytes(),
            str(value.dtype),
            list(value.shape),
            list(value.strides),
            value.inplace_version,
            None if grad is None else grad.numpy().tobytes(),
            "" if value.grad_fn is None else value.grad_fn.name(),
        )
    return facts, error, paddle.rand([3]).numpy().tobytes()


def same_with_and_without(program: Callable[[], dict[str, Any]]) -> None:
    """Both runs in one process: names of tensors are counted on, so a leaf that is refused has none here."""
    assert outcome(program, watched=False) == outcome(program, watched=True)


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_method_that_writes_in_place_does_the_same(name: str) -> None:
    def program() -> dict[str, Any]:
        x = paddle.rand([4, 4]) * 0.5 + 0.2
        x.stop_gradient = False
        y = x * 1.0
        named = {"other": paddle.rand([4, 4]) + 0.5, "mask": paddle.rand([4, 4]) > 0.5}
        arguments = [named.get(a, a) if isinstance(a, str) else a for a in OTHER_ARGUMENTS.get(name, ())]
        result = getattr(y, name)(*arguments)
        if isinstance(result, paddle.Tensor) and not result.stop_gradient:
            result.sum().backward()
        return {"x": x, "y": y}

    same_with_and_without(program)


def lenet() -> tuple[Any, Any]:
    net = nn.Sequential(
        *(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(4, 8, 3), nn.BatchNorm2D(8), nn.Sigmoid()),
        *(nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(8, 3)),
    )
    return net, paddle.rand([2, 1, 12, 12])


def mobile() -> tuple[Any, Any]:
    return paddle.vision.models.mobilenet_v2(scale=0.25, num_classes=4), paddle.rand([2, 3, 32, 32])


def residual() -> tuple[Any, Any]:
    return paddle.vision.models.resnet18(num_classes=4), paddle.rand([2, 3, 32, 32])


def shuffle() -> tuple[Any, Any]:
    return paddle.vision.models.shufflenet_v2_x0_25(num_classes=4), paddle.rand([2, 3, 32, 32])


class Recurrent(nn.Layer):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.inner, self.head = kind(4, 5), nn.Linear(5, 2)

    def forward(self, x: Any) -> Any:
        out, _state = self.inner(x)
        return self.head(out[:, -1])


def lstm() -> tuple[Any, Any]:
    return Recurrent(nn.LSTM), paddle.rand([2, 3, 4])


def gru() -> tuple[Any, Any]:
    return Recurrent(nn.GRU), paddle.rand([2, 3, 4])


def transformer() -> tuple[Any, Any]:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2), paddle.rand([2, 5, 8])


def autoencoder() -> tuple[Any, Any]:
    net = nn.Sequential(nn.Linear(6, 3), nn.LayerNorm(3), nn.GELU(), nn.Linear(3, 6), nn.Softmax())
    return net, paddle.rand([4, 6])


def upsampling() -> tuple[Any, Any]:
    net = nn.Sequential(nn.Conv2D(1, 4, 3), nn.GroupNorm(2, 4), nn.Hardswish(), nn.Conv2DTranspose(4, 1, 3))
    return net, paddle.rand([1, 1, 8, 8])


MODELS = (lenet, mobile, residual, shuffle, lstm, gru, transformer, autoencoder, upsampling)
OPTIMIZERS = (paddle.optimizer.SGD, paddle.optimizer.Momentum, paddle.optimizer.Adam, paddle.optimizer.AdamW)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_healthy_model_trains_to_the_same_bits_and_nothing_is_found(model: Any) -> None:
    def train(*, watched: bool) -> tuple[list[bytes], dict[str, bytes], Any]:
        paddle.seed(3)
        net, data = model()
        optimizer = OPTIMIZERS[MODELS.index(model) % len(OPTIMIZERS)](0.01, parameters=net.parameters())
        losses = []

        def steps() -> None:
            for _ in range(2):
                loss = net(data).square().mean()
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                losses.append(loss.numpy().tobytes())

        report = None
        if watched:
            with inplace_magic.watch() as w:
                steps()
            report = w.report
        else:
            steps()
        return losses, {name: value.numpy().tobytes() for name, value in net.state_dict().items()}, report

    plain, watched = train(watched=False), train(watched=True)
    assert plain[:2] == watched[:2]
    report = watched[2]
    assert report.faults == []
    assert [finding.code for finding in report.hazards if finding.severity != "info"] == []
    assert len(report.calls) > 10


def test_an_error_that_leaves_the_block_has_its_own_traceback_and_none_of_our_frames() -> None:
    def program() -> dict[str, Any]:
        x = paddle.ones([2])
        x.stop_gradient = False
        y = F.sigmoid(x)
        y.add_(paddle.ones([2]))
        y.sum().backward()
        return {}

    plain, watched = outcome(program, watched=False), outcome(program, watched=True)
    assert plain[1] is not None
    assert plain[1][3] == []
    assert plain == watched


def test_a_custom_layer_of_gradients_does_the_same() -> None:
    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensor()
            return 3 * x * x * grad

    def program() -> dict[str, Any]:
        x = paddle.rand([3])
        x.stop_gradient = False
        y = Cube.apply(x)
        y.sum().backward()
        return {"x": x, "y": y}

    same_with_and_without(program)
    assert "apply" not in vars(paddle.autograd.PyLayer)


def test_hooks_and_recorded_gradients_do_the_same() -> None:
    def program() -> dict[str, Any]:
        x = paddle.rand([3])
        x.stop_gradient = False
        y = x * x
        y.register_hook(lambda grad: grad * 2.0)
        (first,) = paddle.grad(y.sum(), x, create_graph=True)
        (first * x).sum().backward()
        return {"x": x, "first": first}

    same_with_and_without(program)


@pytest.mark.parametrize("place", ["open", "close"])
def test_a_fault_of_ours_leaves_the_program_alone(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def faulty(*args: Any, **kwargs: Any) -> Any:
        raise LookupError("on purpose")

    x = paddle.ones([2])
    monkeypatch.setattr(recording.Recorder, place, faulty)
    with inplace_magic.watch() as w:
        y = x * 2.0
    assert y.tolist() == [2.0, 2.0]
    assert w.report is not None
    assert any("on purpose" in fault for fault in w.report.faults)


def spot_objects() -> Iterator[Any]:
    for spot in spots():
        yield vars(spot.holder).get(spot.name)


@pytest.mark.parametrize("seconds", [0.002, 0.01, 0.03, 0.08])
def test_after_an_interrupt_every_attribute_is_the_old_object(seconds: float) -> None:
    before = list(map(id, spot_objects()))
    x = paddle.rand([8, 8])

    def watched() -> None:
        threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]).start()
        with inplace_magic.watch():
            while True:
                F.relu_(x * 1.0 + 1.0).sum()

    before_that = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):  # on a busy computer it strikes before the watch begins
            watched()
    finally:
        signal.signal(signal.SIGINT, before_that)
    assert list(map(id, spot_objects())) == before
    assert type(vars(paddle.Tensor)["data"]).__name__ == "getset_descriptor"


def test_other_threads_are_not_recorded_and_do_their_work() -> None:
    done: list[Any] = []
    with inplace_magic.watch() as w:
        thread = threading.Thread(target=lambda: done.append((paddle.ones([2]) * 3.0).tolist()))
        thread.start()
        thread.join()
    assert done == [[3.0, 3.0]]
    assert w.report is not None
    assert w.report.calls == []


def test_a_watch_keeps_no_tensor_alive() -> None:
    import weakref

    with inplace_magic.watch() as w:
        x = paddle.ones([4])
        gone = weakref.ref(x * 2.0)
        assert gone() is None
        kept = weakref.ref(x)
    del x
    assert kept() is None
    assert w.report is not None


def test_static_programs_are_built_as_unwatched() -> None:
    @paddle.jit.to_static(full_graph=True)
    def double(x: Any) -> Any:
        return F.relu(x) * 2.0

    x = paddle.to_tensor([-1.0, 2.0])
    with inplace_magic.watch() as w:
        y = double(x)
    assert y.tolist() == [0.0, 4.0]
    assert w.report is not None
    assert w.report.faults == []


class Refuses(paddle.autograd.PyLayer):
    """A layer whose backward raises."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2.0

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        raise KeyError("mine")


def a_hook_raises() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2.0
    y.register_hook(lambda grad: grad.matmul(paddle.ones([3, 3])))
    y.sum().backward()


def a_hook_raises_in_grad() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2.0
    y.register_hook(lambda grad: 1 / 0)
    paddle.grad(y.sum(), x)


def a_layer_raises() -> None:
    Refuses.apply(paddle.to_tensor([1.0], stop_gradient=False)).sum().backward()


def a_backward_within_backward_raises() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 2.0
    y.register_hook(lambda grad: a_layer_raises())
    y.sum().backward()


@pytest.mark.parametrize(
    "program", [a_hook_raises, a_hook_raises_in_grad, a_layer_raises, a_backward_within_backward_raises]
)
def test_the_text_that_paddle_makes_of_running_frames_names_none_of_ours(program: Callable[[], None]) -> None:
    told = []
    for watch in (contextlib.nullcontext(), inplace_magic.watch()):  # one line for both: it stands in the text
        with watch, pytest.raises(Exception, match="At:") as raised:
            program()
        assert raised.value.args == (str(raised.value),)
        told.append((raised.type, re.sub(r"0x[0-9a-f]+", "…", str(raised.value))))
    assert "inplace_magic/capture" not in told[1][1]
    assert told[0] == told[1]
