"""What happened to which tensor, as an SVG picture: storages as lanes, calls as columns, a mark for each event.

What scripts can rely on, and nothing else:

- the root is ``<svg class="im-time" data-cs="0 3 4 …" data-xs="180 212.5 …">``: for each column, in order, the index of
  its first call and its x; call ``c`` belongs to the last column that does not begin after it.
- ``<g class="l" data-s="4">``: the lane of storage ``S4`` (without ``data-s``: a tensor that has none).
- ``<g class="m …" data-c="12" data-s="4" data-k="T4@v1" data-t="4">``: a mark: the index of its call, the storage, the
  vertex that it has in the graph, the tensor; each of the last three only where there is one. ``<title>`` says it.
- ``<rect class="now" visibility="hidden" x="…" width="…">``: the cursor; set ``x`` to a column's x less half the width.
- ``<rect class="card">``: the light ground under it all; the picture keeps it in dark themes.
- no ids; coordinates are those of the ``viewBox``.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from inplace_magic.analysis.lanes import Keeping, Lane, Mark, lanes_of
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.timeline import Column, Focus, Timeline, timeline_of
from inplace_magic.hazards import Hazard
from inplace_magic.render import style, words
from inplace_magic.render.markup import esc
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline_shapes import NAME, RULES, SHAPES
from inplace_magic.render.timeline_shapes import short as _n

WIDTH, LEFT, RIGHT, TOP = 700, 168, 18, 46
STEP, SMALLEST_STEP = 56.0, 9.0
LANE, BAR, LABEL = 27, 5, 13
BARS = 3
"""Bars side by side on a lane; what more is kept is told in the last one's title."""
FINDINGS = 8


@dataclass(frozen=True, slots=True)
class Crime(Focus):
    """What a finding is about, with what the label says of it."""

    hazard: Hazard | None = None


def timeline_svg(reading: Reading) -> str | None:
    """The picture, or None when nothing happened to any tensor; the same run gives the same text.

    Args:
        reading: the report that is shown.
    """
    story = Story(reading.trace)
    lanes = lanes_of(story, reading.bindings, reading.graph, reading.kept)
    crimes = _crimes(reading, lanes)
    shown = timeline_of(reading.trace, lanes, crimes)
    if not shown.lanes or not shown.columns:
        return None
    return _Picture(reading, shown, crimes).svg()


def _crimes(reading: Reading, lanes: tuple[Lane, ...]) -> list[Crime]:
    found: list[Crime] = []
    for hazard in reading.report.findings:
        if hazard.severity == "info" or hazard.call is None:
            continue
        lane = _lane_of(hazard, lanes)
        if lane is not None and len(found) < FINDINGS:
            found.append(Crime(lane.key, hazard.call, hazard.saved_call, hazard))
    return found


def _lane_of(hazard: Hazard, lanes: tuple[Lane, ...]) -> Lane | None:
    at_call = [
        lane
        for lane in lanes
        if any(mark.call == hazard.call and mark.kind in ("mutated", "reshaped", "raised") for mark in lane.marks)
    ]
    own = [lane for lane in at_call if hazard.tensor in lane.tensors]
    return next(iter([*own, *at_call, *(lane for lane in lanes if hazard.tensor in lane.tensors)]), None)


