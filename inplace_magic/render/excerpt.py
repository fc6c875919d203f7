"""The lines of the user's code that a finding is about, each with a mark such as "overwritten here", as text and HTML.

Places that lie close together in the watched cell become one listing, because the story "saved on line 5, overwritten
on line 6" is read fastest where both lines stand under each other. Places in other files get a listing of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from inplace_magic.language import _, ngettext
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped_by
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render import lettering, style, words
from inplace_magic.render.markup import code, esc, reached, tag

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard


Role = Literal["overwritten", "saved", "read", "raised", "origin"]
"""The role of a marked line: it wrote the tensor, saved it for backward, read it as the old one, raised, or made it."""
JOIN = 5
"""Marked lines at most this far apart share a listing."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A remark beside a line."""

    role: Role
    text: str
    """``overwritten here``, ``saved here``, ..."""
    detail: str
    """``version 0 → 1``, ``by SigmoidBackward0``; empty when nothing more is known."""
    site: Callsite
    via: tuple[Callsite, ...]
    """The places that led to the line, the nearest first; empty for a line of the cell itself."""


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """A line of code with its number and its marks."""

    number: int
    text: str
    marks: tuple[Mark, ...]

    @property
    def guilty(self) -> bool:
        return any(mark.role == "overwritten" for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Excerpt:
    source: str
    """``Cell In[7]`` or ``model.py``."""
    lines: tuple[ExcerptLine, ...]


def excerpts(hazard: Hazard, trace: Trace) -> tuple[Excerpt, ...]:
    """Return the finding's listings: the one with the first write, then those of the save, the later writes, the read
    and the error, as they came in time; several cells of a notebook as they were run. The lines of a listing stand as
    in the source."""
    return listings_of(_marks(hazard, trace), trace, hazard.mutation)


def listings_of(marks: Sequence[Mark], trace: Trace, first: Callsite | None = None) -> tuple[Excerpt, ...]:
    """Return listings of marked lines.

    Args:
        trace: the trace, with the watched cell and its text.
        first: the place whose listing comes first, unless the lines are from several cells.
    """
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: _key(mark.site)):
        site, last = mark.site, groups[-1][-1].site if groups else None
        if last is not None and _key(last)[:2] == _key(site)[:2] and site.line - last.line <= JOIN:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    order = {id(mark): place for place, mark in enumerate(marks)}
    cells = {mark.site.cell for mark in marks}
    if None in cells or len(cells) == 1:
        order.update({id(mark): -1 for mark in marks if mark.role == "overwritten" and mark.site == first})
    groups.sort(key=lambda group: min(order[id(mark)] for mark in group))
    return tuple(_listing(group, trace) for group in groups)


def _marks(hazard: Hazard, trace: Trace) -> list[Mark]:
    cell = trace.cell
    marks: list[Mark] = []
    wrote, read, origin = map(lettering.printable, (hazard.badges.wrote, hazard.badges.read, hazard.badges.origin))
    if hazard.origin is not None:
        marks.append(mark_of("origin", origin or _("made here"), hazard.origin, cell))
    if hazard.saved is not None:
        by = _("by {node}").format(node=hazard.saved_by) if hazard.saved_by else _("for backward")
        marks.append(mark_of("saved", _("saved here"), hazard.saved, cell, by))
    if hazard.mutation is not None:
        lost = hazard.saved is not None or hazard.severity == "silent"
        here = wrote or (_("overwritten here") if lost else _("written here"))
        again_here = wrote or (_("overwritten again here") if lost else _("written again here"))
        step = _step(hazard)
        once = len(set(hazard.mutations)) <= 1
        marks.append(mark_of("overwritten", here, hazard.mutation, cell, step if once else ""))
        again = dict.fromkeys(site for site in hazard.mutations if site != hazard.mutation)
        for ways in grouped_by(_key, again).values():  # a recursion has one for each depth
            more = len(ways) - 1
            text = ngettext("and {count} more way to this line", "and {count} more ways to this line", more)
            detail = text.format(count=more) if more else ""
            marks.append(mark_of("overwritten", again_here, ways[0], cell, detail))
    if hazard.read is not None:
        here, sees = (read, "") if read else (_("read here"), _("sees the new values"))
        marks.append(mark_of("read", here, hazard.read, cell, sees))
    if hazard.freed is not None:
        marks.append(mark_of("read", _("freed here"), hazard.freed, cell, _("by the first backward")))
    raised = _raising_call(hazard, trace.calls)
    if raised is not None and raised.callsite is not None:
        name = raised.name.rsplit(".", 1)[-1]
        marks.append(mark_of("raised", _("{call} raised here").format(call=name), raised.callsite, cell))
    return marks


