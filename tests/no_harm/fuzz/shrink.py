"""A disagreeing cell, cut down to the statements that it takes."""

from __future__ import annotations

from no_harm.fuzz.cells import HELPERS, Cell, smaller
from no_harm.fuzz.judge import judge


def cut_down(cell: Cell, level: str = "calls", rounds: int = 400) -> Cell:
    """A smaller cell with a disagreement that begins with the same words.

    Args:
        cell: one that disagrees.
        level: of the watch.
        rounds: how many smaller cells are tried at most.
    """
    wanted = _beginnings(cell, level)[0]
    tried = 0
    again = True
    while again:
        again = False
        for candidate in smaller(cell):
            tried += 1
            if tried > rounds:
                return cell
            if wanted in _beginnings(candidate, level):
                cell, again = candidate, True
                break
    return cell


def _beginnings(cell: Cell, level: str) -> list[str]:
    return [
        "".join(letter for letter in text if not letter.isdigit())[:24] for text in judge(cell, level).disagreements
    ]


def numbered(cell: Cell) -> str:
    """The cell's text with its line numbers, without the helpers."""
    lines = enumerate(cell.source().splitlines(), 1)
    return "\n".join(f"{number:4} {line}" for number, line in lines if number == 1 or number > 1 + HELPERS.count("\n"))
