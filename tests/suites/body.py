"""Runs the body of one test in one mode and notes what it left behind.

The body alone: fixtures, ``setUp`` and collection are done before, outside the mode.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from empty_modes import EmptyDispatchMode, EmptyFunctionMode
from no_harm.snapshots import seed_everything
from suites.records import Finding, Mode, masked

import inplace_magic
from inplace_magic.report import Report

LOOKED_AT = 500
"""Reports of at most so many calls are also rendered and saved; longer ones would take most of the run's time."""


@dataclass
class Notes:
    """What is known of a body once it is over; the plugin makes a record of it."""

    entered: bool = False
    error: str | None = None
    cause: str | None = None
    traceback: tuple[str, ...] = ()
    random: tuple[str, ...] = ()
    modes_left: tuple[int, int] = (0, 0)
    cpu_seconds: float = 0.0
    report_seconds: float | None = None
    calls: int | None = None
    findings: tuple[Finding, ...] = ()
    faults: tuple[str, ...] = ()
    blindness: tuple[str, ...] = ()


def run_body(
    body: Callable[[], Any],
    mode: Mode,
    notes: Notes,
    *,
    namespace: Mapping[str, Any],
    report: bool,
    left: Callable[[], None],
) -> Any:
    """The result of the body, or its error, with everything else in `notes`.

    Args:
        body: what pytest would call.
        mode: what lies around it.
        notes: filled in.
        namespace: the globals of the test, where names of tensors are looked up.
        report: whether to make the watch's report, which takes longer than many a body.
        left: told when the body is over and the report is not begun.
    """
    watch = inplace_magic.watch(level=mode) if mode in ("calls", "ops") else None
    error: BaseException | None = None
    seed_everything()
    before = _stacks()
    notes.entered = True
    try:
        with _around(mode, watch, sys._getframe()):
            started = time.process_time()
            try:
                return body()
            except BaseException as raised:
                error = raised
                raise
            finally:
                notes.cpu_seconds = time.process_time() - started
    finally:
        after = _stacks()
        notes.modes_left = (after[0] - before[0], after[1] - before[1])
        notes.random = _random_digests()
        if error is not None:
            _note_error(notes, error)
        left()
        if watch is not None and report:
            _note_report(notes, watch, namespace, error)
        del error


@contextlib.contextmanager
def _around(mode: Mode, watch: inplace_magic.watch | None, frame: FrameType) -> Iterator[None]:
    if watch is not None:
        watch.start(frame=frame)
        try:
            yield
        finally:
            watch.leave()
    elif mode == "empty-function":
        with EmptyFunctionMode():
            yield
    elif mode == "empty-dispatch":
        with EmptyDispatchMode():
            yield
    else:
        yield


def _stacks() -> tuple[int, int]:
    return torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()


def _random_digests() -> tuple[str, ...]:
    states = [str(torch.get_rng_state().tolist()), str(random.getstate())]
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        states.append(str([part.tolist() if hasattr(part, "tolist") else part for part in numpy.random.get_state()]))
    return tuple(hashlib.sha1(state.encode()).hexdigest()[:12] for state in states)


def _note_error(notes: Notes, error: BaseException) -> None:
    notes.error = _told(error)
    behind = error.__cause__ or error.__context__
    notes.cause = None if behind is None else _told(behind)
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename != __file__:
            frames.append(f"{Path(code.co_filename).name}:{code.co_name}")
        traceback = traceback.tb_next
    notes.traceback = tuple(frames)


def _told(error: BaseException) -> str:
    try:
        return masked(f"{type(error).__name__}: {error}")
    except Exception as fault:  # the error belongs to somebody else's test, and so may its __str__
        return f"{type(error).__name__}, whose text raises {type(fault).__name__}"


def _note_report(
    notes: Notes, watch: inplace_magic.watch, namespace: Mapping[str, Any], error: BaseException | None
) -> None:
    started = time.process_time()
    try:
        report = watch.stop(namespace=namespace, error=error)
    except Exception as fault:  # this is what is looked for
        notes.faults = (f"no report: {_told(fault)}",)
        return
    notes.report_seconds = time.process_time() - started
    faults = [masked(fault) for fault in report.faults]
    if len(report.calls) <= LOOKED_AT:
        faults += _faults_of_looking(report)
    if _random_digests() != notes.random:
        faults.append("making the report drew random numbers")
    notes.faults = tuple(faults)
    notes.calls = len(report.calls)
    notes.findings = tuple(_finding(hazard) for hazard in report.hazards)
    notes.blindness = tuple(masked(sentence) for sentence in report.blindness[:10])


def _faults_of_looking(report: Report) -> list[str]:
    faults = []
    for look in (report.to_text, lambda: Report.from_json(report.to_json())):
        try:
            look()
        except Exception as fault:  # this is what is looked for
            faults.append(f"the report cannot be shown: {_told(fault)}")
    return faults


def _finding(hazard: Any) -> Finding:
    site = hazard.mutation or hazard.read or hazard.saved or hazard.origin
    place = "unknown" if site is None else f"{Path(site.file or 'cell').name}:{site.line}"
    return Finding(hazard.code, hazard.severity, masked(hazard.message), place, hazard.raised)
