"""``inplace_magic.why()`` explains the failure of an unwatched script, in its ``except`` or later."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import TypeVar

from inplace_magic.answering.asked import answer_of, last_error
from inplace_magic.errors import CompareError, CopyError, error_text
from inplace_magic.hazards import Hazard
from inplace_magic.language import _, language
from inplace_magic.proving.bench import Bench
from inplace_magic.proving.prove import proven
from inplace_magic.record.blindness import NOT_WATCHED, RAN_AGAIN
from inplace_magic.record.origin import Origin
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report
from inplace_magic.rerun.blocks import RaisingLines, raising_lines
from inplace_magic.rerun.guard import Repeated

_ALIKE = 80
"""Number of characters that identify an error's text."""
_MOST_ROUNDS = 50
"""Earlier statements or cells that are taken in one after the other."""
Again = TypeVar("Again", bound=Origin)


def why(error: BaseException | None = None, *, allowed: bool = False) -> Report:
    """Return the report of an unwatched failure, with tried fixes.

    In the ``except`` that handles the error, the lines of its ``try`` run again, watched, on copies of their variables'
    present values, after the statements above that built the graph. Elsewhere, as in a debugger, the statement of your
    outermost function in the traceback runs again. Your variables, gradients, generators and files stay as they are. If
    the lines cannot run, or fail differently, the report comes from what the error left, as by
    :func:`inplace_magic.answer`, and ``report.blindness`` says so.

    Args:
        error: the error; None: the one being handled, else the last unhandled one.
        allowed: let the lines use files, processes and the network again.

    Raises:
        CompareError: there is no error, or nothing explains it; the text says why.

    Example:
        >>> try:
        ...     train()
        ... except RuntimeError:
        ...     print(inplace_magic.why().to_text())
    """
    raised = error or last_error()
    if raised is None:
        raise CompareError(_("No error is being handled, and none was left unhandled: there is nothing to explain."))
    try:
        report, reason = _run_again(raised, sys._getframe(1), allowed=allowed)
    except CompareError as refused:
        report, reason = None, str(refused)
    return report if report is not None else _told_by_what_is_left(raised, reason)


def _run_again(raised: BaseException, asker: FrameType, *, allowed: bool) -> tuple[Report | None, str]:
    """Return the report of running the lines again; or None and the reason, if they fail differently."""
    reason = ""
    for block in raising_lines(raised.__traceback__, asker):
        try:
            report = _of_block(block, error_text(raised), allowed=allowed)
        except Repeated as stopped:
            reason = stopped.sentence
        except CompareError as refused:
            reason = str(refused)
        else:
            if report is not None:
                return report, ""
            reason = _("run again from what their variables hold now, they end otherwise")
    return None, reason


def _of_block(block: RaisingLines, text: str, *, allowed: bool) -> Report | None:
    """Return the report of running some lines again; None if they do not raise the error.

    Raises:
        CompareError: they cannot be run again.
        Repeated: they were about to act outside the copies.
    """
    report, block = watched_again(block, block.frame, _wider, allowed=allowed)
    if not fails_alike(report, text):
        return None
    first, last = block.lines
    sentence = RAN_AGAIN.format(first=first, last=last)
    report = replace(report, trace=replace(report.trace, blindness=(*report.trace.blindness, sentence)))
    return proven(report, block.frame, allowed=allowed)


def watched_again(
    program: Again, frame: FrameType | None, wider: Callable[[Again, CopyError], Again], *, allowed: bool
) -> tuple[Report, Again]:
    """Return the report of a program that runs again, and the program with what it needs to make what cannot be copied.

    Args:
        program: what shall run.
        frame: see :meth:`.Origin.begun`.
        wider: returns a program with what made something that cannot be copied before it, or raises that error.
        allowed: allow files, commands and the network again.

    Raises:
        CompareError: it cannot be run again.
        Repeated: it was about to act outside the copies.
    """
    for _round in range(_MOST_ROUNDS):
        try:
            with program.begun(frame) as staged:
                report = Bench(staged, Trace(), allowed=allowed).watched({})
            return replace(report, origin=program), program
        except CopyError as refused:
            program = wider(program, refused)
    raise CompareError(_("Too much of what ran before would have to run again."))


def fails_alike(report: Report, error: str | None) -> bool:
    """True if a program ended by this error, as far as known."""
    now = report.trace.error
    return error is None or (now is not None and now.startswith(error[:_ALIKE]))


def _wider(block: RaisingLines, refused: CopyError) -> RaisingLines:
    """Return the lines and the statement above them that binds the uncopyable value.

    Raises:
        CopyError: no statement binds it.
    """
    above = block.binding(refused.variable) if refused.variable is not None else None
    if above is None:
        raise refused
    return replace(block, above=above)


def _told_by_what_is_left(raised: BaseException, reason: str) -> Report:
    found = answer_of(raised)
    if found is None:
        text = _("The lines cannot run again: {reason}. And the error's graph and text show no cause.")
        raise CompareError(text.format(reason=reason.rstrip(".")))
    advice = _(
        "Run the lines from the forward pass on again within `with inplace_magic.watch() as w:`; `w.report` names the "
        "line that wrote."
    )
    hazard = Hazard(
        code=found.code,
        severity="error",
        message=found.message,
        fix=found.fix or advice,
        variable=found.variable,
        mutation=found.mutation,
        saved=found.saved,
        saved_by=found.saved_by,
        expected_version=found.expected_version,
        found_version=found.found_version,
        raised=True,
    )
    trace = Trace(error=found.error, blindness=(NOT_WATCHED, *found.limits), framework=found.framework)
    return Report(trace, (hazard,), language())
