"""Runs one suite in one mode, in processes of its own, to the end: one that dies or hangs is counted and replaced.

The tests write to the log themselves (:mod:`suites.plugin`). What is read here is which of them has begun: it is the
guilty one when the process ends too early, and when nothing happens for longer than a test may take.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from suites import records
from suites.records import CRASH, TIME, Log, Mode, Result

PROJECT = Path(__file__).resolve().parents[2]
STARTING = 300.0
"""Seconds in which a process must have imported and collected everything and begun its first test."""
POLL = 0.2
ENDED_WELL = (0, 1, 5)
"""pytest's exit codes for: passed, some failed, nothing to run."""


@dataclass(frozen=True)
class Job:
    """One suite in one mode."""

    mode: Mode
    root: Path
    """Where the suite lies."""
    tests: tuple[str, ...]
    """Files, folders or single tests, from the root."""
    log: Path
    paths: tuple[str, ...] = (".",)
    directory: str = "."
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    only: frozenset[str] | None = None
    """Run no other tests than these."""
    python: str = sys.executable
    """Another one than this: of ``forking.starting``."""
    part: int = 1
    report_every: int = 1
    limit: float = 60.0
    """Seconds that a test may take, with its fixtures and its report."""
    budget: float | None = None
    """Seconds after which the run is broken off; run again, it goes on from there."""


@dataclass(frozen=True)
class Ran:
    """How a run ended."""

    whole: bool
    """False when its budget was used up or it could not be run."""
    problem: str = ""
    """Why it could not be run: the end of what pytest said."""


def run(job: Job) -> Ran:
    """Runs what is not in the log yet."""
    job.log.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + job.budget if job.budget is not None else None
    _close(job.log, "interrupted")
    while True:
        done, _ = records.read(job.log)
        size = _size(job.log)  # before it begins: a forked one may be at its last test when it is first looked at
        process = _start(job, done)
        ending = _attend(process, job, until, size)
        _, unfinished = records.read(job.log)
        if ending == "budget":
            return Ran(whole=False)
        if ending == "limit":
            if unfinished is None:
                return Ran(whole=False, problem=f"no test began within {STARTING:.0f} s")
            _close(job.log, TIME, f"took longer than {job.limit:.0f} s")
        elif unfinished is not None:
            _close(job.log, CRASH, _death(process.returncode))
        else:
            well = process.returncode in ENDED_WELL
            return Ran(whole=well, problem="" if well else _tail(_output(job)))


def _start(job: Job, done: Iterable[str]) -> subprocess.Popen[bytes]:
    skip = job.log.with_suffix(".skip.json")
    records.write_names(skip, done)
    lists = ["--suite-skip", str(skip)]
    if job.only is not None:
        only = job.log.with_suffix(".only.json")
        records.write_names(only, job.only)
        lists += ["--suite-only", str(only)]
    command = [
        *(job.python, "-m", "pytest", "-p", "suites.plugin", "-p", "no:cacheprovider", "-p", "no:randomly"),
        *("-o", "addopts=", "-q", "--no-header", "--tb=no", "--continue-on-collection-errors"),
        *("--rootdir", str(job.root), "--suite-mode", job.mode, "--suite-log", str(job.log.resolve()), *lists),
        *("--suite-part", str(job.part), "--suite-report-every", str(job.report_every)),
        *job.arguments,
        *(str(job.root / test) for test in job.tests),
    ]
    with _output(job).open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=job.root / job.directory,
            env=_environment(job),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # what a test starts can be ended with it
        )


def _environment(job: Job) -> dict[str, str]:
    own = [str(job.root / path) for path in job.paths]
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    # This project's tests/ last: the suite's own modules have the right of way, whatever they are called.
    path = [*own, *(folder for folder in given if folder), str(PROJECT), str(PROJECT / "tests")]
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        **({"PYTHONHASHSEED": "0"} if job.python == sys.executable else {}),  # forked ones have one in common
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "",
        **job.environment,
        "PYTHONPATH": os.pathsep.join(path),
    }


def _attend(process: subprocess.Popen[bytes], job: Job, until: float | None, size: int) -> str:
    """``ended``, ``limit`` or ``budget``, by whether the log grows beyond its size; in the end no process is left."""
    began, since = False, time.monotonic()
    try:
        while True:
            try:
                process.wait(POLL)
                return "ended"
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            if until is not None and now > until:
                return "budget"
            grown = _size(job.log)
            if grown != size:
                began, size, since = True, grown, now
            elif now - since > (job.limit if began else STARTING):
                return "limit"
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _close(log: Path, outcome: str, why: str = "") -> None:
    """Ends the record of the test that is open, if one is. ``interrupted`` ones are forgotten and run again."""
    _, unfinished = records.read(log)
    if unfinished is None or outcome == "interrupted":
        return
    where = " after its body, in the report or in a fixture" if unfinished.body_over else ""
    Log(log).ended(Result(unfinished.test, outcome, entered=True, error=f"{why}{where}"))


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _death(code: int) -> str:
    if code >= 0:
        return f"the process ended with exit code {code}"
    try:
        return f"the process died of {signal.Signals(-code).name}"
    except ValueError:
        return f"the process died of signal {-code}"


def _output(job: Job) -> Path:
    return job.log.with_suffix(".out")


def _tail(path: Path, count: int = 30) -> str:
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])
