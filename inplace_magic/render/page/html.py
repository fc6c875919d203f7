"""The report as HTML: a fragment for the notebook, and a whole page for a file. Both work without network and kernel.

Everything that matters stands in plain tags. The one script at the end only makes of the pictures a live view, told by
the ``data-state`` of the fragment; where scripts may not run, the pictures stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_magic.analysis.effects import is_own_write
from inplace_magic.analysis.opening import LIMIT, OVERVIEW
from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _, sentences
from inplace_magic.record.options import SECTIONS
from inplace_magic.render import style
from inplace_magic.render.graph.dot import dot_of
from inplace_magic.render.graph.layout import to_svg
from inplace_magic.render.markup import CARD, card, details, esc, image, note, page, prose
from inplace_magic.render.page import sections
from inplace_magic.render.page.cards import FEW_CARDS, MANY_CARDS, finding_cards, verdict_of
from inplace_magic.render.page.explorer import explorer_state, packed, page_script
from inplace_magic.render.reading import MANY_ROWS, MOST_IN_A_FILE, MOST_IN_A_NOTEBOOK, Reading, in_its_language
from inplace_magic.render.timeline.timeline import timeline_table
from inplace_magic.render.verdict import is_unexplained
from inplace_magic.report import Report

SCREEN = frozenset({"graph", "memory"})
IN_A_FILE = frozenset({"graph", "timeline", "lines", "memory"})
"""Of a file of its own, which is as long as it needs to be."""
_TITLES = re.compile("(?<=>)<title>[^<]*</title>")


def opened_in(report: Report, chosen: Sequence[str] | None, *, beside_widget: bool) -> Collection[str]:
    """Return the names of the open sections, of :data:`SECTIONS`.

    Args:
        chosen: what the reader asked for, with ``all`` and ``none``; None for what suits the report.
        beside_widget: who asks for a widget wants to see the picture.
    """
    if chosen is not None:
        return SECTIONS if "all" in chosen else chosen
    return SCREEN if beside_widget or not is_calm(report) else frozenset()


def detail_of(report: Report) -> int:
    """Up to how many boxes groups are opened in a notebook.

    It is an overview of the model, with what a finding is about, unless what the reader's own lines wrote in place is
    all that there is to see.
    """
    if any(finding.is_alarm for finding in report.findings):
        return OVERVIEW if any(call.modules for call in report.trace.calls) else LIMIT
    own = any(call.callsite is not None and call.callsite.direct and is_own_write(call) for call in report.trace.calls)
    return LIMIT if own else OVERVIEW


def is_calm(report: Report) -> bool:
    """True if nothing is wrong and no line of the reader's own wrote in place; or something else stopped the cell."""
    if is_unexplained(report) or any(finding.is_alarm for finding in report.findings) or report.trace.faults:
        return False
    return report.trace.error is not None or not any(map(is_own_write, report.trace.calls))


def fragment_of(
    reading: Reading,
    *,
    raw: bool,
    graph: bool,
    opened: Collection[str],
    beside_widget: bool = False,
    told: bool = False,
) -> str:
    """HTML to stand in a notebook's output; the arguments are those of :func:`.render.to_mimebundle`."""
    report, trace = reading.report, reading.report.trace
    limit = detail_of(report) if reading.rows < MANY_ROWS else LIMIT
    drawn = _picture(reading, raw, limit) if graph and trace.calls else ""
    timeline = timeline_table(reading) if drawn else ""
    body = (
        verdict_of(reading),
        note(reading.part) if reading.part else "",
        finding_cards(report, most=FEW_CARDS if reading.rows < MANY_ROWS else MANY_CARDS, told=told),
        sections.sentence_section(_("Faults of inplace_magic"), trace.faults, opened=True),
        details(_title(reading), drawn, opened="graph" in opened) if drawn else "",
        sections.memory_section(reading, opened="memory" in opened),
        sections.line_section(reading, opened="lines" in opened),
        details(_("What happened to which tensor"), timeline, opened="timeline" in opened) if timeline else "",
        sections.tensor_section(reading, opened="tensors" in opened),
        sections.saved_section(reading, opened="saved" in opened),
        sections.names_section(report, opened="names" in opened),
        sections.sentence_section(_("What this watch could not see"), report.blindness, opened="unseen" in opened),
    )
    tensors = [-1 if vertex.made_by is None else vertex.made_by for vertex in sections.shown_tensors(reading)]
    rows = {"lines": [step.call.index for _story, step in sections.shown_steps(reading)], "tensors": tensors}
    return _live(reading, "".join(body), drawn, limit, {"rows": rows, "beside": beside_widget})


@in_its_language
def to_picture(report: Report) -> str:
    """Return the graph alone, to stand in a notebook's output."""
    reading = Reading(report, most=MOST_IN_A_NOTEBOOK)
    limit = detail_of(report)
    drawn = _picture(reading, False, limit) if report.trace.calls else prose(reading.verdict)
    return _live(reading, drawn, drawn, limit, {"rows": {}, "beside": False})


def _live(reading: Reading, body: str, drawn: str, limit: int, around: Mapping[str, Any]) -> str:
    """Return a card with what makes a live view of the picture in it, where one could be drawn."""
    if "<img" not in drawn:
        return card(body)
    state = {**explorer_state(reading, limit=limit), **around}
    start = f'<div style="{esc(CARD)}" class="inplace-magic" data-state="{packed(state)}">'
    return f"{start}{body}</div><script>{page_script()}</script>"


@in_its_language
def to_page(report: Report, *, raw: bool = False, graph: bool = True) -> str:
    """Return one self-contained HTML page, its tables longer than a notebook's."""
    reading = Reading(report, rows=MANY_ROWS, most=MOST_IN_A_FILE)
    body = fragment_of(reading, raw=raw, graph=graph, opened=IN_A_FILE)
    return page(reading.verdict, report.language, f"<main>{body}</main>", within=' class="im-alone"')


def _title(reading: Reading) -> str:
    """What the picture is; autograd's graph only where a call made a node of it."""
    return _("Autograd graph") if reading.report.trace.nodes else _("Tensors and calls")


def _picture(reading: Reading, raw: bool, limit: int) -> str:
    """Return the graph, or why there is none. Nobody sees its titles, and where scripts run its facts say more."""
    try:
        svg = to_svg(dot_of(reading, raw=raw, limit=limit))
    except InplaceMagicError as error:
        return note(str(error))
    css = f"max-width:100%;height:auto;background:{style.CARD};border:1px solid {style.LINE};border-radius:6px"
    alt = sentences(_("{title}.").format(title=_title(reading)), reading.verdict)
    return image(_TITLES.sub("", svg), alt, css, class_="inplace-magic-graph")


@dataclass(frozen=True, slots=True, repr=False)
class Graph:
    """The autograd graph of a report; ``report.save("graph.svg")`` writes it, ``report.to_dot()`` gives it as DOT."""

    report: Report

    def __repr__(self) -> str:
        return f"<Graph: {self.report.verdict}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": to_picture(self.report), "text/plain": repr(self)}
