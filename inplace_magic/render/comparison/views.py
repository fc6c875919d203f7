"""A comparison as HTML, a fragment for the notebook or a page for a file, and as text. Plain tags; a script for the
theme."""

from __future__ import annotations

from functools import partial

from inplace_magic.comparing.comparison import Comparison
from inplace_magic.hazards import Severity
from inplace_magic.language import _
from inplace_magic.record.outcomes import CONVENTION
from inplace_magic.render import bundled, style
from inplace_magic.render.comparison.tables import LESS, MORE, Table, cost_tables, difference_table, figure_table
from inplace_magic.render.comparison.words import flipped_phrase, verdict
from inplace_magic.render.lettering import printable
from inplace_magic.render.markup import (
    CELL,
    NUMBER_CELL,
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
from inplace_magic.render.text import align

OPEN_ROWS = 20
"""Tables of costs with more rows wait to be opened."""
_FINDINGS = 3
"""Findings that are shown below the error of a variant."""
_INK = {LESS[0]: style.GREEN_INK, MORE[0]: style.VERMILION_INK}


@in_its_language
def to_mimebundle(comparison: Comparison) -> dict[str, str]:
    """Return the MIME bundle for a notebook. Never raises."""
    return bundled({"text/html": partial(to_fragment, comparison), "text/plain": partial(to_text, comparison)})


@in_its_language
def to_page(comparison: Comparison) -> str:
    return page(verdict(comparison), comparison.language, to_fragment(comparison))


@in_its_language
def to_fragment(comparison: Comparison) -> str:
    figures, differences = figure_table(comparison), difference_table(comparison)
    costs = list(cost_tables(comparison))
    compute = "".join(
        tag("div", "margin:6px 0 2px", prose(each.title)) + _table(each, CELL, CELL, total=True) for each in costs
    )
    parts = [_verdict_bar(comparison), _failures(comparison), _table(figures, CELL) if figures is not None else ""]
    if differences is not None:
        rest = note(differences.more) if differences.more else ""
        parts.append(details(differences.title, _table(differences, CELL, WIDE_CELL), rest, opened=True))
    parts += map(note, _notes(comparison))
    if costs:
        is_short = sum(len(each.rows) for each in costs) <= OPEN_ROWS
        title = _("MACs and element operations by module")
        parts.append(details(title, compute, note(_(CONVENTION)), opened=is_short))
    return card(*parts)


@in_its_language
def to_text(comparison: Comparison) -> str:
    """Return the verdict, the figures, the differences, the compute by module, and the notes."""
    parts = [verdict(comparison)]
    costs = list(cost_tables(comparison))
    for variant in comparison.variants:
        if variant.error:
            lines = [_("{variant} raises {error}").format(variant=f"`{variant.name}`", error=variant.error)]
            for finding in variant.findings[:_FINDINGS]:
                lines += [f"  {finding.message}", "  " + _("Fix: {fix}").format(fix=finding.fix)]
            parts.append("\n".join(lines))
    for each in (figure_table(comparison), difference_table(comparison), *costs):
        if each is not None:
            parts.append("\n".join(filter(None, (each.title, *_aligned(each), each.more))))
    notes = [*_notes(comparison), *([_(CONVENTION)] if costs else [])]
    parts.append("\n".join(f"- {each}" for each in notes))
    return "\n\n".join(filter(None, parts)) + "\n"


def _aligned(shown: Table) -> list[str]:
    """Return the lines of a table, with the words to the left and the figures to the right."""
    columns = enumerate(zip(*shown.rows, strict=True))
    figures = [at for at, column in columns if any(cell.removeprefix("≥ ")[:1].isdigit() for cell in column)]
    return list(map(printable, align([shown.header, *shown.rows], figures)))


def _notes(comparison: Comparison) -> list[str]:
    return [each for each in (flipped_phrase(comparison), *comparison.notes) if each]


def _verdict_bar(comparison: Comparison) -> str:
    severity: Severity | None = "silent" if comparison.differences else None
    if any(variant.error for variant in comparison.variants):
        severity = "error"
    colours = style.SEVERITY_COLOURS[severity] if severity is not None else style.FINE_COLOURS
    symbol = style.SEVERITY_SYMBOL[severity] if severity is not None else style.FINE_SYMBOL
    return verdict_bar(colours, f"{symbol} {verdict(comparison)}")


def _failures(comparison: Comparison) -> str:
    parts = []
    for variant in comparison.variants:
        if not variant.error:
            continue
        raises = esc(_("{variant} raises {error}")).format(variant=code(variant.name), error=prose(variant.error))
        parts.append(tag("div", "margin:6px 0", raises))
        for finding in variant.findings[:_FINDINGS]:
            css = f"border-left:4px solid {style.SEVERITY_COLOURS[finding.severity][0]};padding:4px 12px;margin:6px 0"
            parts.append(tag("div", css, tag("div", "", prose(finding.message)), fix_bar(finding.fix)))
    return "".join(parts)


def _table(shown: Table, *cells: str, total: bool = False) -> str:
    """Return a table as HTML, all columns after those of the first `cells` numbers."""
    rows = [list(map(_cell, row)) for row in shown.rows]
    if total:
        rows[-1] = [tag("b", "", cell) for cell in rows[-1]]
    return table(shown.header, rows, cells=(*cells, *[NUMBER_CELL] * (len(shown.header) - len(cells))))


def _cell(text: str) -> str:
    if text == _("same"):
        return tag("span", f"color:{style.MUTED_INK}", esc(text))
    ink = _INK.get(text[:1])
    return tag("span", f"color:{ink};font-weight:bold", esc(text)) if ink is not None else prose(text)
