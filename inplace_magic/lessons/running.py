"""Running a learner's function under a watch, on tensors of the exercise, so that the report can explain the answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from IPython import get_ipython

from inplace_magic.report import Report
from inplace_magic.source.shells import cell_numbers
from inplace_magic.watching.api import watch


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a learner's function."""

    report: Report
    result: Any
    error: Exception | None
    """What it raised."""


def attempt(function: Callable[..., Any], *inputs: Any) -> Attempt:
    """Runs the function on these inputs under a watch; what it raises is kept and not raised.

    Raises:
        InplaceMagicError: another watch is running on this thread.
    """
    shell = get_ipython()
    watching = watch()
    watching.start(frame=_asking())
    result, error = None, None
    try:
        result = function(*inputs)
    except Exception as raised:  # the learner's error is part of the answer
        error = raised
    finally:
        report = watching.stop(
            namespace=shell.user_ns if shell is not None else {},
            cells=cell_numbers(shell) if shell is not None else {},
            error=error,
        )
    return Attempt(report, result, error)


def attempt_with_backward(function: Callable[..., Any], *inputs: Any) -> Attempt:
    """As :func:`attempt`, with backward from the sum of the result."""

    def forward_and_backward() -> Any:
        result = function(*inputs)
        result.sum().backward()
        return result

    return attempt(forward_and_backward)


def _asking() -> FrameType:
    """The frame of the learner's cell, which called the check: chains of callers end there, and not in this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__package__ or ""):
        frame = frame.f_back
    return frame
