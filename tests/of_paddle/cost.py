"""What a watch of Paddle costs: ``python tests/of_paddle/cost.py``. Medians of process CPU time, interleaved runs."""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

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


def measure(name: str, step: Callable[[], None], runs: int) -> None:
    """Prints one line."""
    step()
    plain, watched, calls = [], [], 0
    for _ in range(runs):
        begin = time.process_time()
        step()
        plain.append(time.process_time() - begin)
        session = Sessions(WatchOptions())
        session.start(sys._getframe())
        begin = time.process_time()
        step()
        watched.append(time.process_time() - begin)
        session.leave()
        calls = session.recorded
        session.let_go()
    before, after = statistics.median(plain), statistics.median(watched)
    print(f"{name}: {calls} calls, {before * 1e3:.1f} ms plain, {after / before:.2f} times watched")


def main() -> None:
    """Prints both figures."""
    warnings.simplefilter("ignore")
    paddle.seed(0)
    measure("50 x (Linear(16) + relu_)", step_of(Small(), paddle.randn([8, 16])), 25)
    measure("ResNet-18", step_of(paddle.vision.models.resnet18(), paddle.randn([2, 3, 224, 224])), 4)


if __name__ == "__main__":
    main()
