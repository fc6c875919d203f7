"""The harness for other people's suites: it sees what differs, survives what dies, and blames nobody else."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from forking.starting import python
from suites import compare, driver, records
from suites.confirm import confirm, judge
from suites.driver import Job
from suites.records import Finding, Log, Mode, Result, masked
from suites.run import main

HERE = Path(__file__).parent
ODD = "odd_tests.py::"
PASSES = Result("t", "passed", entered=True, random=("a",))
UNUSED = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Plugins of pytest that happen to be installed; to load them takes a fifth of the time of a process here."""
DIES = Result("t", records.CRASH, entered=True, error="the process died of SIGSEGV")
FAILS = replace(PASSES, outcome="failed", error="ValueError: no")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The odd suite, copied out of this project, so that nothing of this project's configuration is about."""
    root = tmp_path_factory.mktemp("odd")
    shutil.copy(HERE / "tiny" / "odd_tests.py", root)
    log = root / "out" / "odd.plain.jsonl"
    return Job("plain", root, ("odd_tests.py",), log, arguments=UNUSED, python=python(), limit=5)


@pytest.fixture(scope="module")
def logs(job: Job) -> Mapping[str, Mapping[str, Result]]:
    """The odd suite, run in each mode to the end; at ``ops`` without those that end a process, for time's sake."""
    found = {}
    plain: dict[str, Result] = {}
    modes: tuple[Mode, ...] = ("plain", "calls", "ops")
    for mode in modes:
        left_out = {"plain": (), "calls": ("always",), "ops": ("always", "dies", "exits", "hangs", "leaves")}[mode]
        only = frozenset(name for name in plain if not any(word in name for word in left_out)) if plain else None
        part = replace(job, mode=mode, log=job.log.with_name(f"odd.{mode}.jsonl"), only=only)
        assert driver.run(part) == driver.Ran(whole=True)
        found[mode], unfinished = records.read(part.log)
        assert unfinished is None
        plain = plain or found[mode]
    return found


def compared(logs: Mapping[str, Mapping[str, Result]], mode: Mode) -> compare.Comparison:
    return compare.compare("odd", mode, logs["plain"], logs[mode])


def changes(differences: tuple[compare.Difference, ...]) -> dict[str, tuple[str, ...]]:
    return {difference.test.removeprefix(ODD): difference.what for difference in differences}


def test_plain_outcomes_are_what_pytest_says(logs: Mapping[str, Mapping[str, Result]]) -> None:
    outcomes = {name.removeprefix(ODD): result.outcome for name, result in logs["plain"].items()}
    assert outcomes == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_of_a_size[1]": "passed",
        "test_of_a_size[2]": "passed",
        "test_sees_the_watch": "passed",
        "test_draws_another_number_when_watched": "passed",
        "test_warns_of_something_else_when_watched": "passed",
        "test_leaves_a_mode_when_watched": "passed",
        "test_dies_when_watched": "passed",
        "test_exits_when_watched": "passed",
        "test_hangs_when_watched": "passed",
        "test_dies_always": "crash",
        "test_is_different_each_time": "failed",
        "test_has_a_finding": "passed",
        "test_is_expected_to_fail": "xfailed",
        "test_is_async": outcomes["test_is_async"],
        "test_is_skipped": "skipped",
        "OldStyle::test_passes": "passed",
        "OldStyle::test_is_skipped_from_inside": "skipped",
        "OldStyle::test_runs_a_suite_inside": "passed",
        "OldStyle::test_sees_the_watch": "passed",
    }
    assert outcomes["test_is_async"] in ("skipped", "failed")  # which of them depends on pytest's version


@pytest.mark.parametrize("mode", ["calls", "ops"])
def test_each_difference_is_found_and_no_other(logs: Mapping[str, Mapping[str, Result]], mode: Mode) -> None:
    found = compared(logs, mode)
    left = {"test_leaves_a_mode_when_watched": ("modes_left",)} if mode == "calls" else {}
    assert changes(found.differences) == {
        "test_sees_the_watch": ("outcome", "error", "traceback"),
        "OldStyle::test_sees_the_watch": ("outcome", "error", "traceback"),
        "test_draws_another_number_when_watched": ("random",),
        "test_is_different_each_time": ("error",),
        **left,
    }
    assert changes(found.besides) == {"test_warns_of_something_else_when_watched": ("warnings",)}
    assert found.faults == ()
    assert len(found.compared) == {"calls": 17, "ops": 13}[mode]
    assert found.same == 9


def test_a_process_that_dies_is_counted_and_the_tests_behind_it_run(logs: Mapping[str, Mapping[str, Result]]) -> None:
    found = compared(logs, "calls")
    assert {d.test.removeprefix(ODD): d.watched.error for d in found.crashes} == {
        "test_dies_when_watched": "the process died of SIGSEGV",
        "test_exits_when_watched": "the process ended with exit code 3",
    }
    assert logs["plain"][f"{ODD}test_dies_always"].error == "the process died of SIGKILL"
    assert f"{ODD}OldStyle::test_sees_the_watch" in logs["calls"]


