"""Under the lanes of the timeline: which line each call stands in, and how many calls each gap stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from inplace_magic.language import _
from inplace_magic.render.excerpt import source_name
from inplace_magic.render.markup import esc
from inplace_magic.render.timeline import words as say
from inplace_magic.render.timeline.measure import fitting, width
from inplace_magic.render.timeline.places import LEFT, TOP, Places
from inplace_magic.render.timeline.shapes import SHAPES

_T = TypeVar("_T")

ROW = 16
"""Height of a row of the axis."""


def axis_height(places: Places) -> int:
    """How far it reaches below the lanes."""
    return ROW * (2 if _has_several_sources(places) else 1)


def axis(places: Places, bottom: int) -> str:
    """Lines of code under their calls, as the tables name them, and under these their cells or files where there are
    several; neighbours that are alike share a label."""
    columns = places.columns
    parts = [
        f'<path class="i" d="M{LEFT} {bottom}H{places.right}"/>',
        f'<text class="q" x="10" y="{bottom + 14}">{esc(_("line"))}</text>',
    ]
    names = ["" if column.gap or column.site is None else source_name(column.site) for column in columns]
    lines = ["" if column.gap else say.of_line(column.site) for column in columns]
    end = 0.0
    for start, stop, (_name, line) in _alike(list(zip(names, lines, strict=True)), places):
        x, half = (start + stop) / 2, width(line, 11) / 2
        if line and x - half > end:
            parts.append(f'<text class="a" x="{x:g}" y="{bottom + 14}">{esc(line)}</text>')
            end = x + half + 3
        if line and stop - start > places.step:
            parts.append(f'<path class="t" d="M{start + 2} {bottom + 3}H{stop - 2}"/>')
    if _has_several_sources(places):
        for start, stop, name in _alike(names, places):
            label = fitting(name, stop - start - 4, 10)
            if name and label not in ("", "…"):
                title = f"<title>{esc(name)}</title>" if label != name else ""
                parts.append(
                    f'<text class="v" x="{(start + stop) / 2:g}" y="{bottom + 14 + ROW}">{title}{esc(label)}</text>'
                )
    for column, x in zip(columns, places.middles, strict=True):
        if column.error is not None:
            error = SHAPES["raised"].at(x, bottom)
            parts.append(f'<g class="m me" data-c="{column.first}"><title>{esc(column.error[:80])}</title>{error}</g>')
    return "".join(parts)


def _has_several_sources(places: Places) -> bool:
    return len({(column.site.cell, column.site.file) for column in places.columns if column.site is not None}) > 1


def _alike(texts: Sequence[_T], places: Places) -> Iterable[tuple[int, int, _T]]:
    """Left and right edge of each run of neighbours that are alike, and what they are."""
    left, start = LEFT, 0
    for end in range(1, len(texts) + 1):
        if end == len(texts) or texts[end] != texts[start]:
            right = left + sum(places.widths[start:end])
            yield left, right, texts[start]
            left, start = right, end


def gaps(places: Places, bottom: int) -> str:
    """A line for each gap, and what it stands for."""
    found = [gap for gap in zip(places.columns, places.middles, places.widths, strict=True) if gap[0].gap]
    lines = "".join(f"M{x} {TOP}V{bottom}" for _column, x, _room in found)
    parts = [f'<path class="y" d="{lines}"/>'] if found else []
    for column, x, room in found:
        text = say.of_gap(column)
        label = fitting(f"⋯ {text}", room, 10)
        shown = label if label.endswith(text) else f"<title>{esc(text)}</title>⋯"
        parts.append(f'<text class="v" x="{x}" y="{bottom + 14}">{shown}</text>')
    return "".join(parts)
