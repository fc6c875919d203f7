"""Renderers: a report in, something to show out. One file each; :data:`RENDERERS` names them all."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inplace_magic.report import Report

Renderer = Callable[..., str]
"""Takes the report and the keyword arguments ``raw`` and ``graph``; gives the text of one MIME type."""


def _html(report: Report, *, raw: bool, graph: bool) -> str:
    from inplace_magic.render.html import to_fragment

    return to_fragment(report, raw=raw, graph=graph)


def _text(report: Report, *, raw: bool, graph: bool) -> str:
    from inplace_magic.render.text import to_text

    return to_text(report)


RENDERERS: dict[str, Renderer] = {"text/html": _html, "text/plain": _text}


def to_mimebundle(report: Report, *, raw: bool = False, graph: bool = True) -> dict[str, str]:
    """What a notebook stores and shows for a report. Never raises.

    Args:
        report: what to show.
        raw: show raw ``id`` and ``data_ptr`` in the picture too.
        graph: draw the autograd graph.

    Returns:
        The report by MIME type, ``text/html`` and ``text/plain``.
    """
    bundle: dict[str, str] = {}
    for mime, renderer in RENDERERS.items():
        try:
            bundle[mime] = renderer(report, raw=raw, graph=graph)
        except Exception as error:  # Shown after the user's cell has run, it must not turn into that cell's failure.
            bundle[mime] = _apology(mime, error)
    return bundle


def _apology(mime: str, error: Exception) -> str:
    sentence = (
        f"inplace_magic could not show this report as {mime} ({type(error).__name__}: {error}). The result of your "
        "code is not affected. Please report it, with the output of report.to_json()."
    )
    return f"<p>{escape(sentence)}</p>" if mime == "text/html" else sentence