def mark_of(role: Role, text: str, site: Callsite, cell: int | None, detail: str = "") -> Mark:
    """Return a mark, with the places of the user's own that led to its line, up to the cell that is numbered so."""
    seen = {(caller.place, caller.text): caller for caller in reversed(words.callers(site, cell))}
    return Mark(role, text, detail, site, tuple(reversed(seen.values())))


def _step(hazard: Hazard) -> str:
    expected, found = hazard.expected_version, hazard.found_version
    if expected is None or found is None:
        return ""
    if expected == found:
        return _("version stays {version}").format(version=found)
    return _("version {before} → {after}").format(before=expected, after=found)


def _raising_call(hazard: Hazard, calls: Sequence[CallEvent]) -> CallEvent | None:
    if not hazard.raised:
        return None
    first = next((call for call in (hazard.call, hazard.read_call) if call is not None), 0)
    return next((call for call in calls if call.index >= first and call.error is not None), None)


def _listing(group: list[Mark], trace: Trace) -> Excerpt:
    by_line: dict[int, list[Mark]] = {}
    site = group[0].site
    for mark in group:
        told = any(mark.via == other.via for beside in by_line.values() for other in beside)  # one way led to both
        by_line.setdefault(mark.site.line, []).append(replace(mark, via=()) if told else mark)
    in_cell = site.cell is not None and site.cell == trace.cell and site.file is None
    numbers = sorted(by_line)
    if in_cell and trace.source and numbers[-1] <= len(trace.source):
        first = max(1 if not trace.source[0].startswith("%%") else 2, numbers[0] - 1)
        numbers = list(range(min(first, numbers[0]), min(len(trace.source), numbers[-1] + 1) + 1))
    lines: list[ExcerptLine] = []
    for number in numbers:
        marks = tuple(by_line.get(number, ()))
        known = in_cell and 0 < number <= len(trace.source)
        text = trace.source[number - 1] if known else _text_of(marks[0].site) if marks else ""
        lines.append(ExcerptLine(number, text.rstrip().expandtabs(4), marks))
    return Excerpt(source_name(site), tuple(lines))


def _text_of(site: Callsite) -> str:
    missing = _("(an older version of this line ran)") if site.outdated else _("(the source is not there)")
    return site.text or missing


def to_lines(excerpt: Excerpt) -> list[str]:
    """Return the listing as text, the guilty line marked by ``>``."""
    lines = [f"{excerpt.source}:"]
    width = max((len(str(line.number)) for line in excerpt.lines), default=1)
    code = max((lettering.width(line.text) for line in excerpt.lines), default=0)
    for line in excerpt.lines:
        head = f"{'>' if line.guilty else ' '} {line.number:>{width}} | {line.text}"
        marks = _("; ").join(words.with_detail(mark.text, mark.detail) for mark in line.marks)
        lines.append(f"{lettering.padded(head, code + width + 5)}  <- {marks}" if marks else head)
        for mark in line.marks:
            called = (_called_from(site) for site in mark.via)
            lines += [f"{' ' * (width + 3)}|   {text}" for text in called]
    return lines


