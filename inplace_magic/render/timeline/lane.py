"""One lane of the timeline: its names, its life, its marks, the bars of what is kept, and the moment of the crime."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_magic.analysis.lanes import Lane
from inplace_magic.analysis.marks import Keeping, Mark
from inplace_magic.analysis.timeline import Focus
from inplace_magic.hazards import Hazard
from inplace_magic.render import lettering, words
from inplace_magic.render.markup import esc
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline import words as say
from inplace_magic.render.timeline.places import LEFT, RIGHT, Bar, Places, fitting, stacked, width
from inplace_magic.render.timeline.shapes import SHAPES, short

LIFE, PITCH = 15, 11
"""How far the line of a lane's life lies below its top, and the bars of what is kept below each other."""


@dataclass(frozen=True, slots=True)
class Crime(Focus):
    """What a finding is about, with the finding."""

    hazard: Hazard | None = None
    unseen: bool = False
    """The write was noticed before the call, and no call made it."""


class LaneDrawing:
    """Draws a lane into a list of SVG elements, and notes which kinds of marks it used."""

    def __init__(self, reading: Reading, lane: Lane, crimes: list[Crime], places: Places) -> None:
        self.reading = reading
        self.lane = lane
        self.places = places
        self.crime = crimes[0] if crimes else None
        self.guilty = {crime.call for crime in crimes}
        kept = [keeping for keeping in lane.kept if not self.is_within_gap(keeping)]
        self.levels = stacked(kept, places, self.crime.saved_call if self.crime is not None else None)
        self.used: set[str] = set()
        self.texts_end = 0.0

    def is_within_gap(self, keeping: Keeping) -> bool:
        """True if a gap hides it from beginning to end."""
        column = self.places.column(keeping.call)
        return column.gap and keeping.until is not None and self.places.column(keeping.until) is column

    @property
    def height(self) -> int:
        """In pixels."""
        bars = max(len(self.levels), int(self.crime is not None and self.crime.saved_call is not None))
        return 30 + (PITCH * (bars - 1) + 3 if bars else 0) + (15 if self.crime is not None else 0)

    def svg(self, y: int, tops: dict[str, int]) -> str:
        """Return the lane as a group.

        Args:
            tops: the height of the life line of every lane that is shown, by key.
        """
        life, storage = y + LIFE, self.lane.storage
        parts = [self.label(y), self.line(life)]
        for number, level in enumerate(self.levels):
            parts += [self.bar(bar, life + 8 + PITCH * number) for bar in level]
        if self.crime is not None:
            parts.append(self.connection(self.crime, y, life))
        parts += self.marks(life, tops)
        return f'<g class="l"{"" if storage is None else f" data-s={chr(34)}{storage}{chr(34)}"}>{"".join(parts)}</g>'

    def label(self, y: int) -> str:
        name, is_name, facts = say.of_lane(self.lane, self.reading)
        look, room = ("w" if is_name else "q"), LEFT - 20
        return (
            f'<text class="{look}" x="10" y="{y + 13}">{esc(fitting(name, room, 12, bold=is_name))}</text>'
            f'<text class="q" x="10" y="{y + 26}">{esc(fitting(" · ".join(facts), room, 11))}</text>'
        )

    def line(self, y: int) -> str:
        lane, places = self.lane, self.places
        start = LEFT if lane.first is None else places.x(lane.first)
        if lane.ended is None:
            end, cap = float(places.right if lane.alive else max(start, places.x(lane.last))), ""
        else:
            end = max(start + 3, places.after(lane.ended))
            cap = f"M{short(end)} {y - 5}v10"
            self.used.add("died")
        return f'<path class="i" d="M{start} {y}H{short(end)}{cap}"/>'

    def bar(self, bar: Bar, y: int) -> str:
        self.used.add("saved")
        x, end = bar.start, max(bar.end, bar.start + 6)
        line = f"M{x - 3} {y - 3}h5v6h-5zm5 3H{short(end)}"
        reads = dict.fromkeys(self.places.x(read) for keeping in bar.kept for read in keeping.reads)
        if reads:
            self.used.add("read")
            line += "".join(f"M{read - 5} {y}l7-4v8z" for read in reads)
        inner = f'<path d="{line}"/>'
        name = say.of_savers(bar.kept)
        told = self.crime is not None and any(keeping.call == self.crime.saved_call for keeping in bar.kept)
        if not told and end - x > width(name, 9) + 24:
            inner += f'<text class="p" x="{round((x + end) / 2)}" y="{y + 3}">{esc(name)}</text>'
        first = bar.kept[0]
        key = first.key if len(bar.kept) == 1 else ""
        return self.group("mk", first.call, key, first.tensor, say.of_keepings(bar.kept, self.reading), inner)

    def marks(self, y: int, tops: dict[str, int]) -> list[str]:
        parts: list[str] = []
        hidden: dict[int, list[Mark]] = {}
        writes = [self.places.x(mark.call) for mark in self.lane.marks if mark.kind == "mutated"]
        for mark in self.lane.marks:
            column = self.places.column(mark.call)
            if column.gap:
                hidden.setdefault(column.first, []).append(mark)
            else:
                parts.append(self.mark(mark, y, tops, min(writes, default=None)))
        for call, marks in hidden.items():
            self.used.add("more")
            inner = SHAPES["more"].at(self.places.x(call), y)
            parts.append(self.group("mg", call, "", None, say.of_hidden(marks), inner))
        return parts

    def mark(self, mark: Mark, y: int, tops: dict[str, int], first_write: int | None) -> str:
        writes = mark.is_write or mark.kind in ("raised", "moved", "reshaped")
        kind = "guilty" if mark.call in self.guilty and writes else mark.kind
        self.used.add(kind)
        x = self.places.before(mark.call) if mark.kind == "unseen" else self.places.x(mark.call)
        inner = SHAPES[kind].at(x, y)
        if kind == "rebound" and mark.to in tops and tops[mark.to] != y:
            inner += f'<path class="y" d="M{x} {y}V{tops[mark.to]}"/>'
        begins = mark.kind == "created" and first_write is not None and first_write - x >= 16
        if mark.kind in ("mutated", "reshaped") or begins:
            inner += self.text(words.version(mark.after) if mark.after is not None else "", x, y)
        elif mark.kind == "viewed" and mark.tensor is not None:
            inner += self.text(lettering.shortened(self.reading.names.get(mark.tensor, ""), 12), x, y)
        elif mark.kind == "rebound":
            inner += self.text(lettering.shortened(mark.name, 12), x, y)
        return self.group(SHAPES[kind].cls, mark.call, mark.key, mark.tensor, say.of_mark(mark, self.reading), inner)

    def text(self, text: str, x: int, y: int) -> str:
        """Words above a mark; none where they would run into those of the mark before."""
        half = width(text, 10) / 2
        if not text or x - half < self.texts_end:
            return ""
        self.texts_end = x + half + 2
        return f'<text class="v" x="{x}" y="{y - 7}">{esc(text)}</text>'

    def connection(self, crime: Crime, y: int, life: int) -> str:
        """From where it was saved to where it was written, and the sentence that says so."""
        assert crime.hazard is not None
        mark = next((mark for mark in self.lane.marks if mark.call == crime.call), None)
        x = self.places.before(crime.call) if crime.unseen else self.places.x(crime.call)
        start, line = x, ""
        if crime.saved_call is not None:
            start, bar = self.places.x(crime.saved_call), life + 8
            line = f'<path class="x" d="M{start} {bar}H{x}V{life}"/><circle class="o" cx="{start}" cy="{bar}" r="4.5"/>'
        text = fitting(say.of_crime(crime.hazard, mark, self.reading), self.places.width - RIGHT - LEFT, 11, bold=True)
        left = max(LEFT, min(start - 4, self.places.width - RIGHT - width(text, 11, bold=True)))
        return f'{line}<text class="c" x="{short(left)}" y="{y + self.height - 5}">{esc(text)}</text>'

    def group(self, cls: str, call: int, key: str, tensor: int | None, title: str, inner: str) -> str:
        more = f' data-k="{esc(key)}"' if key else ""
        if tensor is not None and not key.startswith(f"T{tensor}@"):
            more += f' data-t="{tensor}"'
        return f'<g class="m {cls}" data-c="{call}"{more}><title>{esc(title)}</title>{inner}</g>'
