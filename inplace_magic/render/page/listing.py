"""Lines of the user's code as a table, the guilty one first to be seen, each mark beside its line."""

from __future__ import annotations

from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.render import style
from inplace_magic.render.excerpt import Excerpt, ExcerptLine, Mark
from inplace_magic.render.markup import code, esc, reached, tag

_LINE = "line-height:1.5;vertical-align:top"
"""What JupyterLab's theme sets on each cell is set on each cell again; the rest comes from the table."""
_ROLE = {
    "overwritten": (style.VERMILION_INK, style.VERMILION_TINT, style.VERMILION, "✎"),
    "saved": (style.BLUE_INK, style.BLUE_TINT, style.BLUE, "●"),
    "read": (style.BLUE_INK, style.BLUE_TINT, style.BLUE, "→"),
    "raised": (style.INK, style.ZEBRA, style.MUTED_INK, "✗"),
    "origin": (style.GREEN_INK, style.GREEN_TINT, style.GREEN, "+"),
}
"""Text colour, tint, accent and symbol of a marked line."""
_LIGHT, _HEAVY = 7.85, 9.05
"""Pixels of a letter of code, in the usual line and in the one that did it."""
_WEIGHT = ("overwritten", "saved", "read", "raised", "origin")


def listing(excerpt: Excerpt, *, named: bool) -> str:
    caption = (
        tag("div", f"color:{style.MUTED_INK};font-size:12px;margin:6px 0 2px", esc(excerpt.source)) if named else ""
    )
    marked = [line for line in excerpt.lines if line.marks]
    room = max((round(len(line.text) * (_HEAVY if _is_heavy(line) else _LIGHT)) for line in marked), default=0)
    first = excerpt.lines[0]
    rows = "".join(_line(line, room + 16, by_keys=line is first) for line in excerpt.lines)
    css = "border-collapse:collapse;table-layout:auto;width:100%;margin:0"
    css += f";background:{style.CARD};color:{style.INK};font-family:{style.CODE_FONTS};font-size:13px"
    return caption + tag("div", "overflow-x:auto", tag("table", css, f"<tbody>{rows}</tbody>"))


def _is_heavy(line: ExcerptLine) -> bool:
    return any(mark.role == "overwritten" for mark in line.marks)


def _line(line: ExcerptLine, room: int, *, by_keys: bool) -> str:
    """Return a row; what marks the line stands beside the code, and under it where the window is narrow."""
    marks = sorted(line.marks, key=lambda mark: _WEIGHT.index(mark.role))
    ink, tint, accent, _ = _ROLE[marks[0].role] if marks else (style.MUTED_INK, style.CARD, style.CARD, "")
    number_css = (
        f"{_LINE};color:{ink};border-left:5px solid {accent};padding:1px 10px 1px 6px;text-align:right;width:24px"
    )
    heavy = "font-weight:bold;font-size:15px;" if _is_heavy(line) else ""
    code_css = f"{heavy}color:{style.INK if marks else style.MUTED_INK};white-space:pre"
    code_css += f";display:inline-block;min-width:{room}px" if marks else ""
    cells = [
        tag("td", number_css, reached(str(line.number)) if by_keys else str(line.number)),
        tag(
            "td",
            f"{_LINE};text-align:left;padding:1px 6px 1px 0",
            tag("span", code_css, esc(line.text)),
            *map(_mark, marks),
        ),
    ]
    return tag("tr", f"background:{tint}", *cells)


def _mark(mark: Mark) -> str:
    ink, _tint, _accent, symbol = _ROLE[mark.role]
    ground = f"background:{ink};color:{style.CARD};font-weight:bold"
    css = f"{ground};padding:1px 8px;border-radius:3px;white-space:nowrap"
    chip = tag("span", css, esc(f"{symbol} {mark.text}"))
    detail = esc(f" {mark.detail} ") if mark.detail else " "
    via = "".join(tag("div", f"color:{style.MUTED_INK}", *_called_from(site)) for site in mark.via)
    return tag("span", f"font-family:{style.HTML_FONTS};color:{ink}", chip, detail) + via


def _called_from(site: Callsite) -> tuple[str, ...]:
    if not site.text:
        return (esc(_("called from {place}").format(place=site.place)),)
    return esc(_("called from {place}: ").format(place=site.place)), code(site.text)
