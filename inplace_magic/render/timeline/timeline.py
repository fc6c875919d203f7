"""What happened to which tensor, as an SVG picture: storages as lanes, calls as columns, a mark for each event.

What scripts can rely on, and nothing else:

- the root is ``<svg class="im-tracks" data-cs="0 3 4 …" data-xs="180 212 …">``: for each column, in order, the index of
  its first call and its x; call ``c`` belongs to the last column that does not begin after it.
- ``<g class="l" data-s="4">``: the lane of storage ``S4`` (without ``data-s``: a tensor that has none), with its marks.
- ``<g class="m …" data-c="12" data-k="T4@v1">``: a mark: the index of its call, and the vertex that it has in the
  graph, where there is one; ``data-t="4"`` is its tensor, where the vertex does not tell it. ``<title>`` says it all.
- ``<rect class="now" visibility="hidden" x="…" width="…">``: the cursor; set ``x`` to a column's x less half the width.
- ``<rect class="card">``: the light ground under it all; the picture keeps it in dark themes.
- no ids; coordinates are those of the ``viewBox``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from inplace_magic.analysis.lanes import Lane, lanes_of
from inplace_magic.analysis.timeline import Column, Timeline, timeline_of
from inplace_magic.hazards import Hazard
from inplace_magic.language import _, ngettext
from inplace_magic.render import style
from inplace_magic.render.excerpt import source_name
from inplace_magic.render.markup import esc
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline import words as say
from inplace_magic.render.timeline.lane import LIFE, Crime, LaneDrawing
from inplace_magic.render.timeline.places import LEFT, RIGHT, SCALE, TOP, Places, fitting, places_of, width
from inplace_magic.render.timeline.shapes import NAME, SHAPES, rules

_T = TypeVar("_T")

ROW = 16
"""Height of a row of the axis."""


def axis_height(places: Places) -> int:
    """How far it reaches below the lanes."""
    return ROW * (2 if _has_several_sources(places) else 1)


def axis(places: Places, bottom: int) -> str:
    """Return lines of code under their calls, as the tables name them, and under these their cells or files where there
    are several; neighbours that are alike share a label."""
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
    """Return a line for each gap, and what it stands for."""
    found = [gap for gap in zip(places.columns, places.middles, places.widths, strict=True) if gap[0].gap]
    lines = "".join(f"M{x} {TOP}V{bottom}" for _column, x, _room in found)
    parts = [f'<path class="y" d="{lines}"/>'] if found else []
    for column, x, room in found:
        text = say.of_gap(column)
        label = fitting(f"⋯ {text}", room, 10)
        shown = label if label.endswith(text) else f"<title>{esc(text)}</title>⋯"
        parts.append(f'<text class="v" x="{x}" y="{bottom + 14}">{shown}</text>')
    return "".join(parts)


FINDINGS = 8
"""Findings that are marked, the worst ones."""
LABELLED_GAPS = 3
"""Up to so many gaps say beside their dots how many calls they stand for; more would take too much room."""


def timeline_svg(reading: Reading) -> str | None:
    """Return the picture, on a light card of its own; the same run gives the same text.

    Returns:
        A standalone SVG, 840 units wide or, for many calls, up to about twice that, each as large as a unit of the
        graph's picture; None when nothing happened to any tensor.
    """
    lanes = lanes_of(reading.story, reading.graph)
    crimes = _crimes(reading.report.findings, lanes)
    shown = timeline_of(reading.trace, lanes, crimes)
    return _svg(reading, shown, crimes) if shown.lanes and shown.columns else None


def _crimes(findings: Sequence[Hazard], lanes: Sequence[Lane]) -> list[Crime]:
    found: list[Crime] = []
    for hazard in findings:
        place = _place_of(hazard, lanes) if hazard.is_alarm else None
        if place is not None:
            found.append(Crime(place[0].key, place[1], hazard.saved_call, hazard, hazard.call is None))
    return found[:FINDINGS]


def _place_of(hazard: Hazard, lanes: Sequence[Lane]) -> tuple[Lane, int] | None:
    """Return the lane that a finding's write went to, of several the one of its tensor; and the call that stands for
    it."""
    if hazard.call is None:
        for lane in lanes:
            if hazard.tensor in lane.tensors or _keeps(lane, hazard):
                for mark in lane.marks:
                    if mark.kind == "unseen" and (hazard.mutation is None or mark.site in (None, hazard.mutation)):
                        return lane, mark.call
        return None
    kinds = ("mutated", "uncounted", "raised", "reshaped", "moved")
    at_call = [lane for lane in lanes if any(m.call == hazard.call and m.kind in kinds for m in lane.marks)]
    own = [lane for lane in lanes if hazard.tensor in lane.tensors]
    both = [lane for lane in at_call if hazard.tensor in lane.tensors]
    best = next(iter([*both, *at_call, *own]), None)
    return (best, hazard.call) if best is not None else None


def _keeps(lane: Lane, hazard: Hazard) -> bool:
    return any((keeping.call, keeping.node) == (hazard.saved_call, hazard.saved_by) for keeping in lane.kept)


def _svg(reading: Reading, shown: Timeline, crimes: Sequence[Crime]) -> str:
    places = places_of(shown.columns, _gap_labels(shown.columns))
    drawings = [
        LaneDrawing(reading, lane, [crime for crime in crimes if crime.lane == lane.key], places)
        for lane in shown.lanes
    ]
    tops, bottom = [], TOP
    for drawing in drawings:
        tops.append(bottom)
        bottom += drawing.height
    lives = {d.lane.key: top + LIFE for d, top in zip(drawings, tops, strict=True)}
    lanes = [drawing.svg(top, lives) for drawing, top in zip(drawings, tops, strict=True)]
    used = frozenset().union(*(drawing.used for drawing in drawings))
    used |= {"raised"} if any(column.error for column in shown.columns) else set()
    legend, end = _legend(used, bottom + axis_height(places) + 20, places.width)
    stripes = "".join(
        f"M0 {top}h{places.width}v{d.height}H0z" for d, top in list(zip(drawings, tops, strict=True))[::2]
    )
    bands = "".join(
        f'<rect class="b" x="{x - places.step // 2}" y="{TOP}" width="{places.step}" height="{bottom - TOP}"/>'
        for x in dict.fromkeys(places.before(c.call) if c.unseen else places.x(c.call) for c in crimes)
    )
    calls, xs = (" ".join(map(str, numbers)) for numbers in (places.firsts, places.middles))
    body = "".join(
        (
            f'<rect class="card" width="{places.width}" height="{end}" fill="{style.CARD}"/>',
            f'<text class="h" x="10" y="18">{esc(_("What happened to which tensor, call by call"))}</text>',
            f'<text class="q" x="10" y="35">{esc(fitting(_caption(shown), places.width - 20, 11))}</text>',
            bands,
            f'<path class="z" d="{stripes}"/>',
            f'<rect class="now" visibility="hidden" x="{LEFT}" y="{TOP}" width="{places.step}" '
            f'height="{bottom - TOP}"/>',
            gaps(places, bottom),
            *lanes,
            axis(places, bottom),
            legend,
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{NAME}" role="img" viewBox="0 0 {places.width} {end}" '
        f'width="{places.width * SCALE:.0f}" height="{end * SCALE:.0f}" '
        f'font-family="{style.HTML_FONTS}" font-size="11" data-cs="{calls}" data-xs="{xs}">'
        f"<title>{esc(_('What happened to which tensor'))}</title>"
        f"<style>{rules(used, body)}</style>{body}</svg>"
    )


def _caption(shown: Timeline) -> str:
    parts = [_("One lane for each storage: all tensors on it share its memory.")]
    if shown.lanes_left_out:
        text = (
            ngettext(
                "{count} more storage, with {writes} writes, is not shown.",
                "{count} more storages, with {writes} writes, are not shown.",
                shown.lanes_left_out,
            )
            if shown.writes_left_out
            else ngettext(
                "{count} more storage, never written in place, is not shown.",
                "{count} more storages, never written in place, are not shown.",
                shown.lanes_left_out,
            )
        )
        parts.append(text.format(count=shown.lanes_left_out, writes=shown.writes_left_out))
    return " ".join(parts)


def _gap_labels(columns: Sequence[Column]) -> list[float]:
    """How wide the labels of the gaps are; 0 where they get none."""
    few = sum(column.gap for column in columns) <= LABELLED_GAPS
    return [width(f"⋯ {say.of_gap(column)}", 10) if column.gap and few else 0 for column in columns]


def _legend(used: frozenset[str], y: int, room: int) -> tuple[str, int]:
    x, parts = 10.0, []
    for kind, mark in SHAPES.items():
        if kind in used:
            text = _(mark.legend)
            after = 25 if kind == "saved" else 19  # a box with the beginning of a line
            wide = after + 1 + width(text, 11) + 14
            if x + wide > room - RIGHT and x > 10:
                x, y = 10.0, y + 18
            parts.append(f'<g class="{mark.cls}">{mark.at(round(x + 7), y - 4)}</g>')
            parts.append(f'<text x="{round(x + after)}" y="{y}">{esc(text)}</text>')
            x += wide
    return "".join(parts), y + 10
