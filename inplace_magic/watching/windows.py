"""The parts of a long run that are watched, one report each.

A watch with a schedule, or one that was paused, has gaps, and what the program did there is not known. So no finding
reaches over a gap: each part is a watch of its own. A gradient that was cleared in a gap would look like one that
nobody clears, if the two sides of it were told as one story.

At the end of a part nothing is over yet: a graph that nobody went backward through may never be. So what a part says of
the future waits, until the error comes in a later part.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from inplace_magic.hazards import SEVERITIES, Hazard
from inplace_magic.report import Report
from inplace_magic.watching.news import News, is_of_the_future


@dataclass(slots=True)
class Windows:
    """What is kept of the parts that are over: the reports with something new, bounded by what can be found."""

    count: int = 0
    """How many parts there were."""
    found: list[Report] = field(default_factory=list)
    """Of those in which something was found, worst finding first, each finding in the first report that has it."""
    news: News = field(default_factory=News)
    _last: Report | None = None

    def close(self, report: Report) -> None:
        """Takes in the report of a part that ended, with more of the run to come."""
        self.count += 1
        self._last = report
        fresh = self.news.of(report)
        if fresh:
            self._keep(replace(report, findings=_first(fresh, report)))

    def end(self, report: Report | None) -> Report | None:
        """Return the report that tells most of the run: of its error, else of the worst finding, else of the last part.

        Args:
            report: of the part that was open when the run ended; None where none was.
        """
        if report is None:
            return self.found[0] if self.found else _without_the_future(self._last)
        before, self._last = self._last, report
        self.count += 1
        if report.trace.error is not None:
            if _names_the_writer(report) or before is None or not _names_the_writer(before):
                return report
            return replace(before, trace=replace(before.trace, error=report.trace.error))
        fresh = self.news.of(report)
        if fresh or not self.found:
            self._keep(report)
        return self.found[0]

    def _keep(self, report: Report) -> None:
        self.found.append(report)
        self.found.sort(key=_badness)


def _first(fresh: list[Hazard], report: Report) -> tuple[Hazard, ...]:
    """Return the new findings, then the notes."""
    notes = (finding for finding in report.findings if finding.severity == "info")
    return (*fresh, *(note for note in notes if not is_of_the_future(note)))


def _badness(report: Report) -> int:
    return min((SEVERITIES.index(finding.severity) for finding in report.findings), default=len(SEVERITIES))


def _names_the_writer(report: Report) -> bool:
    told = (each for each in report.findings if each.severity == "error" or is_of_the_future(each))
    return any(finding.mutation is not None for finding in told)


def _without_the_future(report: Report | None) -> Report | None:
    return None if report is None else replace(report, findings=_first([], report))
