"""What the parts of a watch of Paddle cost on tiny layers: ``.venv-paddle/bin/python benchmarks/paddle_parts.py``.

The forward pass of fifty tiny layers, a hundred calls, is watched as it is and with one part left out at a time. A part
is printed as microseconds of process CPU time a call; the parts overlap, since what is left out is not looked at
further. Besides, how long Paddle's own C++ functions take between stand-ins that do nothing, and within a watch.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import paddle
import paddle.nn.functional as F
from paddle_cost import Small, empty

from inplace_magic.capture.paddle import describe
from inplace_magic.capture.paddle import recorder as recording
from inplace_magic.capture.paddle.looking import Looks
from inplace_magic.capture.paddle.memory import Memory
from inplace_magic.capture.paddle.nodes import NodeMap
from inplace_magic.capture.paddle.spots import put_on, spots, take_off, wardrobe_of
from inplace_magic.capture.sessions import Sessions
from inplace_magic.record.options import WatchOptions

PARTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "the allocator's counters": (Memory, "read", lambda self, call: None),
    "the chain of callers": (recording.Recorder, "_note_site", lambda self, frame: 0),
    "what stands behind a new node": (NodeMap, "_read_behind", lambda self, *args: None),
    "what a node keeps": (recording, "note_saves", lambda *args: True),
    "of that, the bytes of small tensors": (describe, "content", lambda *args: None),
    "nodes altogether": (Looks, "_number", lambda self, *args: 1),
}
RUNS = 25
PASSES = 6
CLOCKED = ("linear", "relu_")


@contextmanager
def watching() -> Iterator[Sessions]:
    """A watch of the caller."""
    session = Sessions(WatchOptions())
    session.start(sys._getframe(2))
    try:
        yield session
    finally:
        session.leave()
        session.let_go()


def forward_of(net: Any, data: Any) -> Callable[[], Any]:
    """The hundred calls."""

    def forward() -> Any:
        x = data
        for layer in net.layers:
            x = F.relu_(layer(x))
        return x

    return forward


def microseconds(forward: Callable[[], Any]) -> list[float]:
    """Of a call, in several passes."""
    found = []
    for _ in range(PASSES):
        begin = time.thread_time()
        kept = forward()
        end = time.thread_time()
        del kept
        found.append((end - begin) * 1e4)
    return found


def parts(forward: Callable[[], Any]) -> None:
    """Prints what each part costs."""
    times: dict[str, list[float]] = {name: [] for name in ("plain", "watched", *PARTS)}
    for _ in range(RUNS):
        times["plain"] += microseconds(forward)
        with watching():
            forward()
            times["watched"] += microseconds(forward)
        for name, (owner, attribute, nothing) in PARTS.items():
            with watching():
                forward()
                before = getattr(owner, attribute)
                setattr(owner, attribute, nothing)
                try:
                    times[name] += microseconds(forward)
                finally:
                    setattr(owner, attribute, before)
    medians = {name: statistics.median(found) for name, found in times.items()}
    print(f"a call: {medians['plain']:.1f} us plain, {medians['watched']:.1f} watched; left out, saves")
    for name in PARTS:
        print(f"    {medians['watched'] - medians[name]:5.1f} us  {name}")


def inside(forward: Callable[[], Any]) -> None:
    """Prints how long Paddle's own functions take."""
    found: dict[tuple[str, str], list[float]] = {}
    around = ""

    def clocked(name: str, original: Any) -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            begin = time.perf_counter_ns()
            result = original(*args, **kwargs)
            found.setdefault((around, name), []).append((time.perf_counter_ns() - begin) / 1e3)
            return result

        return function

    real = tuple(spot for spot in spots() if spot.kind == "function" and spot.name in CLOCKED)
    slow = tuple(spot._replace(original=clocked(spot.name, spot.original)) for spot in real)
    clocks, without = wardrobe_of(slow), wardrobe_of(real)
    for _ in range(RUNS):
        around = "nothing"
        put_on(clocks, empty)
        try:
            forward()
        finally:
            take_off(without)
        around = "a watch"
        with watching() as session:
            probe = session._paddle._probe if session._paddle is not None else None
            if probe is not None:
                put_on(clocks, probe.stand_in)
            forward()
    for name in CLOCKED:
        plain, watched = (statistics.median(found[around, name]) for around in ("nothing", "a watch"))
        print(f"Paddle's `{name}` itself: {plain:.1f} us, {watched:.1f} within a watch")


def main() -> None:
    """Prints all figures."""
    warnings.simplefilter("ignore")
    paddle.seed(0)
    forward = forward_of(Small(), paddle.randn([8, 16]))
    forward()
    parts(forward)
    inside(forward)


if __name__ == "__main__":
    main()
