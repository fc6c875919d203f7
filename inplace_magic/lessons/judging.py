"""The answers that many exercises give, made from a run of the learner's own code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from inplace_magic.language import _
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.telling import calls_that_write, findings_of, what_happened
from inplace_magic.report import Report
from inplace_magic.source.shells import cells_so_far, running_shell
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
    shell = running_shell()
    watching = watch()
    watching.start(frame=_asking())
    result, error = None, None
    try:
        result = function(*inputs)
    except Exception as raised:  # the learner's error is part of the answer
        error = raised
    finally:
        namespace = shell.user_ns if shell is not None else {}
        report = watching.stop(namespace=namespace, cells=cells_so_far(), error=error)
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


def right(*sentences: str) -> Feedback:
    """A right answer, and what makes it one."""
    return Feedback("right", _("Right."), sentences)


def wrong(*sentences: str, run: Attempt | None = None) -> Feedback:
    """A wrong answer.

    Args:
        sentences: what is wrong, with the facts of the report.
        run: the run of the learner's code; its findings follow the sentences, and what its lines did.
    """
    if run is None:
        return Feedback("wrong", _("Not yet."), sentences)
    return Feedback("wrong", _("Not yet."), (*sentences, *findings_of(run.report)), what_happened(run.report))


def numbers_of(tensor: Any) -> str:
    """The values of a tensor, to three digits, for a sentence; "`None`" for none."""
    if tensor is None:
        return "`None`"
    rounded = (tensor.detach().double() * 1000).round() / 1000 + 0.0
    return f"`{rounded.tolist()}`"


def raised(run: Attempt) -> Feedback:
    """The learner's code raised: the finding that explains it, else the error itself."""
    found = findings_of(run.report)
    kind = type(run.error).__name__
    if found:
        return wrong(_("Your code raised a `{kind}`, and this is why.").format(kind=kind), run=run)
    text = str(run.error).strip().splitlines()
    first = f"{kind}: {text[0]}" if text else kind
    return wrong(_("Your code raised `{error}`.").format(error=first), run=run)


class NotYet(Exception):
    """Ends a judge early, with what is said of the answer."""

    def __init__(self, feedback: Feedback) -> None:
        super().__init__(feedback)
        self.feedback = feedback


def succeeded(run: Attempt) -> Attempt:
    """The run, unless it raised.

    Raises:
        NotYet: it did.
    """
    if run.error is not None:
        raise NotYet(raised(run))
    return run


def run_of_program(program: Callable[[], Any]) -> Attempt:
    """A run that wrote a tensor and returned its variables by name.

    Raises:
        NotYet: it did something else.
    """
    run = succeeded(attempt(program))
    if not isinstance(run.result, dict) or not calls_that_write(run.report):
        text = _("`program` was changed: it must write a tensor in place and return its variables by name.")
        raise NotYet(wrong(text, run=run))
    return run


def refuse_strangers(functions: Sequence[Callable[..., Any]], answer: Collection[str]) -> None:
    """Look for names in an answer that are not among the functions.

    Raises:
        NotYet: there is one.
    """
    names = [function.__name__ for function in functions]
    strange = sorted({str(each) for each in answer} - set(names))
    if strange:
        text = _("There is no function `{name}` here; there are {names}.")
        raise NotYet(wrong(text.format(name=strange[0], names=", ".join(f"`{name}`" for name in names))))
