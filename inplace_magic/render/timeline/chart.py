"""Live bytes over the calls of a watch, as an SVG picture: the bytes after each call, the height inside it, the in-
place calls, and the peak with its line. A few KiB however long the watch was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from inplace_magic.analysis.memory.blocks import Entry
from inplace_magic.analysis.memory.ledger import Peak
from inplace_magic.language import _, sentences
from inplace_magic.render import style, words
from inplace_magic.render.markup import esc
from inplace_magic.render.reading import Reading
from inplace_magic.render.tables import memory_words

WIDTH, HEIGHT = 760, 250
LEFT, RIGHT, TOP, BOTTOM = 84, 744, 46, 196
APART = 12
"""Pixels; in-place calls that are nearer to each other share a mark."""
COLUMNS = 110
"""Calls that fall on one column are drawn as one: its highest point, and where it ended."""
MOST = 8
"""Devices that have a chart."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, and the sentence for those who do not see it."""

    svg: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Column:
    """Some calls in a row; bytes."""

    first: int
    highest: int
    after: int


def memory_charts(reading: Reading) -> list[Chart]:
    """Return the chart of the device that reached the highest peak, and those of other accelerators."""
    peaks = sorted((peak for peak in reading.ledger.peaks if peak.nbytes), key=lambda peak: -peak.nbytes)
    if len(reading.trace.calls) < 2:
        return []
    shown = [*peaks[:1], *(peak for peak in peaks[1:] if peak.device != "cpu")]
    return [_chart(reading, peak) for peak in shown[:MOST]]


def _chart(reading: Reading, peak: Peak) -> Chart:
    calls = reading.trace.calls
    entries = [entry for entry in reading.ledger.calls if entry.device == peak.device]
    indexes = sorted(call.index for call in calls)
    columns = _columns(entries, reading.ledger.before.get(peak.device, 0), indexes)
    sentence = sentences(
        _("Live bytes on {device} over {calls}.").format(device=peak.device, calls=words.calls_of(len(calls))),
        *memory_words.peak_sentences(reading, peak.device),
    )
    return Chart(_svg(reading, columns, peak, indexes), sentence)


