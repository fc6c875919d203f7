"""What a watch of Paddle costs: ``.venv-paddle/bin/python benchmarks/paddle_cost.py``, as ratios within one run.

Medians of process CPU time of interleaved runs. Besides the watch, three prototypes say what no recorder in Python can
go below: stand-ins that do nothing; stand-ins that read of each tensor the least that a record needs (of inputs the
version and the address; of results shape, strides, dtype and the address of the node) and keep none of it; and
stand-ins that ask for all that the report is made from (also the chain of callers, the allocator, weak references and
the bytes of small inputs) and put it into tuples, without a rule of ours about any of it.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from inplace_magic.capture.callsite import CallsiteTable
from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle.memory import Memory
from inplace_magic.capture.paddle.reach import PADDLE_FRAMES
from inplace_magic.capture.paddle.spots import Spot, put_on, spots, take_off, wardrobe_of
from inplace_magic.capture.paddle.traits import LEAF_SINK
from inplace_magic.capture.sessions import Sessions
from inplace_magic.record.options import WatchOptions


class Small(nn.Layer):
    """Fifty tiny layers, which are nothing but overhead."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(16, 16) for _ in range(50)])

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = F.relu_(layer(x))
        return x


def step_of(net: Any, data: Any) -> Callable[[], None]:
    """One training step."""
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())

    def step() -> None:
        net(data).mean().backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def empty(spot: Spot) -> Any:
    """A stand-in that does nothing."""
    original = spot.original

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    return stand_in


def reading(spot: Spot) -> Any:
    """A stand-in that reads the least that a record needs, and keeps nothing."""
    original = spot.original

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        given = describe.tensors_in(args, [])
        for tensor in given:
            tensor._inplace_version(), tensor.data_ptr(), tensor.stop_gradient
        result = original(*args, **kwargs)
        for tensor in describe.tensors_in((result,), []) if result is not None else ():
            tensor.shape, tensor.strides, tensor.offset, tensor.dtype, tensor.data_ptr(), tensor._inplace_version()
            node = None if tensor.stop_gradient else tensor.grad_fn
            if node is not None:
                node.name(), node.node_ptr()
                for behind in node.next_functions:
                    if behind is not None:
                        behind.node_ptr()
        for tensor in given:
            tensor._inplace_version()
        return result

    return stand_in


def gathering() -> Callable[[Spot], Any]:
    """Stand-ins that ask for all facts and keep them as they come."""
    sites, memory, kept = CallsiteTable(PADDLE_FRAMES), Memory(), []
    sites.begin_at(sys._getframe(1))
    dead: list[Any] = []

    def facts(tensor: Any) -> Any:
        first, node = tensor.data_ptr(), None if tensor.stop_gradient else tensor.grad_fn
        behind = ()
        if node is not None and node.name() != LEAF_SINK:
            behind = (node.node_ptr(), *[one.node_ptr() for one in node.next_functions if one is not None])
        layout = tensor.shape, tensor.strides, tensor.offset, tensor.dtype, tensor._holder_size()
        return weakref.ref(tensor, dead.append), first, tensor._inplace_version(), layout, behind

    def of(spot: Spot) -> Any:
        original = spot.original

        def stand_in(*args: Any, **kwargs: Any) -> Any:
            given = describe.tensors_in(args, [])
            place = sites.note(sys._getframe(1))
            before = [(id(one), one._inplace_version(), one.data_ptr(), one.stop_gradient) for one in given]
            memory.read(0)
            result = original(*args, **kwargs)
            made = describe.tensors_in((result,), []) if result is not None else []
            bytes_of = [ctypes.string_at(one.data_ptr(), 512) for one in given if one._holder_size() >= 512][:2]
            after = [one._inplace_version() for one in given]
            kept.append((spot.facts, place, before, after, list(map(facts, made)), bytes_of))
            return result

        return stand_in

    return of


def seconds(step: Callable[[], None]) -> float:
    """Process CPU time of a step."""
    begin = time.process_time()
    step()
    return time.process_time() - begin


def under(stand_in: Callable[[Spot], Any], step: Callable[[], None]) -> float:
    """The same under stand-ins."""
    found = wardrobe_of(tuple(spot for spot in spots() if spot.kind == "function"))
    put_on(found, stand_in)
    try:
        return seconds(step)
    finally:
        take_off(found)


def measure(name: str, step: Callable[[], None], runs: int) -> None:
    """Prints one line."""
    step()
    times: dict[str, list[float]] = {}
    calls = 0
    for _ in range(runs):
        session = Sessions(WatchOptions())
        plain = seconds(step)
        bare, read, asked = under(empty, step), under(reading, step), under(gathering(), step)
        session.start(sys._getframe())
        first = seconds(step)
        calls = session.recorded
        later = seconds(step)
        session.leave()
        session.let_go()
        for key, value in (
            ("plain", plain),
            ("bare", bare),
            ("read", read),
            ("asked", asked),
            ("first", first),
            ("later", later),
        ):
            times.setdefault(key, []).append(value)
    medians = {key: statistics.median(found) for key, found in times.items()}
    ratios = {key: medians[key] / medians["plain"] for key in medians}
    print(
        f"{name}: {calls} calls, {medians['plain'] * 1e3:.1f} ms plain; watched {ratios['first']:.2f} times, in later "
        f"steps {ratios['later']:.2f}; empty stand-ins {ratios['bare']:.2f}, reading and keeping nothing "
        f"{ratios['read']:.2f}, keeping all facts as they come {ratios['asked']:.2f}",
        flush=True,
    )


def main() -> None:
    """Prints both figures."""
    warnings.simplefilter("ignore")
    paddle.seed(0)
    measure("50 x (Linear(16) + relu_)", step_of(Small(), paddle.randn([8, 16])), 25)
    measure("ResNet-18", step_of(paddle.vision.models.resnet18(), paddle.randn([2, 3, 224, 224])), 4)


if __name__ == "__main__":
    main()
