"""What happened to which tensor, as a table: a row for each storage, a column for each call, a sign for each event.

What scripts can rely on, and nothing else:

- the root is ``<div class="im-lanes">`` with one ``<table class="im-tracks">``.
- ``<tr data-s="4">``: the lane of storage ``S4`` (without ``data-s``: a tensor that has none).
- ``<td data-c="12" data-k="T4@v1">``: what happened to it at a column: the index of the column's first call, and the
  vertex that it has in the graph, where there is one; ``title`` says it all.
- ``<tr class="im-axis">``: a cell with ``data-c`` for each column; call ``c`` belongs to the last one that does not
  begin after it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from inplace_magic.analysis.lanes import Lane, lanes_of
from inplace_magic.analysis.marks import Keeping, Mark
from inplace_magic.analysis.timeline import Column, Focus, Timeline, timeline_of
from inplace_magic.hazards import Hazard
from inplace_magic.language import _, listed, ngettext
from inplace_magic.record.grouped import grouped
from inplace_magic.render import lettering, style
from inplace_magic.render.excerpt import source_name
from inplace_magic.render.markup import CELL, ONE_LINE_ROWS, TABLE, esc, note, reached, tag
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline import words as say

FEW_COLUMNS = 24
"""Up to so many columns, a sign has the version or the name beside it."""
LONGEST_NAME, LONGEST_LABEL, LONGEST_SOURCE = 30, 12, 10
"""Characters of the name of a lane, of what stands beside a sign, and of a file's name over one column."""
_ALIVE = f"border-bottom:solid {style.LINE}"
_KEPT = f"border-bottom:solid {style.BLUE}"
_GUILTY = (
    f"border-bottom:solid {style.VERMILION};background:{style.VERMILION_TINT};color:{style.VERMILION_INK};"
    "font-weight:bold"
)
_CRIME = f"text-align:left;color:{style.VERMILION_INK};font-weight:bold"
_ROW = f"background:{style.CARD}"
_MUTED = f"color:{style.MUTED_INK};font-size:11px"


@dataclass(slots=True)
class Cell:
    """What a column says of a lane."""

    look: str = ""
    signs: dict[str, str] = field(default_factory=dict)
    """Kind of :data:`.words.SIGNS` -> what stands beside its sign."""
    titles: list[str] = field(default_factory=list)
    key: str = ""


def timeline_table(reading: Reading) -> str:
    """Return the table, with what it leaves out above it and the meaning of its signs below; empty when nothing
    happened to any tensor. The same run gives the same text."""
    lanes = lanes_of(reading.story, reading.graph)
    crimes = crimes_of(reading.report.findings, lanes)
    shown = timeline_of(reading.trace, lanes, crimes)
    if not shown.lanes or not shown.columns:
        return ""
    drawing = _Drawing(reading, shown.columns)
    rows = [drawing.lane(lane, [crime for crime in crimes if crime.lane == lane.key]) for lane in shown.lanes]
    body = "".join((*rows, drawing.axis()))
    table = tag("table", TABLE + ONE_LINE_ROWS, f"<tbody>{body}</tbody>", cellpadding="2", class_="im-tracks")
    signs = [f"{sign} {_(meaning)}" for kind, (sign, meaning) in say.SIGNS.items() if kind in drawing.used]
    above, below = note(_caption(shown)), note(listed(signs))
    return tag("div", "overflow-x:auto", above, table, below, class_="im-lanes")


