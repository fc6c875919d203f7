"""A comparison as HTML: a fragment for the notebook, and a page for a file. Plain tags; a script for the theme."""

from __future__ import annotations

from functools import partial

from inplace_magic.comparing.comparison import Comparison
from inplace_magic.hazards import Severity
from inplace_magic.language import _
from inplace_magic.record.outcomes import CONVENTION
from inplace_magic.render import bundled, style
from inplace_magic.render.comparison.text import MOST_ROWS, cost_tables, to_text
from inplace_magic.render.comparison.words import (
    GROUPS,
    Figure,
    cost_header,
    difference_phrase,
    figures,
    flipped_phrase,
    verdict,
)
from inplace_magic.render.markup import (
    CELL,
    NUMBER_CELL,
    PAGE,
    WIDE_CELL,
    card,
    code,
    details,
    esc,
    fix_bar,
    note,
    page,
    prose,
    table,
    tag,
    verdict_bar,
)
from inplace_magic.render.reading import in_its_language

OPEN_ROWS = 20
"""Tables of costs with more rows wait to be opened."""


@in_its_language
def to_mimebundle(comparison: Comparison) -> dict[str, str]:
    """Return the MIME bundle for a notebook. Never raises."""
    return bundled({"text/html": partial(to_fragment, comparison), "text/plain": partial(to_text, comparison)})


@in_its_language
def to_page(comparison: Comparison) -> str:
    return page(verdict(comparison), comparison.language, to_fragment(comparison), head=PAGE)


@in_its_language
def to_fragment(comparison: Comparison) -> str:
    notes = [each for each in (flipped_phrase(comparison), *comparison.notes) if each]
    return card(
        _verdict_bar(comparison),
        _failures(comparison),
        _figures(comparison),
        _differences(comparison),
        "".join(map(note, notes)),
        _costs(comparison),
    )


def _verdict_bar(comparison: Comparison) -> str:
    severity: Severity | None = None
    if comparison.first.error or comparison.second.error:
        severity = "error"
    elif comparison.agreement is not None and comparison.agreement.differences:
        severity = "silent"
    colours = style.SEVERITY_COLOURS[severity] if severity is not None else style.FINE_COLOURS
    symbol = style.SEVERITY_SYMBOL[severity] if severity is not None else style.FINE_SYMBOL
    return verdict_bar(colours, f"{symbol} {verdict(comparison)}")


def _failures(comparison: Comparison) -> str:
    parts = []
    for variant in (comparison.first, comparison.second):
        if not variant.error:
            continue
        raises = esc(_("{variant} raises {error}")).format(variant=code(variant.name), error=prose(variant.error))
        parts.append(tag("div", "margin:6px 0", raises))
        for finding in variant.findings[:3]:
            css = f"border-left:4px solid {style.SEVERITY_COLOURS[finding.severity][0]};padding:4px 12px;margin:6px 0"
            parts.append(tag("div", css, tag("div", "", prose(finding.message)), fix_bar(finding.fix)))
    return "".join(parts)


def _figures(comparison: Comparison) -> str:
    header = ("", comparison.first.name, comparison.second.name, _("difference"))
    rows = [(esc(row.title), esc(row.first), esc(row.second), _difference(row)) for row in figures(comparison)]
    return table(header, rows, cells=(CELL, NUMBER_CELL, NUMBER_CELL, NUMBER_CELL)) if rows else ""


def _difference(row: Figure) -> str:
    if row.better is None:
        css = f"color:{style.MUTED_INK}" if row.difference == _("same") else f"color:{style.INK};font-weight:bold"
        return tag("span", css, esc(row.difference))
    ink = style.GREEN_INK if row.better else style.VERMILION_INK
    return tag("span", f"color:{ink};font-weight:bold", esc(f"{'▼' if row.better else '▲'} {row.difference}"))


def _differences(comparison: Comparison) -> str:
    found = comparison.agreement.differences if comparison.agreement is not None else ()
    if not found:
        return ""
    rows = [
        (
            esc(_(GROUPS[each.group])),
            prose(difference_phrase(each)),
            esc(_("{some} of {all}").format(some=f"{each.differing:,}", all=f"{each.elements:,}"))
            if each.element is not None
            else "",
        )
        for each in found[:MOST_ROWS]
    ]
    more = len(found) - MOST_ROWS
    rest = note(_("{count} more are in to_frame('differences').").format(count=more)) if more > 0 else ""
    shown = table(("", _("first element that differs"), _("elements")), rows, cells=(CELL, WIDE_CELL, NUMBER_CELL))
    title = _("{title} ({count})").format(title=_("What differs, bit for bit"), count=len(found))
    return details(title, shown, rest, opened=True)


def _costs(comparison: Comparison) -> str:
    header = cost_header()
    cells = (CELL, CELL, *[NUMBER_CELL] * (len(header) - 2))
    parts, count = [], 0
    for title, rows in cost_tables(comparison):
        count += len(rows)
        shown = [*([esc(cell) for cell in row] for row in rows[:-1]), [tag("b", "", esc(cell)) for cell in rows[-1]]]
        parts.append(tag("div", "margin:6px 0 2px", prose(title)))
        parts.append(table(header, shown, cells=cells))
    if not parts:
        return ""
    return details(_("MACs and element operations by module"), *parts, note(_(CONVENTION)), opened=count <= OPEN_ROWS)
