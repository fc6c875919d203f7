"""A test that differs is run again, alone: only what differs then too, and only under a watch, is the watch's doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from suites import driver, records
from suites.compare import OUTCOME, Difference, differing
from suites.driver import Job
from suites.records import CRASH, TIME, YARDSTICK, Mode, Result

Verdict = Literal["the watch", "any mode", "unsteady", "only in company"]
"""``any mode``: a mode that does nothing makes the same difference. ``unsteady``: two plain runs differ. ``only in
company``: alone it is the same, so another test, or a busy machine, has a part in it."""


def confirm(job: Job, difference: Difference) -> Verdict:
    """Who makes a difference that was seen in a whole run.

    Args:
        job: the run in which it was seen.
        difference: the test and both its records.
    """
    alone: Mapping[str, Result | None] = {
        name: _alone(job, difference.test, mode, name)
        for name, mode in (
            ("plain", "plain"),
            ("again", "plain"),
            ("watched", job.mode),
            ("empty", YARDSTICK.get(job.mode, "plain")),
        )
    }
    return judge(alone["plain"], alone["again"], alone["watched"], alone["empty"])


def judge(plain: Result | None, again: Result | None, watched: Result | None, empty: Result | None) -> Verdict:
    """The same from four records; None stands for a test that could not be run alone."""
    if plain is None or again is None or watched is None or empty is None:
        return "unsteady"
    changed = _outcomes(plain, watched)
    if not changed:
        return "only in company"
    if changed <= _outcomes(plain, again):
        return "unsteady"
    if watched.outcome not in (CRASH, TIME) and not _outcomes(watched, empty):
        return "any mode"
    return "the watch"


def _outcomes(one: Result, other: Result) -> set[str]:
    return set(differing(one, other)) & set(OUTCOME)


def _alone(job: Job, test: str, mode: Mode, name: str) -> Result | None:
    log = job.log.with_suffix(f".{name}.jsonl")
    log.unlink(missing_ok=True)
    file = test.partition("::")[0]
    tests = (file,) if (job.root / file).is_file() else job.tests  # no other file has to be collected
    driver.run(replace(job, mode=mode, log=log, only=frozenset({test}), part=1, tests=tests, budget=None))
    results, _ = records.read(log)
    return results.get(test)
