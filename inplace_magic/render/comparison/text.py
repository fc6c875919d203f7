"""A comparison as plain text, for terminals, diffs and screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_magic.comparing.comparison import Comparison
from inplace_magic.language import _
from inplace_magic.record.outcomes import CONVENTION
from inplace_magic.render.comparison.words import (
    GROUPS,
    cost_header,
    cost_rows,
    difference_phrase,
    figures,
    flipped_phrase,
    verdict,
)
from inplace_magic.render.lettering import printable
from inplace_magic.render.reading import in_its_language
from inplace_magic.render.text import align

MOST_ROWS = 40
"""Rows of a table that are shown; the frames hold all."""


@in_its_language
def to_text(comparison: Comparison) -> str:
    """Return the verdict, the figures, the differences, the compute by module, and the notes."""
    first, second = comparison.first, comparison.second
    rows = [(row.title, row.first, row.second, row.difference) for row in figures(comparison)]
    parts = [verdict(comparison)]
    if rows:
        parts.append(_aligned(("", first.name, second.name, _("difference")), rows))
    if comparison.agreement is not None and comparison.agreement.differences:
        found = comparison.agreement.differences
        text = _("{group}: {difference}")
        lines = [
            "  " + text.format(group=_(GROUPS[each.group]), difference=difference_phrase(each))
            for each in found[:MOST_ROWS]
        ]
        more = ["  " + _("and {count} more").format(count=len(found) - MOST_ROWS)] if len(found) > MOST_ROWS else []
        title = _("Differences, {first} against {second}").format(first=first.name, second=second.name)
        parts.append("\n".join((title, *lines, *more)))
    for variant in (first, second):
        if variant.error:
            parts.append(
                "\n".join(
                    (
                        _("{variant} raises {error}").format(variant=f"`{variant.name}`", error=variant.error),
                        *(
                            f"  {finding.message}\n  {_('Fix: {fix}').format(fix=finding.fix)}"
                            for finding in variant.findings[:3]
                        ),
                    )
                )
            )
    parts += [f"{title}\n{_aligned(cost_header(), rows)}" for title, rows in cost_tables(comparison)]
    notes = [note for note in (flipped_phrase(comparison), *comparison.notes, _(CONVENTION) if rows else "") if note]
    if notes:
        parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def cost_tables(comparison: Comparison) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the compute by module and operator: one table if both variants have the same, else one for each."""
    first, second = comparison.first, comparison.second
    tables = []
    if first.costs and first.costs == second.costs:
        tables.append((_("Compute of both"), first.costs))
    else:
        text = _("Compute of `{variant}`")
        tables += [(text.format(variant=each.name), each.costs) for each in (first, second) if each.costs]
    return [(title, _shortened(cost_rows(costs))) for title, costs in tables]


def _shortened(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if len(rows) <= MOST_ROWS:
        return rows
    more = _("{count} rows more in to_frame('costs')").format(count=len(rows) - MOST_ROWS)
    left_out = (more, *[""] * (len(rows[0]) - 1))
    return [*rows[: MOST_ROWS - 1], left_out, rows[-1]]


def _aligned(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table with the words to the left and the figures to the right."""
    figures = (at for at, column in enumerate(zip(*rows, strict=True)) if any(cell[:1].isdigit() for cell in column))
    return "\n".join(map(printable, align([header, *rows], figures)))
