"""One program as a watched cell and as a file under ``with watch():``, for promises that hold for both."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cells import run_cell
from hazards.running import IMPORTS, plainly, watched

from inplace_magic.hazards import Hazard
from inplace_magic.report import Report

ALARM = ("error", "silent", "warning")


@dataclass(frozen=True)
class Told:
    """What the two reports of one program say."""

    plain: Exception | None
    """What the program raises without us."""
    names: dict[str, Any]
    """Its namespace without us."""
    reports: tuple[Report, Report]

    @property
    def alarms(self) -> list[list[tuple[str, str]]]:
        """(code, guilty statement) of each finding but notes, as a cell and as a file."""
        return [
            [(h.code, h.mutation.text if h.mutation is not None else "") for h in report.hazards if h.severity in ALARM]
            for report in self.reports
        ]

    @property
    def codes(self) -> list[set[str]]:
        """The codes of all findings but notes, as a cell and as a file."""
        return [{code for code, _text in alarms} for alarms in self.alarms]

    def blamed(self, code: str) -> set[str | None]:
        """What the one finding of that code says that wrote: one statement, where cell and file agree."""
        return {finding.mutation.statement if finding.mutation is not None else None for finding in self.the(code)}

    def the(self, code: str) -> list[Hazard]:
        """The one finding of that code, as a cell and as a file."""
        found = [[hazard for hazard in report.hazards if hazard.code == code] for report in self.reports]
        assert [len(each) for each in found] == [1, 1], [report.to_text() for report in self.reports]
        return [each[0] for each in found]


def told(shell: Any, folder: Path, program: str) -> Told:
    """Runs a program plainly, as a cell and as a file; all three must end alike, and no rule may fail."""
    plain, file = plainly(folder, program), watched(folder, program)
    assert str(plain.error) == str(file.error)
    run_cell(shell, IMPORTS)
    body = textwrap.dedent(program).strip("\n")
    cell = run_cell(shell, f"%%inplace_watch -o report\n{body}")
    assert str(cell.error) == str(plain.error)
    report = shell.user_ns["report"]
    assert report.faults == []
    return Told(plain.error, plain.names, (report, file.report))
