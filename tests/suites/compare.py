"""Two logs of one suite, plain and in another mode -> what is the same, what is not, and what was found."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from suites.records import CRASH, TIME, Finding, Mode, Result

OUTCOME = ("outcome", "error", "cause", "random", "modes_left")
"""A test whose record agrees in these has the same outcome."""
BESIDES = ("warnings", "traceback", "output")
"""Compared too, and counted apart: texts with times in them differ between any two runs."""
WEIGHTY = ("error", "silent", "warning")
LONG_ENOUGH = 0.005
"""Seconds of a plain body from which on the time of the watched one says something."""


@dataclass(frozen=True)
class Difference:
    """One test that is not the same."""

    test: str
    what: tuple[str, ...]
    plain: Result
    watched: Result


@dataclass(frozen=True)
class Comparison:
    """One suite in one mode, against its plain run."""

    suite: str
    mode: Mode
    compared: tuple[str, ...]
    differences: tuple[Difference, ...]
    """Other outcomes, without crashes and without those that took too long."""
    besides: tuple[Difference, ...]
    crashes: tuple[Difference, ...]
    too_long: tuple[Difference, ...]
    faults: tuple[tuple[str, str], ...]
    findings: tuple[tuple[str, Finding], ...]
    """On tests that pass in both runs."""
    reports: int
    slowdowns: tuple[float, ...]
    report_seconds: tuple[float, ...]

    @property
    def same(self) -> int:
        """Tests with the same outcome."""
        return len(self.compared) - len(self.differences) - len(self.crashes) - len(self.too_long)


def compare(suite: str, mode: Mode, plain: Mapping[str, Result], watched: Mapping[str, Result]) -> Comparison:
    """What differs between two runs, over the tests that can be compared."""
    pairs = [(before, watched[name]) for name, before in plain.items() if name in watched and comparable(before)]
    differences, besides, crashes, too_long = [], [], [], []
    for before, after in pairs:
        what = differing(before, after)
        difference = Difference(before.test, what, before, after)
        if after.outcome == CRASH:
            crashes.append(difference)
        elif after.outcome == TIME:
            too_long.append(difference)
        elif set(what) & set(OUTCOME):
            differences.append(difference)
        elif what:
            besides.append(difference)
    return Comparison(
        suite,
        mode,
        compared=tuple(before.test for before, _ in pairs),
        differences=tuple(differences),
        besides=tuple(besides),
        crashes=tuple(crashes),
        too_long=tuple(too_long),
        faults=tuple((after.test, fault) for _, after in pairs for fault in after.faults),
        findings=tuple(
            (after.test, finding)
            for before, after in pairs
            if before.outcome == after.outcome == "passed"
            for finding in after.findings
        ),
        reports=sum(after.calls is not None for _, after in pairs),
        slowdowns=tuple(
            after.cpu_seconds / before.cpu_seconds
            for before, after in pairs
            if before.cpu_seconds >= LONG_ENOUGH and after.cpu_seconds
        ),
        report_seconds=tuple(after.report_seconds for _, after in pairs if after.report_seconds is not None),
    )


def comparable(plain: Result) -> bool:
    """Whether the body ran to its end unwatched; one that skips itself says nothing."""
    return plain.entered and plain.outcome not in (CRASH, TIME, "skipped")


def differing(one: Result, other: Result) -> tuple[str, ...]:
    """The parts of two records that are not the same."""
    return tuple(part for part in (*OUTCOME, *BESIDES) if getattr(one, part) != getattr(other, part))


HEAD = (
    "| suite | level | compared | same outcome | crashes | too long | other outcome | faults | reports"
    " | error / silent / warning on passing tests | info | slowdown median / p95 | report median / max s |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def row(comparison: Comparison) -> str:
    """One line of the table under :data:`HEAD`."""
    count = Counter(finding.severity for _, finding in comparison.findings)
    cells = (
        comparison.suite,
        comparison.mode,
        len(comparison.compared),
        comparison.same,
        len(comparison.crashes),
        len(comparison.too_long),
        len(comparison.differences),
        len(comparison.faults),
        comparison.reports,
        " / ".join(str(count[severity]) for severity in WEIGHTY),
        sum(count.values()) - sum(count[severity] for severity in WEIGHTY),
        _middle_and(comparison.slowdowns, _p95, 1),
        _middle_and(comparison.report_seconds, max, 2),
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def _p95(values: tuple[float, ...]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def _middle_and(values: tuple[float, ...], end: object, digits: int) -> str:
    if not values:
        return "–"
    return f"{statistics.median(values):.{digits}f} / {end(values):.{digits}f}"  # type: ignore[operator]


def details(comparison: Comparison) -> str:
    """Everything that is not as it should be, test by test, and every finding that wants to be judged."""
    lines = [f"\n## {comparison.suite}, {comparison.mode}"]
    for title, differences in (
        ("Crashes", comparison.crashes),
        ("Too long", comparison.too_long),
        ("Other outcome", comparison.differences),
        ("Same outcome, but not the same", comparison.besides),
    ):
        if differences:
            lines.append(f"\n### {title}: {len(differences)}")
        for difference in differences:
            lines.append(f"* {difference.test}")
            known = ("outcome", "error") if difference.watched.outcome in (CRASH, TIME) else difference.what
            lines += [_change(part, difference) for part in known]
    if comparison.faults:
        lines.append(f"\n### Faults: {len(comparison.faults)}")
        lines += [f"* {test}: {fault}" for test, fault in comparison.faults]
    judged = [(test, finding) for test, finding in comparison.findings if finding.severity in WEIGHTY]
    if judged:
        lines.append(f"\n### To be judged: {len(judged)}")
        lines += [f"* {test}\n  {f.severity} {f.code} at {f.place}: {f.message}" for test, f in judged]
    return "\n".join(lines)


def _change(part: str, difference: Difference) -> str:
    before, after = getattr(difference.plain, part), getattr(difference.watched, part)
    return f"    {part}: {_short(before)}\n      became {_short(after)}"


def _short(value: object, length: int = 600) -> str:
    text = repr(value)
    return text if len(text) <= length else f"{text[:length]}…"