def test_a_test_that_hangs_is_ended_by_its_limit(logs: Mapping[str, Mapping[str, Result]]) -> None:
    found = compared(logs, "calls")
    assert {d.test.removeprefix(ODD): d.watched.error for d in found.too_long} == {
        "test_hangs_when_watched": "took longer than 5 s"
    }


@pytest.mark.parametrize("mode", ["calls", "ops"])
def test_findings_on_passing_tests_are_listed_with_their_place(
    logs: Mapping[str, Mapping[str, Result]], mode: Mode
) -> None:
    ((test, finding),) = compared(logs, mode).findings
    assert test == f"{ODD}test_has_a_finding"
    assert (finding.code, finding.severity, finding.raised) == ("saved-tensor-overwritten", "error", True)
    line = 1 + (HERE / "tiny" / "odd_tests.py").read_text().splitlines().index("    probs[0] = 0.0")
    assert finding.place == f"odd_tests.py:{line}"
    assert "To be judged: 1" in compare.details(compared(logs, mode))


def test_bodies_are_watched_and_fixtures_are_not(logs: Mapping[str, Mapping[str, Result]]) -> None:
    for name in ("test_passes", "OldStyle::test_passes", "test_of_a_size[1]"):
        result = logs["calls"][ODD + name]
        assert result.entered
        assert result.calls
        assert result.report_seconds is not None
        assert logs["plain"][ODD + name].calls is None


def test_a_run_goes_on_where_it_stopped(job: Job, tmp_path: Path) -> None:
    log = Log(tmp_path / "some.jsonl")
    done = replace(PASSES, test=f"{ODD}test_fails")
    log.ended(done)
    log.began(f"{ODD}test_passes")  # broken off here
    wanted = frozenset(f"{ODD}{name}" for name in ("test_fails", "test_passes"))
    assert driver.run(replace(job, log=log.path, only=wanted)).whole
    results, _ = records.read(log.path)
    assert results[f"{ODD}test_fails"] == done
    assert results[f"{ODD}test_passes"].outcome == "passed"


def test_a_suite_that_cannot_be_run_says_why(job: Job, tmp_path: Path) -> None:
    ran = driver.run(replace(job, log=tmp_path / "none.jsonl", tests=("nothing_here.py",)))
    assert not ran.whole
    assert "nothing_here.py" in ran.problem


def test_what_differs_is_run_again_alone_and_under_a_mode_that_does_nothing(
    job: Job, logs: Mapping[str, Mapping[str, Result]]
) -> None:
    watched = replace(job, mode="calls", log=job.log.with_name("odd.calls.jsonl"))
    (drawn,) = (d for d in compared(logs, "calls").differences if "draws" in d.test)
    assert confirm(watched, drawn) == "any mode"


@pytest.mark.parametrize(
    ("again", "watched", "empty", "verdict"),
    [
        (PASSES, PASSES, PASSES, "only in company"),
        (FAILS, FAILS, PASSES, "unsteady"),
        (PASSES, FAILS, FAILS, "any mode"),
        (PASSES, FAILS, PASSES, "the watch"),
        (PASSES, replace(FAILS, error="ValueError: yes"), FAILS, "the watch"),
        (PASSES, DIES, DIES, "the watch"),
        (PASSES, None, PASSES, "unsteady"),
    ],
)
def test_who_makes_a_difference(again: Result, watched: Result | None, empty: Result, verdict: str) -> None:
    assert judge(PASSES, again, watched, empty) == verdict


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<object at 0x7f12ab34cd56>", "<object at 0x…>"),
        ("took 1.5 s, or 12 seconds", "took … seconds, or … seconds"),
        ("in /tmp/pytest-of-root/x.pt", "in /tmp/…"),
        ("id=94873 at 12:30:01", "id=… at …:…"),
        ("Expected 3 but got 4 of 1234567.125", "Expected 3 but got 4 of 1234567.125"),
    ],
)
def test_only_what_differs_between_any_two_runs_is_masked(text: str, told: str) -> None:
    assert masked(text) == told


def test_a_record_survives_the_way_through_its_file(tmp_path: Path) -> None:
    full = replace(FAILS, findings=(Finding("code", "error", "…", "a.py:1", True),), faults=("é",), calls=3)
    Log(tmp_path / "log").ended(full)
    with (tmp_path / "log").open("a") as file:
        file.write('{"began": "half a li')  # a process died while it wrote
    assert records.read(tmp_path / "log") == ({"t": full}, None)


def test_the_command_prints_the_table(
    job: Job, logs: Mapping[str, Mapping[str, Result]], capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(job.log.parent)
    code = main(["odd", "--at", str(job.root), "--tests", "odd_tests.py", "--out", out, "--compare-only"])
    printed = capsys.readouterr().out
    assert code == 1
    assert "| odd | calls | 17 | 9 | 2 | 1 | 5 | 0 | 14 | 1 / 0 / 0 |" in printed
    assert "the process died of SIGSEGV" in printed
