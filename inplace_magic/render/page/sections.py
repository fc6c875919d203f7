"""The sections of the page: what each line did, every version of every tensor, bytes by line, what is kept for
backward."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_magic.analysis.vertices import TensorVertex
from inplace_magic.language import _, clauses
from inplace_magic.record.grouped import grouped
from inplace_magic.render import lettering, style, words
from inplace_magic.render.lines import LineStory, Step, step_label, step_phrase
from inplace_magic.render.markup import (
    CELL,
    CODE_CELL,
    NUMBER_CELL,
    WIDE_CELL,
    details,
    esc,
    image,
    note,
    prose,
    table,
    tag,
)
from inplace_magic.render.reading import MANY_ROWS, Reading
from inplace_magic.render.roles import roles_of
from inplace_magic.render.tables import memory_words
from inplace_magic.render.timeline.chart import memory_charts
from inplace_magic.report import Report

LINE_ROWS = 2
"""The table of lines, which is what most look at, has so many times the rows of another one."""
MAX_SENTENCES = 100
"""Sentences on what was not seen; no table has them, so few reports should lose one."""


MOST_CALLS = 1500
"""Of a longer record nobody looks for memory with two names until ``report.suspects()`` is asked."""
MAX_CODE = 60
MAX_PHRASE = 160
MAX_ERROR = 60
MAX_SAVERS = 80
"""Characters of a cell; the whole text is in ``report.to_text()`` and in the frames."""


def line_section(reading: Reading, *, opened: bool = False) -> str:
    """What each line created, viewed, mutated and rebound."""
    steps = [(story, step) for story in reading.lines for step in story.steps]
    if not steps:
        return ""
    guilty = _guilty(reading)
    rows: list[Sequence[str]] = []
    tints: list[str] = []
    before: LineStory | None = None
    for story, step in shown_steps(reading):
        rows.append(_step(story, step, story is not before, reading))
        written = style.ORANGE_TINT if step.kind == "mutated" else ""
        tints.append(style.VERMILION_TINT if step.call.index in guilty else written)
        before = story
    header = (_("Line"), _("Code"), _("Tensor"), _("What happened"), _("Object / memory"), "grad_fn")
    body = table(header, rows, tints=tints, cells=(CELL, CODE_CELL, CELL, WIDE_CELL), name="im-lines", wraps=True)
    more = more_rows(reading, steps, 'to_frame("calls")', lettering.rows_shown(len(steps), LINE_ROWS * reading.rows))
    return details(_("What each line did"), body, more, opened=opened)


def _guilty(reading: Reading) -> set[int | None]:
    return {finding.call for finding in reading.report.findings if finding.is_alarm}


def shown_steps(reading: Reading) -> list[tuple[LineStory, Step]]:
    """Return the first rows; of a longer table also all of the lines that findings name, in the order of the table."""
    steps = [(story, step) for story in reading.lines for step in story.steps]
    serious = [finding for finding in reading.report.findings if finding.is_alarm]
    named = {site for finding in serious for site in (finding.mutation, finding.saved) if site is not None}
    calls = _guilty(reading) | {finding.saved_call for finding in serious}
    wanted = [n for n, (story, step) in enumerate(steps) if step.call.index in calls or story.site in named]
    return [steps[n] for n in _shown(len(steps), LINE_ROWS * reading.rows, wanted)]


def _shown(count: int, most: int, wanted: list[int]) -> list[int]:
    """Return which rows of a table are shown, in its order: those that are wanted, then the first."""
    return sorted(list(dict.fromkeys([*wanted, *range(count)]))[: lettering.rows_shown(count, most)])


def tensor_section(reading: Reading, *, opened: bool = False) -> str:
    """Return every version of every tensor, with the raw facts."""
    graph = reading.graph
    if not graph.tensors:
        return ""
    savers = grouped((edge.source, edge.name.rsplit(".", 1)[0]) for edge in graph.edges if edge.kind == "saved")
    shown = shown_tensors(reading)
    rows = [_tensor(vertex, reading, savers) for vertex in shown]
    tints = [style.ORANGE_TINT if vertex.mutated else "" for vertex in shown]
    header = (
        _("Tensor"), _("Origin"), _("Where"), _("Shape"), "grad_fn", _("Traits"), _("Kept by"), _("Storage"), "id",
        "data_ptr",
    )  # fmt: skip
    title = _("Tensors and versions ({count})").format(count=len(graph.tensors))
    body = table(header, rows, tints=tints, name="im-tensors")
    more = more_rows(reading, graph.tensors, "tensors", lettering.rows_shown(len(graph.tensors), reading.rows))
    return details(title, body, more, opened=opened)


def shown_tensors(reading: Reading) -> Sequence[TensorVertex]:
    """Return the first ones; of a longer table also those that the findings are about, in the order of the table."""
    tensors = reading.graph.tensors
    named = roles_of(reading.graph, reading.report.findings).tensors
    wanted = [n for n, vertex in enumerate(tensors) if vertex.key in named] if named else []
    return [tensors[n] for n in _shown(len(tensors), reading.rows, wanted)]


def sentence_section(title: str, sentences: Sequence[str], *, opened: bool = False) -> str:
    """Return a list of sentences, such as what the watch could not see."""
    if not sentences:
        return ""
    items = "".join(tag("li", "", prose(sentence)) for sentence in sentences[:MAX_SENTENCES])
    heading = _("{title} ({count})").format(title=title, count=len(sentences))
    return details(heading, tag("ul", "margin:2px 0 6px", items), opened=opened)


def names_section(report: Report, *, opened: bool = False) -> str:
    """Return the writes that a second name for the memory sees, as facts; a line that a card names is not told
    twice."""
    if not report.calls or len(report.trace.calls) > MOST_CALLS:
        return ""
    told = {finding.mutation for finding in report.findings if finding.is_alarm}
    met = [each for each in report.suspects() if each.read is not None and each.mutation not in told]
    sentences = [each.told(lambda site: words.short_place(site, report.trace)) for each in met]
    return sentence_section(_("Memory with two names"), sentences, opened=opened)


def _step(story: LineStory, step: Step, first: bool, reading: Reading) -> Sequence[str]:
    length = MAX_ERROR if step.kind == "raised" else MAX_PHRASE
    what = clauses((lettering.shortened(step_phrase(step, reading.names), length), step.shape))
    text = prose(f"{style.EFFECT_SYMBOL[step.kind]} {what}")
    return (
        esc(reading.place(story.site)) if first else "",
        esc(lettering.shortened(words.code_of(story.site), MAX_CODE)) if first else "",
        esc(step_label(step, reading.names)),
        tag("b", "", text) if step.kind in ("mutated", "raised") else text,
        esc(_object(step)),
        esc(reading.node_name(step.after.node) if step.after is not None else ""),
    )


def _object(step: Step) -> str:
    if step.rebinding is not None:
        return _("another / another")
    return words.same_object(step.effect, short=True) if step.effect is not None else ""


def _tensor(vertex: TensorVertex, reading: Reading, savers: dict[str, list[str]]) -> Sequence[str]:
    facts = vertex.facts
    maker = reading.calls.get(vertex.made_by)
    place = reading.place(maker.callsite) if maker is not None else ""
    head = esc(reading.title(vertex)), esc(words.said(vertex.origin)), esc(place)
    if facts is None:
        return (*head, *[esc(_("unknown"))] * 7)
    return (
        *head,
        esc(words.shape(facts)),
        esc(reading.node_name(facts.node) or "None"),
        esc(words.traits(facts)),
        esc(lettering.shortened(", ".join(dict.fromkeys(savers.get(vertex.key, ()))), MAX_SAVERS)),
        esc(words.known(facts.storage, "S{}".format)),
        esc(words.known(facts.python_id)),
        esc(words.known(facts.data_ptr, hex)),
    )


def more_rows(reading: Reading, rows: Sequence[object], frame: str, shown: int) -> str:
    """How many rows of a table are not shown, and how to get them."""
    more = words.left_out(reading.report, len(rows) - shown, frame)
    return note(more) if more else ""


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
    css = f"display:block;max-width:100%;height:auto;background:{style.CARD}"
    charts = [image(chart.svg, chart.sentence, css) for chart in memory_charts(reading)]
    more = details(_("Peak and chart"), *charts, notes, opened=many)
    beside = opened and not many  # of the sections that are folded
    as_frame = _("As a DataFrame: {frame}.").format(frame=words.of_report(reading.report, "memory"))
    whole = more_rows(reading, reading.memory, "memory", len(lines)) or note(as_frame)
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
    title = _("{title} ({count})").format(title=_("Saved for backward"), count=len(saved))
    body = table(memory_words.kept_header(), rows, cells=(CELL, CELL, CELL, CODE_CELL))
    more = more_rows(reading, saved, "saved", len(shown))
    return details(title, body, more, note(memory_words.kept_in_all(reading)), opened=opened)
