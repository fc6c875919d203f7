"""Where everything of the timeline lies: columns, gaps and the heights of lanes; whole pixels, for fewer bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from unicodedata import east_asian_width

from inplace_magic.analysis.marks import Keeping
from inplace_magic.analysis.timeline import Column

NARROW, WIDE = "iljtfrI.,:;'|![]() -·", "mwMW@%…→⋯✗"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels of a text in one of the fonts of :mod:`.style`, at a font size in pixels."""
    return sum(map(_em, text)) * size * (1.08 if bold else 1)


def fitting(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return the text, or its beginning and an ellipsis where it is wider than `room` pixels; empty where nothing
    fits."""
    if width(text, size, bold=bold) <= room:
        return text
    text = text[: max(0, int(room / width(NARROW[0], size, bold=bold)))]  # more letters fit in no case
    while text and width(f"{text}…", size, bold=bold) > room:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""


@cache
def _em(letter: str) -> float:
    if letter in NARROW:
        return 0.36
    if letter in WIDE or east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF:
        return 1.0
    return 0.72 if letter.isupper() else 0.58


WIDTH, LEFT, RIGHT, TOP = 840, 172, 16, 46
SCALE = 4 / 3
"""Pixels of a unit, as in the picture of the graph, so that the letters of both are alike."""
WIDEST, NARROWEST, GAP = 90, 9, 16
"""Pixels of a column, at most and at least, and of a gap that has no label."""
BARS = 4
"""Bars below each other on a lane."""


@dataclass(frozen=True, slots=True)
class Places:
    """The columns of a picture."""

    columns: Sequence[Column]
    firsts: Sequence[int]
    middles: Sequence[int]
    step: int
    """Width of a column that is a call."""
    widths: Sequence[int]

    @property
    def right(self) -> int:
        """Where the last column ends."""
        return LEFT + sum(self.widths)

    @property
    def width(self) -> int:
        """Of the whole picture."""
        return max(WIDTH, self.right + RIGHT)

    def column(self, call: int) -> Column:
        """Return the column, or gap, that holds a call; for one between two columns, the one before."""
        return self.columns[max(0, bisect_right(self.firsts, call) - 1)]

    def x(self, call: int) -> int:
        """Return the middle of the column of a call."""
        return self.middles[max(0, bisect_right(self.firsts, call) - 1)]

    def before(self, call: int) -> int:
        """Between the column of a call and the one before it."""
        place = bisect_right(self.firsts, call) - 1
        return self.middles[place] - self.widths[place] // 2 if place >= 0 else LEFT

    def after(self, begun: int) -> float:
        """Where lies what happened when `begun` calls had begun: right of the last of them."""
        place = bisect_right(self.firsts, begun - 1) - 1
        return LEFT if place < 0 else self.middles[place] + round(self.widths[place] * 0.4)

    def end(self, keeping: Keeping) -> float:
        """Where the bar of a keeping ends."""
        if keeping.until is None:
            return self.right if keeping.end == "kept" else self.x(keeping.call) + self.step * 0.4
        return self.after(keeping.until) if keeping.end == "died" else self.x(keeping.until)


@dataclass(frozen=True, slots=True)
class Bar:
    """Keepings of one lane that begin and end in the same columns."""

    start: int
    end: float
    kept: tuple[Keeping, ...]


def places_of(columns: Sequence[Column], labels: Sequence[float]) -> Places:
    """Return the columns as wide as they can be.

    Args:
        labels: how wide the label of each gap is; 0 for a gap without one, and for a call.
    """
    gaps = [max(GAP, round(label) + 8) if column.gap else 0 for column, label in zip(columns, labels, strict=True)]
    calls = sum(not column.gap for column in columns)
    room = WIDTH - LEFT - RIGHT - sum(gaps)
    step = max(NARROWEST, min(WIDEST, room // max(calls, 1)))
    widths = [gap or step for gap in gaps]
    middles, x = [], LEFT
    for width in widths:
        middles.append(x + width // 2)
        x += width
    return Places(columns, [column.first for column in columns], middles, step, widths)


def stacked(kept: Sequence[Keeping], places: Places, first: int | None) -> list[list[Bar]]:
    """Return the bars of a lane on as few levels as they fit on without overlap; those beyond ``BARS`` levels are left
    out.

    Args:
        first: index of the call whose keeping comes first, because a finding is about it.
    """
    same: dict[tuple[int, float], list[Keeping]] = {}
    for keeping in sorted(kept, key=lambda keeping: (keeping.call != first, keeping.call)):
        same.setdefault((places.x(keeping.call), places.end(keeping)), []).append(keeping)
    levels: list[list[Bar]] = []
    for (start, end), keepings in same.items():
        bar = Bar(start, end, tuple(keepings))
        for level in levels:
            if all(start >= other.end + 4 or other.start >= end + 4 for other in level):
                level.append(bar)
                break
        else:
            if len(levels) < BARS:
                levels.append([bar])
    return levels
