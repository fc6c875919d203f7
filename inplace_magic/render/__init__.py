"""Renderers: a report in, something to show out. One file each; :data:`RENDERERS` names them all.

They may know the report, comparisons and the words of a language. They judge nothing, read no tensor, and give the same
bytes for the same report; one that fails leaves the others and the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from html import escape
from shutil import which
from typing import TYPE_CHECKING, Any

from inplace_magic.language import _, use_language
from inplace_magic.record.garbage import collection_paused

if TYPE_CHECKING:
    from inplace_magic.hazards import Hazard
    from inplace_magic.render.reading import Reading
    from inplace_magic.report import Report

Renderer = Callable[..., str]
"""Takes the report while it is being read, and the settings of its table; gives the text of one MIME type."""


def _html(
    reading: Reading, *, raw: bool, graph: bool, opened: Sequence[str] | None, beside_widget: bool, told: bool
) -> str:
    from inplace_magic.render.page.html import fragment_of, opened_in

    sections = opened_in(reading.report, opened, beside_widget=beside_widget)
    return fragment_of(reading, raw=raw, graph=graph, opened=sections, beside_widget=beside_widget, told=told)


def _text(reading: Reading, **_settings: Any) -> str:
    from inplace_magic.render.text import FEW_LINES, FEW_ROWS, text_of

    return text_of(reading, rows=FEW_ROWS, lines=FEW_LINES)


def _html_card(reading: Reading, *, hazards: Sequence[Hazard], more: str) -> str:
    from inplace_magic.render.markup import card, prose, tag
    from inplace_magic.render.page.cards import finding_cards

    shown = replace(reading.report, findings=tuple(hazards))
    return card(finding_cards(shown), tag("div", "", prose(more)))


def _text_card(reading: Reading, *, hazards: Sequence[Hazard], more: str) -> str:
    from inplace_magic.render.text import to_findings

    return f"{to_findings(reading.report, hazards)}\n\n{more}\n"


def load() -> None:
    """Load the modules of a display, which takes a tenth of a second, before one is needed."""
    with suppress(Exception):  # whoever displays is told
        import inplace_magic.render.page.html  # noqa: F401
        from inplace_magic.render.graph.layout import load_wasi

        if which("dot") is None:
            load_wasi()


RENDERERS: dict[str, Renderer] = {"text/html": _html, "text/plain": _text}
CARD_RENDERERS: dict[str, Renderer] = {"text/html": _html_card, "text/plain": _text_card}


def to_mimebundle(
    report: Report,
    *,
    raw: bool = False,
    graph: bool = True,
    opened: Sequence[str] | None = None,
    beside_widget: bool = False,
    told: bool = False,
) -> dict[str, str]:
    """Return the MIME bundle of a report for a notebook, ``text/html`` and ``text/plain``. Never raises.

    Args:
        raw: show raw ``id`` and ``data_ptr`` in the picture too.
        opened: the sections that are open at first, see `ShowOptions`.
        beside_widget: a widget with the picture follows, so it is folded here if scripts run.
        told: the findings were shown before; fold their cards.
    """
    return _bundle(RENDERERS, report, raw=raw, graph=graph, opened=opened, beside_widget=beside_widget, told=told)


def to_card_mimebundle(report: Report, hazards: Sequence[Hazard], *, more: str) -> dict[str, str]:
    """Return the MIME bundle of some findings of a report alone, with a sentence below them on the rest. Never
    raises."""
    return _bundle(CARD_RENDERERS, report, hazards=hazards, more=more)


def _bundle(renderers: Mapping[str, Renderer], report: Report, **settings: Any) -> dict[str, str]:
    from inplace_magic.render.reading import MOST_IN_A_NOTEBOOK, Reading

    with collection_paused(), use_language(report.language, report.framework):
        reading = Reading(report, most=MOST_IN_A_NOTEBOOK)
        bundle = bundled({mime: partial(renderer, reading, **settings) for mime, renderer in renderers.items()})
        del reading  # gone before the collector looks at what is there, and at each of its parts
    return bundle


def bundled(renderers: Mapping[str, Callable[[], str]]) -> dict[str, str]:
    """Return what each renderer gives, by MIME type; of one that fails, an apology: shown after the user's cell has
    run, it must not become that cell's failure."""
    bundle: dict[str, str] = {}
    for mime, render in renderers.items():
        try:
            bundle[mime] = render()
        except Exception as error:
            sentence = _(
                "inplace_magic could not show this as {mime} ({fault}). The result of your code is not affected. "
                "Please report it, with `report.to_json()` if it is a report."
            ).format(mime=mime, fault=f"{type(error).__name__}: {error}")
            bundle[mime] = f"<p>{escape(sentence)}</p>" if mime == "text/html" else sentence
    return bundle