def _columns(entries: list[Entry], live: int, indexes: list[int]) -> list[Column]:
    """Return the entries by the position of their call; those of calls that are no longer kept count with the one
    before."""
    steps: dict[int, tuple[int, int]] = {}
    for entry in entries:
        place = -1 if entry.call is None else max(0, bisect_right(indexes, entry.call) - 1)
        highest = max(entry.peak_bytes, steps[place][0]) if place in steps else entry.peak_bytes
        steps[place] = (highest, entry.live_bytes)
    live = steps.get(-1, (0, live))[1]
    width = max(1, -(-len(indexes) // COLUMNS))
    columns = []
    for start in range(0, len(indexes), width):
        highest = live
        for place in range(start, min(start + width, len(indexes))):
            if place in steps:
                highest, live = max(highest, steps[place][0]), steps[place][1]
        columns.append(Column(start, highest, live))
    return columns


def _svg(reading: Reading, columns: list[Column], peak: Peak, indexes: list[int]) -> str:
    top = _round_up(peak.nbytes)
    span = len(indexes)

    def x(place: int) -> int:
        return round(LEFT + (RIGHT - LEFT) * place / span)

    def y(nbytes: int) -> int:
        return round(BOTTOM - (BOTTOM - TOP) * nbytes / top)

    ends = [*(column.first for column in columns[1:]), span]
    outline = _steps([y(column.highest) for column in columns], [x(end) for end in ends])
    stays = _steps([y(column.after) for column in columns], [x(end) for end in ends])
    written = {x(place) // APART: x(place) for place, call in enumerate(reading.trace.calls) if call.kind == "in-place"}
    marks = "".join(f"M{at} {BOTTOM + 3}l4 8h-8z" for at in written.values())
    at = max(0, bisect_right(indexes, peak.call) - 1) if peak.call is not None else 0
    label = _peak_label(reading, peak)
    anchor, beside = ("start", 8) if at < span / 2 else ("end", -8)
    height = y(peak.nbytes)
    title = _("Live memory on {device}, call by call").format(device=peak.device)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="{style.HTML_FONTS}" font-size="12" fill="{style.INK}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{style.CARD}"/>',
        f'<text x="{LEFT}" y="16" font-weight="bold">{esc(title)}</text>',
        *_scale(top, y),
        f'<path d="M{LEFT} {BOTTOM}{outline}V{BOTTOM}z" fill="{style.SKY}" fill-opacity=".35"/>',
        f'<path d="M{LEFT} {BOTTOM}{stays}" fill="none" stroke="{style.BLUE}" stroke-width="2"/>',
        f'<path d="{marks}" fill="{style.ORANGE_INK}"/>' if marks else "",
        f'<circle cx="{x(at)}" cy="{height}" r="4" fill="{style.CARD}" stroke="{style.VERMILION_INK}" '
        'stroke-width="2"/>',
        f'<text x="{x(at) + beside}" y="{height - 7}" text-anchor="{anchor}" '
        f'fill="{style.VERMILION_INK}" font-weight="bold" stroke="{style.CARD}" stroke-width="3" '
        f'paint-order="stroke">{esc(label)}</text>',
        f'<text x="{LEFT}" y="{BOTTOM + 28}">{_call(indexes[0])}</text>',
        f'<text x="{RIGHT}" y="{BOTTOM + 28}" text-anchor="end">{_call(indexes[-1])}</text>',
        _legend(),
        "</svg>",
    ]
    return "".join(parts)


def _scale(top: int, y: Callable[[int], int]) -> list[str]:
    parts = []
    for part in (0, 1, 2):
        nbytes = top * part // 2
        parts.append(f'<path d="M{LEFT} {y(nbytes)}H{RIGHT}" stroke="{style.LINE}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(nbytes) + 4}" text-anchor="end">{words.bytes_of(nbytes)}</text>')
    return parts


def _steps(heights: list[int], ends: list[int]) -> str:
    """Return a staircase from the left end of the ground line, as relative path commands in whole pixels; a step of the
    same height as the one before is not drawn anew."""
    parts = []
    x, y = LEFT, BOTTOM
    for height, end, then in zip(heights, ends, [*heights[1:], None], strict=True):
        if height != then:
            parts.append(f"v{height - y}h{end - x}" if height != y else f"h{end - x}")
            x, y = end, height
    return "".join(parts)


def _legend() -> str:
    row = HEIGHT - 8
    return (
        f'<path d="M{LEFT} {row - 4}h18" stroke="{style.BLUE}" stroke-width="2"/>'
        f'<text x="{LEFT + 24}" y="{row}">{esc(_("alive after the call"))}</text>'
        f'<rect x="{LEFT + 150}" y="{row - 9}" width="18" height="10" fill="{style.SKY}" fill-opacity=".35"/>'
        f'<text x="{LEFT + 174}" y="{row}">{esc(_("highest inside it"))}</text>'
        f'<path d="M{LEFT + 294} {row - 9}l4 8h-8z" fill="{style.ORANGE_INK}"/>'
        f'<text x="{LEFT + 306}" y="{row}">{esc(_("in-place calls, one or several"))}</text>'
        f'<circle cx="{LEFT + 480}" cy="{row - 4}" r="4" fill="{style.CARD}" stroke="{style.VERMILION_INK}" '
        f'stroke-width="2"/><text x="{LEFT + 490}" y="{row}">{esc(_("peak"))}</text>'
    )


def _peak_label(reading: Reading, peak: Peak) -> str:
    call = reading.calls.get(peak.call)
    size = words.bytes_of(peak.nbytes)
    if call is None:
        return _("peak {size}").format(size=size)
    return _("peak {size}, {place}").format(size=size, place=reading.place(call.callsite))


def _call(index: int) -> str:
    return esc(_("call {index}").format(index=index))


def _round_up(nbytes: int) -> int:
    """Return the next of 1, 2, 4, … and 1.5, 3, 6, … times a power of two: halves of it read well in binary units."""
    unit = 2
    while unit < nbytes:
        unit *= 2
    return unit * 3 // 4 if unit > 4 and nbytes <= unit * 3 // 4 else unit