class _Drawing:
    """Writes the rows of a table, and notes which kinds of events are in it."""

    def __init__(self, reading: Reading, columns: Sequence[Column]) -> None:
        self.reading = reading
        self.columns = columns
        self.firsts = [column.first for column in columns]
        self.used: set[str] = set()

    def at(self, call: int) -> int:
        """Return the number of the column, or gap, that holds a call; for one between two columns, the one before."""
        return max(0, bisect_right(self.firsts, call) - 1)

    def lane(self, lane: Lane, crimes: Sequence[Crime]) -> str:
        """Return the row of a lane, and under it the sentence of its worst crime."""
        cells = [Cell() for _column in self.columns]
        self.live(lane, cells)
        guilty = {crime.call for crime in crimes}
        for place, marks in grouped((self.at(mark.call), mark) for mark in lane.marks).items():
            if self.columns[place].gap:
                self.add(cells[place], "more", say.of_hidden(marks))
            else:
                for mark in marks:
                    self.mark(mark, cells[place], guilty)
        for (start, end), keepings in grouped(((self.at(k.call), self.end(k)), k) for k in lane.kept).items():
            if not (self.columns[start].gap and start == end):
                self.keep(keepings, cells[start : end + 1])
                for read in dict.fromkeys(self.at(read) for keeping in keepings for read in keeping.reads):
                    self.add(cells[read], "read", say.of_savers(keepings))
        said = self.crime(crimes[0], lane) if crimes else ""
        number = {} if lane.storage is None else {"data-s": str(lane.storage)}
        return tag("tr", _ROW, self.head(lane), *self.cells(cells), **number) + said

    def add(self, cell: Cell, kind: str, title: str, key: str = "", label: str = "") -> None:
        self.used.add(kind)
        shown = lettering.shortened(label, LONGEST_LABEL) if len(self.columns) <= FEW_COLUMNS else ""
        cell.signs[kind] = cell.signs.get(kind) or shown
        cell.titles.append(title)
        cell.key = cell.key or key

    def live(self, lane: Lane, cells: list[Cell]) -> None:
        """Mark the columns in which the storage was alive, as far as that was seen."""
        start = 0 if lane.first is None else self.at(lane.first)
        end = len(cells) - 1 if lane.alive else self.at(lane.last if lane.ended is None else lane.ended - 1)
        for cell in cells[start : max(start, end) + 1]:
            cell.look = _ALIVE

    def end(self, keeping: Keeping) -> int:
        """Return the last column in which an autograd node kept something."""
        if keeping.until is None:
            return len(self.columns) - 1 if keeping.end == "kept" else self.at(keeping.call)
        return self.at(max(keeping.call, keeping.until - 1 if keeping.end == "died" else keeping.until))

    def keep(self, keepings: list[Keeping], cells: Sequence[Cell]) -> None:
        for cell in cells:
            cell.look = _KEPT if cell.look is not _GUILTY else _GUILTY
        key = keepings[0].key if len(keepings) == 1 else ""
        self.add(cells[0], "saved", say.of_keepings(keepings, self.reading), key)

    def mark(self, mark: Mark, cell: Cell, guilty: set[int]) -> None:
        label = mark.name
        if mark.kind in ("created", "mutated", "reshaped") and mark.after is not None:
            label = f"v{mark.after}"
        elif mark.kind == "viewed" and mark.tensor is not None:
            label = self.reading.names.get(mark.tensor, "")
        if mark.call in guilty and (mark.is_write or mark.kind in ("raised", "moved", "reshaped")):
            cell.look = _GUILTY
        self.add(cell, mark.kind, say.of_mark(mark, self.reading), mark.key, label)

    def head(self, lane: Lane) -> str:
        name, is_name, facts = say.of_lane(lane, self.reading)
        shown = esc(lettering.shortened(name, LONGEST_NAME))
        return tag("td", CELL, tag("b", "", shown) if is_name else shown, tag("div", "", esc(" · ".join(facts))))

    def cells(self, cells: Sequence[Cell]) -> Iterable[str]:
        """Yield the cells of a row; neighbours without a sign that look the same are one."""
        pairs = list(zip(cells, self.columns, strict=True))
        for _alike, group in groupby(pairs, key=lambda pair: pair[1].first if pair[0].signs else pair[0].look):
            run = list(group)
            cell, column = run[0]
            if not cell.signs:
                yield tag("td", cell.look, **({"colspan": str(len(run))} if len(run) > 1 else {}))
                continue
            shown = [f"{sign} {cell.signs[kind]}" for kind, (sign, _meaning) in say.SIGNS.items() if kind in cell.signs]
            text = esc(" ".join(map(str.rstrip, shown)))
            about = {"data-c": str(column.first), **({"data-k": cell.key} if cell.key else {})}
            yield tag("td", cell.look, text, **about, title=_("; ").join(cell.titles))

    def crime(self, crime: Crime, lane: Lane) -> str:
        mark = next((mark for mark in lane.marks if mark.call == crime.call), None)
        text = f"{style.SEVERITY_SYMBOL['error']} {say.of_crime(crime.hazard, mark, self.reading)}"
        cells = tag("td", ""), tag("td", _CRIME, esc(text), colspan=str(len(self.columns)))
        return tag("tr", _ROW, *cells)

    def axis(self) -> str:
        """Return the lines of code under their calls, as the tables name them, and above these their cells or files
        where there are several; a line stands once for all neighbours that are on it."""
        sources = ["" if column.gap or column.site is None else source_name(column.site) for column in self.columns]
        cells, before = [], ("", "")
        for column, source in zip(self.columns, sources, strict=True):
            line = str(column.site.line or "") if column.site is not None else ""
            if column.gap:
                line = say.SIGNS["more"][0]
            text = line if column.gap or (source, line) != before else ""
            title = say.of_gap(column) if column.gap else (column.error or "")
            before = source, line
            if column.error is not None:
                self.used.add("raised")
                text = f"{text} {say.SIGNS['raised'][0]}"
            about = {"title": lettering.shortened(title, 80)} if title else {}
            cells.append(tag("td", "", esc(text), **{"data-c": str(column.first)}, **about))
        rows = tag("tr", _ROW, tag("th", "text-align:left", reached(esc(_("line")))), *cells,
                   class_="im-axis")  # fmt: skip
        if len(set(filter(None, sources))) < 2:
            return rows
        files = []
        for source, group in groupby(sources):
            count = len(list(group))
            shown = lettering.shortened(source, LONGEST_SOURCE * count)
            files.append(tag("td", _MUTED if source else "", esc(shown), colspan=str(count)))
        return rows + tag("tr", _ROW, tag("td", ""), *files)


