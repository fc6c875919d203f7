"""The memory part of the page: the chart, bytes by line, and what is kept for backward."""

from __future__ import annotations

from inplace_magic.language import _
from inplace_magic.render import lettering, style, words
from inplace_magic.render.markup import CELL, CODE_CELL, NUMBER_CELL, details, esc, image, note, prose, table
from inplace_magic.render.page.sections import MAX_CODE, more_rows
from inplace_magic.render.reading import MANY_ROWS, Reading
from inplace_magic.render.tables import memory_words
from inplace_magic.render.timeline.chart import memory_charts

SCREEN_ROWS = 8
"""Rows of the table where it stands under the picture on one screen."""
SHORT_CODE = 34
"""Characters of a line of code beside six numbers."""


def memory_section(reading: Reading, *, opened: bool = False) -> str:
    """Bytes by line, of many lines those that allocated most; and folded below them the chart of live bytes."""
    if not reading.memory or not reading.knows_memory:
        return ""
    header, *lines = memory_words.line_table(reading, max(reading.rows, SCREEN_ROWS))
    rows = [(esc(line), esc(lettering.shortened(code, SHORT_CODE)), *map(esc, rest)) for line, code, *rest in lines]
    numbers = len(memory_words.SHOWN)
    cells = (CELL, CODE_CELL, *[CELL] * (len(header) - 2 - numbers), *[NUMBER_CELL] * numbers)
    body = table(header, rows, cells=cells)
    told = (*memory_words.peak_sentences(reading), memory_words.counting(reading.trace))
    notes = "".join(map(note, (*told, *memory_words.allocator(reading))))
    many = reading.rows >= MANY_ROWS
    more = details(_("Peak and chart"), _charts(reading), notes, opened=many)
    beside = opened and not many  # of the sections that are folded
    whole = more_rows(reading, reading.memory, "memory", len(lines)) or note(
        _("As a DataFrame: {frame}.").format(frame=words.of_report(reading.report, "memory"))
    )
    section = details(memory_words.title(reading), body, whole, "" if beside else more, opened=opened)
    return section + more if beside else section


def saved_section(reading: Reading, *, opened: bool = False) -> str:
    saved = reading.saved
    if not saved or not reading.knows_memory:
        return ""
    shown = memory_words.kept_table(reading, lettering.rows_shown(len(saved), reading.rows))
    rows = [
        (*map(esc, (*head, lettering.shortened(code, MAX_CODE), size)), prose(whose))
        for *head, code, size, whose in shown
    ]
    return details(
        _("{title} ({count})").format(title=_("Saved for backward"), count=len(saved)),
        table(memory_words.kept_header(), rows, cells=(CELL, CELL, CELL, CODE_CELL)),
        more_rows(reading, saved, "saved", len(shown)),
        note(memory_words.kept_in_all(reading)),
        opened=opened,
    )


def _charts(reading: Reading) -> str:
    css = f"display:block;max-width:100%;height:auto;background:{style.CARD}"
    return "".join(image(chart.svg, chart.sentence, css) for chart in memory_charts(reading))