class _Picture:
    def __init__(self, reading: Reading, shown: Timeline, crimes: list[Crime]) -> None:
        self.reading = reading
        self.shown = shown
        self.crimes = {crime.lane: crime for crime in reversed(crimes)}
        self.firsts = [column.first for column in shown.columns]
        room = WIDTH - LEFT - RIGHT
        self.step = min(STEP, max(SMALLEST_STEP, room / len(shown.columns)))
        self.width = max(WIDTH, LEFT + RIGHT + self.step * len(shown.columns))
        self.right = LEFT + self.step * len(shown.columns)
        self.used: dict[str, None] = {}

    def x(self, call: int) -> float:
        return LEFT + self.step * (max(0, bisect_right(self.firsts, call) - 1) + 0.5)

    def after(self, ended: int) -> float:
        """Where something lies that happened after `ended` calls had begun: right of the last of them."""
        return self.x(ended - 1) + self.step * 0.42 if ended > self.firsts[0] else LEFT

    def svg(self) -> str:
        y = float(TOP)
        body: list[str] = []
        tops: list[float] = []
        for number, lane in enumerate(self.shown.lanes):
            tops.append(y)
            levels = self.levels(lane)
            height = LANE + BAR * len(levels) + (LABEL if lane.key in self.crimes else 0)
            if number % 2 == 0:
                body.append(f'<path class="z" d="M0 {_n(y)}h{_n(self.width)}v{height}H0z"/>')
            body.append(self.lane(lane, y, levels))
            y += height
        bottom = y
        axis = self.axis(bottom)
        legend, end = self.legend(bottom + 34)
        xs = " ".join(_n(self.x(first)) for first in self.firsts)
        calls = " ".join(map(str, self.firsts))
        bands = "".join(
            f'<rect class="b" x="{_n(self.x(crime.call) - self.step / 2)}" y="{TOP}" width="{_n(self.step)}" '
            f'height="{_n(bottom - TOP)}"/>'
            for crime in self.crimes.values()
        )
        body.insert(0, bands)
        gaps = "".join(self.gap(column, bottom) for column in self.shown.columns if column.gap)
        return "".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" class="{NAME}" role="img" viewBox="0 0 {_n(self.width)} '
                f'{_n(end)}" width="{_n(self.width)}" height="{_n(end)}" font-family="{style.HTML_FONTS}" '
                f'font-size="11" data-cs="{calls}" data-xs="{xs}">',
                "<title>What happened to which tensor</title>",
                f"<style>{RULES}</style>",
                f'<rect class="card" width="{_n(self.width)}" height="{_n(end)}" fill="{style.CARD}"/>',
                '<text class="h" x="10" y="18">What happened to which tensor, call by call</text>',
                f'<text class="q" x="10" y="34">{esc(self.caption())}</text>',
                f'<rect class="now" visibility="hidden" x="{LEFT}" y="{TOP}" width="{_n(self.step)}" '
                f'height="{_n(bottom - TOP)}"/>',
                *body,
                gaps,
                axis,
                legend,
                "</svg>",
            )
        )

    def caption(self) -> str:
        parts = ["Lanes are storages: all tensors on one share its memory."]
        if self.shown.lanes_left_out:
            left = words.plural(self.shown.lanes_left_out, "more storage")
            parts.append(f"{left} with {words.plural(self.shown.writes_left_out, 'write')} not shown.")
        return " ".join(parts)

    def levels(self, lane: Lane) -> list[list[Keeping]]:
        """The bars of a lane, those that do not overlap on one level."""
        crime = self.crimes.get(lane.key)
        kept = sorted(lane.kept, key=lambda keeping: (crime is None or keeping.call != crime.saved_call, keeping.call))
        levels: list[list[Keeping]] = []
        for keeping in kept:
            if bisect_right(self.firsts, keeping.call) == 0:
                continue
            for level in levels:
                if all(
                    self.x(keeping.call) >= self.end_of(other) or self.x(other.call) >= self.end_of(keeping)
                    for other in level
                ):
                    level.append(keeping)
                    break
            else:
                if len(levels) < BARS:
                    levels.append([keeping])
        return levels

    def end_of(self, keeping: Keeping) -> float:
        if keeping.until is None:
            return self.right
        return self.after(keeping.until) if keeping.end == "died" else self.x(keeping.until)

    def lane(self, lane: Lane, y: float, levels: list[list[Keeping]]) -> str:
        life = y + 16
        parts = [self.label(lane, y), self.life(lane, life)]
        for number, level in enumerate(levels):
            parts += [self.bar(lane, keeping, life + 7 + BAR * number) for keeping in level]
        crime = self.crimes.get(lane.key)
        parts += self.marks(lane, life, crime)
        if crime is not None:
            parts.append(self.crime(lane, crime, life, levels))
        storage = "" if lane.storage is None else f' data-s="{lane.storage}"'
        return f'<g class="l"{storage}>{"".join(parts)}</g>'

    def label(self, lane: Lane, y: float) -> str:
        names = list(dict.fromkeys(name.name for name in lane.names))
        maker = self.reading.calls.get(lane.first) if lane.first is not None else None
        title = ", ".join(names) or (f"from {maker.name}" if maker is not None else lane.key)
        facts = [lane.key, *([words.bytes_of(lane.nbytes)] if lane.nbytes is not None else ())]
        look = "w" if names else "q"
        return (
            f'<text class="{look}" x="10" y="{_n(y + 13)}">{esc(_fitting(title, LEFT - 22, 12))}</text>'
            f'<text class="q" x="10" y="{_n(y + 25)}">{esc(" · ".join(facts))}</text>'
        )

    def life(self, lane: Lane, y: float) -> str:
        start = LEFT if lane.first is None else self.x(lane.first)
        if lane.ended is not None:
            end = max(start, self.after(lane.ended))
            self.used["died"] = None
            cap = f"M{_n(end)} {_n(y - 5)}v10"
        else:
            end, cap = (self.right if lane.alive else max(start, self.x(lane.last))), ""
        return f'<path class="i" d="M{_n(start)} {_n(y)}H{_n(end)}{cap}"/>'

    def bar(self, lane: Lane, keeping: Keeping, y: float) -> str:
        self.used["saved"] = None
        x, end = self.x(keeping.call), self.end_of(keeping)
        what = f"{keeping.node} keeps {keeping.name} at {words.version(keeping.version)}"
        how = {"freed": "until backward freed it", "died": "until it died", "kept": "to the end", "unknown": ""}
        site = self.reading.calls[keeping.call].callsite
        title = f"{what}, {words.place_in(site, self.reading.trace)} {how[keeping.end]}".strip()
        shape = f"M{_n(x)} {_n(y)}H{_n(end)}"
        reads = "".join(f'<path d="M{_n(self.x(read) - 5)} {_n(y)}l6-4v8z"/>' for read in keeping.reads)
        if reads:
            self.used["read"] = None
        return self.group(
            "mk",
            keeping.call,
            lane,
            keeping.key,
            keeping.tensor,
            title,
            f'<path d="{shape}M{_n(x - 2.5)} {_n(y - 2.5)}h5v5h-5z"/>{reads}',
        )

    def marks(self, lane: Lane, y: float, crime: Crime | None) -> list[str]:
        parts: list[str] = []
        told: dict[int, list[Mark]] = {}
        for mark in lane.marks:
            place = max(0, bisect_right(self.firsts, mark.call) - 1)
            if self.shown.columns[place].gap:
                told.setdefault(place, []).append(mark)
                continue
            guilty = crime is not None and mark.call == crime.call and mark.kind != "viewed"
            kind = "guilty" if guilty else mark.kind
            parts.append(self.mark(lane, mark, kind, y))
        for place, marks in told.items():
            writes = [mark for mark in marks if mark.kind in ("mutated", "unseen")]
            column = self.shown.columns[place]
            text = f"{words.plural(len(marks), 'event')} in this gap, {words.plural(len(writes), 'write')}"
            self.used["more"] = None
            parts.append(
                self.group("mg", column.first, lane, "", None, text, SHAPES["more"].at(self.x(column.first), y))
            )
        return parts

    def mark(self, lane: Lane, mark: Mark, kind: str, y: float) -> str:
        self.used[kind] = None
        x = self.x(mark.call)
        shape = SHAPES[kind].at(x, y)
        if mark.kind == "mutated" and self.step > 22:
            shape += f'<text class="v" x="{_n(x)}" y="{_n(y - 7)}">{words.version(mark.after)}</text>'
        return self.group(SHAPES[kind].cls, mark.call, lane, mark.key, mark.tensor, self.sentence(mark), shape)

    def sentence(self, mark: Mark) -> str:
        place = words.place_in(mark.site, self.reading.trace)
        tensor = "" if mark.tensor is None else words.tensor_label(mark.tensor, self.reading.names)
        if mark.kind == "mutated":
            return f"{tensor} written {words.version_step(mark.before, mark.after)}, {place}"
        if mark.kind == "rebound":
            return f"{mark.name} is another tensor from here, {place}"
        if mark.kind == "unseen":
            return f"written before this call, unseen; {words.version_step(mark.before, mark.after)}"
        said = {"created": "created", "viewed": "view", "reshaped": "shape or strides changed", "raised": "refused"}
        return f"{tensor} {said[mark.kind]}, {place}".strip()

    def group(self, kind: str, call: int, lane: Lane, key: str, tensor: int | None, title: str, shape: str) -> str:
        more = "" if lane.storage is None else f' data-s="{lane.storage}"'
        more += f' data-k="{esc(key)}"' if key else ""
        more += "" if tensor is None else f' data-t="{tensor}"'
        return f'<g class="m {kind}" data-c="{call}"{more}><title>{esc(title)}</title>{shape}</g>'

    def crime(self, lane: Lane, crime: Crime, y: float, levels: list[list[Keeping]]) -> str:
        x = self.x(crime.call)
        hazard = crime.hazard
        assert hazard is not None
        at = words.place_in(hazard.mutation, self.reading.trace)
        refused = any(mark.kind == "raised" and mark.call == crime.call for mark in lane.marks)
        text = f"refused in {at}" if refused else f"overwritten in {at}"
        start = x
        line = ""
        if crime.saved_call is not None:
            start = self.x(crime.saved_call)
            saved = words.place_in(hazard.saved, self.reading.trace)
            text = f"saved at {words.version(hazard.expected_version)} in {saved}, {text}"
            line = (
                f'<path class="x" d="M{_n(start)} {_n(y + 7)}H{_n(x)}V{_n(y + 4)}"/>'
                f'<circle class="o" cx="{_n(start)}" cy="{_n(y + 7)}" r="4"/>'
            )
        bottom = y + 11 + BAR * len(levels) + 8
        size = _width(text, 11)
        left = min(start - 4, self.width - RIGHT - size)
        return f'{line}<text class="c" x="{_n(left)}" y="{_n(bottom)}">{esc(text)}</text>'

    def gap(self, column: Column, bottom: float) -> str:
        x = self.x(column.first)
        what = words.plural(column.calls, "call")
        if column.passes:
            what = f"{words.plural(column.passes, 'more pass', 'more passes')}, {what}"
        return (
            f'<g class="gap"><title>{esc(what)}</title><path class="y" d="M{_n(x)} {TOP}V{_n(bottom)}"/>'
            f'<text class="a" x="{_n(x)}" y="{_n(bottom + 13)}">⋯</text></g>'
        )

    def axis(self, bottom: float) -> str:
        parts = [
            f'<path class="i" d="M{LEFT} {_n(bottom)}H{_n(self.right)}"/>',
            f'<text class="q" x="10" y="{_n(bottom + 13)}">line</text>',
        ]
        place, end = 0, float(LEFT)
        while place < len(self.shown.columns):
            column = self.shown.columns[place]
            then = place + 1
            while then < len(self.shown.columns) and _line(self.shown.columns[then]) == _line(column):
                then += 1
            if column.site is not None and not column.gap:
                text = str(_line(column)[-1])
                middle = LEFT + self.step * (place + then) / 2
                if middle - _width(text, 11) / 2 > end:
                    parts.append(f'<text class="a" x="{_n(middle)}" y="{_n(bottom + 13)}">{text}</text>')
                    end = middle + _width(text, 11) / 2 + 4
            place = then
        return "".join(parts)

    def legend(self, y: float) -> tuple[str, float]:
        x, parts = 10.0, []
        for kind, mark in SHAPES.items():
            if kind not in self.used:
                continue
            text = mark.legend
            wide = 22 + _width(text, 11) + 12
            if x + wide > self.width:
                x, y = 10.0, y + 18
            parts.append(f'<g class="{mark.cls}">{mark.at(x + 8, y - 4)}</g>')
            parts.append(f'<text x="{_n(x + 20)}" y="{_n(y)}">{esc(text)}</text>')
            x += wide
        return "".join(parts), y + 12


def _line(column: Column) -> tuple[object, ...]:
    site = column.site
    return ("gap", column.first) if site is None else (site.cell, site.file, site.line)


def _width(text: str, size: float) -> float:
    """About how wide a text is drawn; rather more than less."""
    return (
        sum(
            0.35 if letter in "iljtf.,:;'|![]() " else 0.9 if letter in "mwMW@%" or ord(letter) > 0x2E80 else 0.62
            for letter in text
        )
        * size
    )


def _fitting(text: str, room: float, size: float) -> str:
    if _width(text, size) <= room:
        return text
    while text and _width(text + "…", size) > room:
        text = text[:-1]
    return text + "…"
