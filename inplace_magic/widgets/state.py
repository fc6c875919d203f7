"""The state of a report's live view, one small JSON object: a pure function of the report."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

from inplace_magic.analysis.opening import LIMIT
from inplace_magic.analysis.vertices import TensorVertex
from inplace_magic.language import use_language
from inplace_magic.record.garbage import collection_paused
from inplace_magic.render.diffs import corrected, is_tried
from inplace_magic.render.graph.dot import dot_of
from inplace_magic.render.graph.layout import to_svg
from inplace_magic.render.page.explorer import explorer_state
from inplace_magic.render.reading import Reading
from inplace_magic.render.timeline.timeline import timeline_table
from inplace_magic.report import Report


class LiveView:
    """The report on top of a widget; the common part of its states is computed once and cached.

    The cache can be larger than the report, so drop the view when another report comes on top.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self._reading = Reading(report)

    def state(self, *, expanded: Collection[str] = frozenset(), limit: int = LIMIT) -> dict[str, Any]:
        """Return the argument of ``mount`` in ``explorer.js``: pictures, and :func:`.explorer_state`; plain types only.

        Args:
            expanded: keys of folded groups to draw open, as for :meth:`.Report.to_svg`.

        Raises:
            InplaceMagicError: the graph cannot be drawn.
        """
        reading = self._reading
        with collection_paused(), use_language(self.report.language, self.report.framework):
            svg = to_svg(dot_of(reading, expanded=expanded, limit=limit))
            state = explorer_state(reading, expanded=expanded, limit=limit)
            foldable = reading.outline.tree is not None
            return {"svg": svg, "timeline": self._timeline, "fix": self._fix, "foldable": foldable, **state}

    def tensor(self, key: str) -> TensorVertex | None:
        """Return the tensor behind a box, or None where no tensor has that key."""
        return self._tensors.get(key)

    @cached_property
    def _timeline(self) -> str:
        return timeline_table(self._reading)

    @property
    def _fix(self) -> str:
        """Return the corrected lines of the worst finding with a tried fix; empty if there is none."""
        return next((corrected(finding) for finding in self.report.findings if is_tried(finding)), "")

    @cached_property
    def _tensors(self) -> dict[str, TensorVertex]:
        return {tensor.key: tensor for tensor in self._reading.graph.tensors}
