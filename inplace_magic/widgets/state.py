"""What the live view of a report is told, as one small JSON object: a pure function of the report."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from inplace_magic.analysis.folding import LIMIT
from inplace_magic.render.dot import dot_of
from inplace_magic.render.explorer import explorer_state
from inplace_magic.render.layout import to_svg
from inplace_magic.render.reading import Reading, in_its_language
from inplace_magic.render.timeline import timeline_svg
from inplace_magic.report import Report


@in_its_language
def state_of(report: Report, *, expanded: Collection[str] = frozenset(), limit: int = LIMIT) -> dict[str, Any]:
    """What ``mount`` of ``explorer.js`` takes: the pictures as SVG, and :func:`.explorer_state`.

    Plain types only, and the same report gives the same state.

    Args:
        report: what to show.
        expanded: keys of folded groups to draw open, as for :meth:`.Report.to_svg`.
        limit: up to how many boxes other groups are opened.

    Raises:
        InplaceMagicError: the graph cannot be drawn.
    """
    reading = Reading(report)
    svg = to_svg(dot_of(reading, expanded=expanded, limit=limit))
    return {"svg": svg, "timeline": timeline_svg(reading), **explorer_state(reading, expanded=expanded, limit=limit)}