def _called_from(site: Callsite, plain: Callable[[str], str] = str, marked: Callable[[str], str] = str) -> str:
    """Return how a line was reached, as text; or as HTML, with what escapes plain text and what marks code."""
    text = _("called from {place}: {code}") if site.text else _("called from {place}")
    return plain(text).format(place=plain(site.place), code=marked(site.text))


def source_name(site: Callsite) -> str:
    """``Cell In[7]`` or ``model.py``."""
    return site.holder or _("the watched code")


def _key(site: Callsite) -> tuple[int, str, int]:
    return site.cell or 0, site.file or "", site.line


_LINE = "line-height:1.5;vertical-align:top"
"""What JupyterLab's theme sets on each cell is set on each cell again; the rest comes from the table."""
_ROLE = {
    "overwritten": (style.VERMILION_INK, style.VERMILION_TINT, style.VERMILION, "✎"),
    "saved": (style.BLUE_INK, style.BLUE_TINT, style.BLUE, "●"),
    "read": (style.BLUE_INK, style.BLUE_TINT, style.BLUE, "→"),
    "raised": (style.INK, style.ZEBRA, style.MUTED_INK, "✗"),
    "origin": (style.GREEN_INK, style.GREEN_TINT, style.GREEN, "+"),
}
"""Text colour, tint, accent and symbol of a marked line, the most important role first."""
_LIGHT, _HEAVY = 7.85, 9.05
"""Pixels of a letter of code, in the usual line and in the one that did it."""


def listing(excerpt: Excerpt, *, named: bool) -> str:
    css = f"color:{style.MUTED_INK};font-size:12px;margin:6px 0 2px"
    caption = tag("div", css, esc(excerpt.source)) if named else ""
    marked = [line for line in excerpt.lines if line.marks]
    room = max((round(len(line.text) * (_HEAVY if line.guilty else _LIGHT)) for line in marked), default=0)
    rows = "".join(_line(line, room + 16, by_keys=line is excerpt.lines[0]) for line in excerpt.lines)
    css = "border-collapse:collapse;table-layout:auto;width:100%;margin:0"
    css += f";background:{style.CARD};color:{style.INK};font-family:{style.CODE_FONTS};font-size:13px"
    return caption + tag("div", "overflow-x:auto", tag("table", css, f"<tbody>{rows}</tbody>"))


def _line(line: ExcerptLine, room: int, *, by_keys: bool) -> str:
    """Return a row; what marks the line stands beside the code, and under it where the window is narrow."""
    marks = sorted(line.marks, key=lambda mark: list(_ROLE).index(mark.role))
    ink, tint, accent, _ = _ROLE[marks[0].role] if marks else (style.MUTED_INK, style.CARD, style.CARD, "")
    css = f"{_LINE};color:{ink};border-left:5px solid {accent};padding:1px 10px 1px 6px;text-align:right;width:24px"
    number = tag("td", css, reached(str(line.number)) if by_keys else str(line.number))
    heavy = "font-weight:bold;font-size:15px;" if line.guilty else ""
    css = f"{heavy}color:{style.INK if marks else style.MUTED_INK};white-space:pre"
    css += f";display:inline-block;min-width:{room}px" if marks else ""
    text = tag("span", css, esc(line.text))
    beside = tag("td", f"{_LINE};text-align:left;padding:1px 6px 1px 0", text, *map(_mark, marks))
    return tag("tr", f"background:{tint}", number, beside)


def _mark(mark: Mark) -> str:
    ink, _tint, _accent, symbol = _ROLE[mark.role]
    ground = f"background:{ink};color:{style.CARD};font-weight:bold"
    css = f"{ground};padding:1px 8px;border-radius:3px;white-space:nowrap"
    chip = tag("span", css, esc(f"{symbol} {mark.text}"))
    detail = esc(f" {mark.detail} ") if mark.detail else " "
    via = "".join(tag("div", f"color:{style.MUTED_INK}", _called_from(site, esc, code)) for site in mark.via)
    return tag("span", f"font-family:{style.HTML_FONTS};color:{ink}", chip, detail) + via
