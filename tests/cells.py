"""Running cells in a shell of this process, with all that they print and display kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from IPython.utils.capture import capture_output

REPORT_WORDS = "What this watch could not see"
"""Stands in every report's text, and in no user's output here."""


@dataclass(frozen=True)
class Ran:
    """One cell's outcome."""

    result: Any
    out: str
    err: str
    displays: list[dict[str, Any]]

    @property
    def error(self) -> BaseException | None:
        return self.result.error_before_exec or self.result.error_in_exec

    @property
    def reports(self) -> list[dict[str, Any]]:
        """The displays that are reports."""
        return [data for data in self.displays if REPORT_WORDS in data.get("text/plain", "")]

    @property
    def answers(self) -> list[str]:
        """The displays that are answers to an unwatched failure, as text."""
        texts = [data.get("text/plain", "") for data in self.displays]
        return [text for text in texts if text.startswith("inplace_magic: ")]


def run_cell(shell: Any, text: str, **settings: Any) -> Ran:
    """Runs a cell as a notebook does, into the history."""
    with capture_output() as captured:
        result = shell.run_cell(text, **{"store_history": True, **settings})
    return Ran(result, captured.stdout, captured.stderr, [output.data for output in captured.outputs])
