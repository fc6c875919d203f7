"""What is compared: nothing, the empty modes, our two levels, and other tools at the same work.

A variant runs one training step, or only the forward pass where its tool can do no more, and gives the seconds that
this took. Making a report is not part of it, except where the tool's result is made as it goes.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import torch
from empty_modes import EmptyDispatchMode, EmptyFunctionMode
from IPython.core.interactiveshell import InteractiveShell
from loops import Loop
from traitlets.config import Config
from workloads import Workload

import inplace_magic

Part = Literal["step", "forward"]


@dataclass(frozen=True)
class Variant:
    """One row of the table."""

    name: str
    run: Callable[[Any], float]
    """Gives seconds, of a :class:`Workload` or a :class:`Loop`."""
    part: Part = "step"
    package: str | None = None
    """What must be installed."""
    needs_model: bool = False
    """It asks for more than a step that runs."""
    apart: bool = False
    """It slows down what runs after it: it gets a process of its own."""

    @property
    def installed(self) -> bool:
        return self.package is None or version_of(self.package) is not None

    def fits(self, workload: Workload | Loop) -> bool:
        """Whether it can run this workload."""
        return isinstance(workload, Workload) or not (self.needs_model or self.part == "forward")


def version_of(package: str) -> str | None:
    """The installed version; None: not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _step_in(context: Callable[[], AbstractContextManager[Any]]) -> Callable[[Workload | Loop], float]:
    def run(workload: Workload | Loop) -> float:
        with context():
            return _timed(workload.step)

    return run


@contextmanager
def _both_empty() -> Iterator[None]:
    with EmptyDispatchMode(), EmptyFunctionMode():
        yield


@contextmanager
def _watched(level: str) -> Iterator[None]:
    watch = inplace_magic.watch(level=level)
    watch.start(frame=sys._getframe(2))  # that of the `with`, where callers end for people, too
    try:
        yield
    finally:
        watch.leave()


@contextmanager
def _armed() -> Iterator[None]:
    """The extension is loaded, and nothing is watched."""
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    inplace_magic.load_ipython_extension(shell)
    try:
        yield
    finally:
        inplace_magic.unload_ipython_extension(shell)


def _debug_mode() -> AbstractContextManager[Any]:
    from torch.utils._debug_mode import DebugMode

    mode: AbstractContextManager[Any] = DebugMode()
    return mode


def _profiler() -> AbstractContextManager[Any]:
    return torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True, profile_memory=True, record_shapes=True
    )


def _torchlens(workload: Workload) -> float:
    import torchlens

    return _timed(lambda: torchlens.trace(workload.model, workload.x))


def _torchview(workload: Workload) -> float:
    from torchview import draw_graph

    return _timed(lambda: draw_graph(workload.model, input_data=workload.x, depth=10))


def _torchviz(workload: Workload) -> float:
    from torchviz import make_dot

    parameters = dict(workload.model.named_parameters())
    return _timed(lambda: workload.step(lambda loss: make_dot(loss, params=parameters)))


VARIANTS: tuple[Variant, ...] = (
    Variant("plain", _step_in(nullcontext)),
    Variant("extension loaded, nothing watched", _step_in(_armed)),
    Variant("empty function mode", _step_in(EmptyFunctionMode)),
    Variant("watch, level writes", _step_in(lambda: _watched("writes"))),
    Variant("watch, level calls", _step_in(lambda: _watched("calls"))),
    Variant("empty function and dispatch modes", _step_in(_both_empty)),
    Variant("watch, level ops", _step_in(lambda: _watched("ops"))),
    Variant("anomaly mode", _step_in(lambda: torch.autograd.detect_anomaly(check_nan=False))),
    Variant("torch's DebugMode", _step_in(_debug_mode)),
    Variant("profiler with stacks, shapes, memory", _step_in(_profiler), apart=True),
    Variant("torchviz", _torchviz, package="torchviz", needs_model=True),
    Variant("plain, forward only", lambda workload: _timed(lambda: workload.model(workload.x)), part="forward"),
    Variant("torchview", _torchview, part="forward", package="torchview", apart=True),
    Variant("torchlens", _torchlens, part="forward", package="torchlens", apart=True),
)
"""The first of each part is what the others are compared with."""


def quietly(variant: Variant, workload: Workload | Loop) -> float:
    """Seconds of one run, without the warnings of the tool; torch's profiler writes some past Python."""
    with open(os.devnull, "w") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            return variant.run(workload)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
