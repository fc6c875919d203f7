"""A fixed sample of other people's suites, watched on every change: what it does unwatched it does watched.

einops ships its tests, and ``generated_tests.py`` has PyTorch's own framework make some. The whole table is
``make suites``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from forking.starting import python
from suites import driver, records
from suites.catalogue import SUITES
from suites.compare import OUTCOME, Comparison, compare, details, differing
from suites.driver import Job
from suites.records import CRASH, TIME, YARDSTICK, Mode, Result

HERE = Path(__file__).parent
SAMPLE = ("einops", "pytorch")
LEVELS: tuple[Mode, ...] = ("calls", "ops")
REPORT_EVERY = 3
LIMIT = 120.0
"""Seconds for one test, of which the longest takes five; other tests run at the same time."""


def job(suite: str, mode: Mode, folder: Path) -> Job:
    """One suite of the sample in one mode."""
    log = folder / f"{suite}.{mode}.jsonl"
    if suite == "pytorch":
        return Job(
            mode,
            HERE,
            ("generated_tests.py",),
            log,
            paths=(),
            environment={"FORKED_FROM": "torch.testing"},
            python=python(),
            report_every=REPORT_EVERY,
            limit=LIMIT,
        )
    known = SUITES[suite]
    root = known.root(None)
    if root is None:
        pytest.skip(f"{suite} is not here: {known.source}")
    environment = dict(known.environment)
    return Job(
        mode,
        root,
        known.tests,
        log,
        paths=(),
        arguments=("-k", "not torch_compile"),  # half a minute in a C++ compiler; tests/no_harm has compiled functions
        environment=environment,
        python=python(),
        report_every=REPORT_EVERY,
        limit=LIMIT,
    )


def records_of(suite: str, mode: Mode, folder: Path) -> dict[str, Result]:
    """Its records, from the log if it has been run."""
    log = folder / f"{suite}.{mode}.jsonl"
    if not log.exists():
        ran = driver.run(job(suite, mode, folder))
        assert ran == driver.Ran(whole=True)
    return records.read(log)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the logs of this module's runs lie."""
    return tmp_path_factory.mktemp("suites")


def changed_by_the_watch(suite: str, folder: Path, found: Comparison) -> list[str]:
    """The tests whose outcome differs, without those that a mode that does nothing changes in the same way."""
    differences = {difference.test: difference.watched for difference in found.differences}
    if not differences:
        return []
    empty = records_of(suite, YARDSTICK[found.mode], folder)
    return [
        test
        for test, watched in differences.items()
        if test not in empty or set(differing(watched, empty[test])) & set(OUTCOME)
    ]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("suite", SAMPLE)
def test_a_suite_has_the_same_outcomes_watched_and_nothing_of_ours_fails(suite: str, level: Mode, folder: Path) -> None:
    plain = records_of(suite, "plain", folder)
    found = compare(suite, level, plain, records_of(suite, level, folder))
    assert sum(result.outcome == "passed" for result in plain.values()) > 50
    assert [r.test for r in plain.values() if r.outcome in (CRASH, TIME)] == []
    assert len(found.compared) > 50
    assert [difference.test for difference in (*found.crashes, *found.too_long)] == [], details(found)
    assert changed_by_the_watch(suite, folder, found) == [], details(found)
    assert found.faults == ()


@pytest.mark.parametrize("suite", SAMPLE)
def test_nothing_is_said_against_a_suite_that_passes(suite: str, folder: Path) -> None:
    found = compare(suite, "calls", records_of(suite, "plain", folder), records_of(suite, "calls", folder))
    assert found.reports > 10
    said = [(test, finding.code) for test, finding in found.findings if finding.severity in ("error", "silent")]
    assert said == []
