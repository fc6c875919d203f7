"""The memory part of the page: the chart, bytes by line, and what is kept for backward."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_magic.language import _
from inplace_magic.record.places import Callsite
from inplace_magic.render import lettering, style, words
from inplace_magic.render.markup import CELL, CODE_CELL, NUMBER_CELL, details, esc, image, prose, table, tag
from inplace_magic.render.page.embedded import embedded
from inplace_magic.render.page.sections import code_cell, more_rows
from inplace_magic.render.reading import MANY_ROWS, Reading
from inplace_magic.render.tables import memory_words
from inplace_magic.render.timeline.chart import memory_charts

SCREEN_ROWS = 4
"""Rows of the table where it stands under the picture on one screen."""
_NOTE = f"color:{style.MUTED_INK};margin:2px 0 6px"


def memory_section(reading: Reading, *, opened: bool = False) -> str:
    """Bytes by line, of many lines those that allocated most; and folded below them the chart of live bytes."""
    lines = reading.memory
    if not lines or not reading.knows_memory:
        return ""
    shown = lettering.rows_shown(len(lines), reading.rows if reading.rows >= MANY_ROWS else SCREEN_ROWS)
    elsewhere = any(row.device != "cpu" for row in lines)  # that it is the CPU's memory need not be said
    rows = [
        (
            esc(memory_words.line_place(row, reading.trace)),
            code_cell(row.site),
            esc(row.device) if elsewhere else "",
            *(
                esc(words.bytes_of(number))
                for number in (
                    row.allocated_bytes,
                    row.freed_bytes,
                    row.net_bytes,
                    row.peak_bytes,
                    row.retained_bytes,
                    row.saved_bytes,
                )
            ),
        )
        for row in (sorted(lines, key=lambda row: -row.allocated_bytes)[:shown] if len(lines) > shown else lines)
    ]
    header = (
        *(_("Line"), _("Code"), _("Device"), _("Allocated"), _("Freed"), _("Net"), _("Peak"), _("Still alive")),
        _("Kept for backward"),
    )
    body = table(header, rows, cells=(CELL, CODE_CELL, CELL, *[NUMBER_CELL] * 6))
    told = (*memory_words.peak_sentences(reading), memory_words.counting(reading.trace))
    notes = "".join(tag("p", _NOTE, prose(text)) for text in (*told, *memory_words.allocator(reading)))
    many = reading.rows >= MANY_ROWS
    more = details(_("Peak and chart"), _charts(reading), notes, opened=many)
    beside = opened and not many  # of the sections that are folded
    inside = "" if beside else more
    section = details(_("Memory by line"), body, more_rows(lines, "lines", shown), inside, opened=opened)
    return section + more if beside else section


def saved_section(reading: Reading, *, opened: bool = False) -> str:
    """What autograd keeps for backward."""
    saved = reading.saved
    if not saved or not reading.knows_memory:
        return ""
    shown = lettering.rows_shown(len(saved), reading.rows)
    rows: list[Sequence[str]] = []
    before: tuple[bool, Callsite | None] | None = None
    for kept in saved[:shown]:
        site = kept.call.callsite if kept.call is not None else None
        place = kept.call is None, site
        again, before = place == before, place  # a place is said once, as in the table of lines
        rows.append(
            (
                esc(f"{memory_words.kept_label(kept, reading)} {words.version(kept.saved.version)}"),
                esc(f"{kept.node.name if kept.node else _('unknown node')}.{kept.saved.name}"),
                "" if again else esc(memory_words.kept_place(kept, reading.trace)),
                "" if again else code_cell(site),
                esc(memory_words.kept_size(kept)),
                prose(memory_words.kept_remark(kept)),
            )
        )
    header = (_("Tensor"), _("Kept by"), _("Where"), _("Code"), _("Bytes"), _("Whose memory"))
    total = sum(kept.saved.nbytes or 0 for kept in saved if kept.first and kept.origin != "leaf")
    note = tag(
        "p",
        _NOTE,
        esc(
            _("{size} without leaves, each storage once: what this graph keeps for backward.").format(
                size=words.bytes_of(total)
            )
        ),
    )
    return details(
        _("{title} ({count})").format(title=_("Saved for backward"), count=len(saved)),
        table(header, rows, cells=(CELL, CELL, CELL, CODE_CELL)),
        more_rows(saved, "saved", shown),
        note,
        opened=opened,
    )


def _charts(reading: Reading) -> str:
    css = f"display:block;max-width:100%;height:auto;background:{style.CARD}"
    return "".join(image(embedded(chart.svg)[0], chart.sentence, css) for chart in memory_charts(reading))