def _caption(shown: Timeline) -> str:
    text = _(
        "One lane for each storage, whose memory all tensors on it share: grey while it lives, blue while autograd "
        "keeps it for backward."
    )
    count, writes = shown.lanes_left_out, shown.writes_left_out
    if not count:
        return text
    rest = ngettext(
        "{count} more storage, never written in place, is not shown.",
        "{count} more storages, never written in place, are not shown.",
        count,
    )
    if writes:
        rest = ngettext(
            "{count} more storage, with {writes} writes, is not shown.",
            "{count} more storages, with {writes} writes, are not shown.",
            count,
        )
    return f"{text} {rest.format(count=count, writes=writes)}"


FINDINGS = 8
"""Findings that are marked, the worst ones."""
_KINDS = ("mutated", "uncounted", "raised", "reshaped", "moved")
"""Marks that a finding's write can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crime(Focus):
    """What a finding is about, with the finding."""

    hazard: Hazard


def crimes_of(findings: Sequence[Hazard], lanes: Sequence[Lane]) -> list[Crime]:
    """Return the findings, worst first, with their places; notes and findings without a place are left out."""
    found: list[Crime] = []
    for hazard in findings:
        place = _place_of(hazard, lanes) if hazard.is_alarm else None
        if place is not None:
            found.append(Crime(place[0].key, place[1], hazard.saved_call, hazard=hazard))
    return found[:FINDINGS]


def _place_of(hazard: Hazard, lanes: Sequence[Lane]) -> tuple[Lane, int] | None:
    """Return the lane that a finding's write went to, of several the one of its tensor; and the call that stands for
    it."""
    if hazard.call is None:
        keeper = hazard.saved_call, hazard.saved_by
        for lane in lanes:
            if hazard.tensor in lane.tensors or keeper in [(keeping.call, keeping.node) for keeping in lane.kept]:
                for mark in lane.marks:
                    if mark.kind == "unseen" and (hazard.mutation is None or mark.site in (None, hazard.mutation)):
                        return lane, mark.call
        return None
    at_call = [lane for lane in lanes if any(m.call == hazard.call and m.kind in _KINDS for m in lane.marks)]
    own = [lane for lane in lanes if hazard.tensor in lane.tensors]
    both = [lane for lane in at_call if hazard.tensor in lane.tensors]
    best = next(iter([*both, *at_call, *own]), None)
    return (best, hazard.call) if best is not None else None
