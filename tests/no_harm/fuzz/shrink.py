"""A disagreeing cell, cut down to the statements that it takes."""

from __future__ import annotations

from no_harm.fuzz.cells import HELPERS, Cell, smaller
from no_harm.fuzz.judge import Verdict, judge


def cut_down(cell: Cell, level: str = "calls", rounds: int = 400) -> Cell:
    """A smaller cell with a disagreement that begins with the same words."""
    wanted = _kind(judge(cell, level))
    tried = 0
    again = True
    while again:
        again = False
        for candidate in smaller(cell):
            tried += 1
            if tried > rounds:
                return cell
            if wanted in _kinds(judge(candidate, level)):
                cell, again = candidate, True
                break
    return cell


def _kind(verdict: Verdict) -> str:
    return _kinds(verdict)[0]


def _kinds(verdict: Verdict) -> list[str]:
    return ["".join(letter for letter in text if not letter.isdigit())[:24] for text in verdict.disagreements]


def numbered(cell: Cell) -> str:
    """The cell's text with its line numbers, without the helpers."""
    lines = enumerate(cell.source().splitlines(), 1)
    return "\n".join(f"{number:4} {line}" for number, line in lines if number == 1 or number > 1 + HELPERS.count("\n"))
