"""The live view of a running kernel: one anywidget around ``explorer.js``, the script of the static page.

It is a second display after the static one, never the only one: a saved notebook without widget state shows an error
there.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection
from functools import cache, cached_property
from importlib.resources import files
from math import prod
from typing import Any

import anywidget
import traitlets

from inplace_magic.analysis.opening import LIMIT, OVERVIEW
from inplace_magic.analysis.vertices import TensorVertex
from inplace_magic.errors import InplaceMagicError
from inplace_magic.language import _, use_language
from inplace_magic.record.garbage import collection_paused
from inplace_magic.record.origin import ValuesNow
from inplace_magic.render.drawing import MAX_NODES
from inplace_magic.render.fixes import corrected, is_tried
from inplace_magic.render.graph.dot import dot_of
from inplace_magic.render.graph.layout import to_svg
from inplace_magic.render.page.explorer import explorer_state, script
from inplace_magic.render.reading import Reading
from inplace_magic.render.style import minified
from inplace_magic.render.timeline.timeline import timeline_table
from inplace_magic.render.words import number
from inplace_magic.report import Report

DETAILS = {"overview": OVERVIEW, "normal": LIMIT, "detailed": MAX_NODES}
"""Level of detail -> up to how many boxes folded groups are opened."""


@cache
def _module() -> str:
    wrapper = files("inplace_magic.widgets").joinpath("report_widget.js").read_text(encoding="utf-8")
    return f"{script()}\n{minified(wrapper)}\n"


class ReportWidget(anywidget.AnyWidget):
    """A live view of one or more reports; `report.to_widget()` makes one.

    It sends only a small JSON object, made from the report, to the browser. It reads tensors through weak references,
    when the user asks for their values.

    Args:
        *reports: reports to show; the last one is on top.

    Example:
        >>> view = report.to_widget()
        >>> view.observe(lambda change: print(change["new"]), "selected")
        >>> view  # click a box, and its key is printed
    """

    selected = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """Key of the box that is selected: ``T4@v1`` a tensor at a version, ``C3`` a call, ``F18-23`` a folded group."""
    step = traitlets.Int(None, allow_none=True).tag(sync=True)
    """Index of the call up to which the graph is shown; None for all, -1 for before the first."""
    expanded = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """Keys of the folded groups that are open."""
    detail = traitlets.Enum(tuple(DETAILS), "normal").tag(sync=True)
    """How much is folded: ``overview``, ``normal`` or ``detailed``; a change closes opened boxes."""
    shown = traitlets.Int(0).tag(sync=True)
    """Which of the reports is on top, counted from 0."""
    state = traitlets.Dict().tag(sync=True)
    """The state for the browser, a pure function of the report and the traits above."""

    def __init__(self, *reports: Report) -> None:
        self._reports = list(reports)
        self._view: LiveView | None = None
        self._home = _here()
        super().__init__(_esm=_module(), shown=max(len(reports) - 1, 0))
        self._draw()
        self.observe(self._turn, "shown")
        self.observe(lambda _: self._draw(), "expanded")
        self.observe(self._fold_anew, "detail")
        self.on_msg(ReportWidget._answer)

    def __repr__(self) -> str:
        return f"<ReportWidget: {self._reports[-1].verdict if self._reports else 'no report'}>"

    @property
    def reports(self) -> list[Report]:
        """Its reports, in the order of their addition."""
        return list(self._reports)

    def add(self, report: Report) -> None:
        """Puts another report on top; the others stay, a list above the graph leads back to them."""
        with self.hold_sync():
            self._reports.append(report)
            if len(self._reports) == 1:
                self._draw()
            self.shown = len(self._reports) - 1

    def values(self, key: str) -> str:
        """Return the present values of a box's tensor in one sentence; "unknown" if the tensor is gone.

        Args:
            key: key of a tensor's box in the shown report, such as ``T4@v1``.
        """
        if not self._reports:
            return _("There is no report here yet.")
        report, vertex = self._reports[self.shown], self._on_top().tensor(key)
        if vertex is None:
            return _("{key} is no tensor: select a tensor's box.").format(key=key)
        found = report.live.values(vertex.tensor) if report.live is not None else None
        with use_language(report.language, report.framework):
            return _sentence(vertex, found)

    def close(self) -> None:
        """Remove the widget from the page; keep its reports, but not their cached views."""
        self._view = None
        super().close()

    @traitlets.validate("shown")
    def _valid_shown(self, proposal: Any) -> int:
        if not 0 <= proposal["value"] < max(len(self._reports), 1):
            text = _("There is no report {number}: this widget has {count}, counted from 0.")
            raise traitlets.TraitError(text.format(number=proposal["value"], count=len(self._reports)))
        return int(proposal["value"])

    def _turn(self, _change: Any) -> None:
        """Another report comes on top: keys and calls of the one before mean nothing in it."""
        with self.hold_sync():
            self.selected, self.step = None, None
            self._fold_anew(_change)

    def _fold_anew(self, _change: Any) -> None:
        with self.hold_sync():
            if self.expanded:
                self.expanded = []  # draws
            else:
                self._draw()

    def _draw(self) -> None:
        with use_language(self._reports[self.shown].language if self._reports else None):
            titles = [_title(*each) for each in enumerate(self._reports, 1)]
            self.state = {**self._picture(), "reports": titles, "widget": _words()}

    def _picture(self) -> dict[str, Any]:
        if not self._reports:
            return {"problem": _("There is no report here yet.")}
        try:
            return self._on_top().state(expanded=self.expanded, limit=DETAILS[self.detail])
        except InplaceMagicError as error:
            return {"problem": str(error)}

    def _on_top(self) -> LiveView:
        report = self._reports[self.shown]
        if self._view is None or self._view.report is not report:
            self._view = LiveView(report)
        return self._view

    def _answer(self, content: Any, _buffers: Any) -> None:
        """Answer the browser: a kernel is there, or a tensor's values.

        JupyterLab gives a widget's messages to a thread beside the one that runs cells (ipykernel's subshells). A
        tensor is read in the thread of the cells, between two of them: read beside a running cell, it would have one
        owner more for a moment, and autograd looks at the number of owners.
        """
        if content.get("type") == "hello":
            self.send({"type": "hello"})
        elif content.get("type") == "values":
            thread, loop = self._home
            if loop is None or thread == threading.get_ident():
                self._send_values(str(content.get("key")))
            else:
                loop.call_soon_threadsafe(self._send_values, str(content.get("key")))

    def _send_values(self, key: str) -> None:
        self.send({"type": "values", "text": self.values(key)})


def _here() -> tuple[int, asyncio.AbstractEventLoop | None]:
    """This thread, and its event loop if one runs, as it does in a kernel."""
    try:
        return threading.get_ident(), asyncio.get_running_loop()
    except RuntimeError:
        return threading.get_ident(), None


def _title(position: int, report: Report) -> str:
    if report.trace.cell is not None:
        return f"Cell In[{report.trace.cell}]"
    return _("Report {number}").format(number=position)


def _sentence(vertex: TensorVertex, now: ValuesNow | None) -> str:
    label = f"T{vertex.tensor} {vertex.name}".strip()
    if now is None:
        return _("{tensor}: values unknown, because it is gone or cannot be read now.").format(tensor=label)
    whole = len(now.first) == prod(now.shape)
    values = ", ".join(number(each) for each in now.first) + ("" if whole else ", …")
    version = _("version unknown") if now.version is None else f"v{now.version}"
    if now.smallest is None or now.largest is None or whole:
        text = _("{tensor} holds now ({version}): {values}")
    else:
        text = _("{tensor} holds now ({version}): {values} (smallest {smallest}, largest {largest})")
    smallest, largest = number(now.smallest or 0), number(now.largest or 0)
    return text.format(tensor=label, version=version, values=values or "[]", smallest=smallest, largest=largest)


def _words() -> dict[str, str]:
    """Return the words that ``report_widget.js`` shows besides :data:`~inplace_magic.render.page.explorer.WORDS`."""
    return {
        "report": _("Report"),
        "detail": _("Detail"),
        "overview": _("overview"),
        "normal": _("normal"),
        "detailed": _("detailed"),
        "fold": _("Fold all again"),
        "values": _("Values now"),
        "no_kernel": _("No kernel answers: boxes do not open and values cannot be asked for; the rest works."),
    }


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
            fix = next((corrected(finding) for finding in self.report.findings if is_tried(finding)), "")
            return {"svg": svg, "timeline": self._timeline, "fix": fix, "foldable": foldable, **state}

    def tensor(self, key: str) -> TensorVertex | None:
        """Return the tensor behind a box, or None where no tensor has that key."""
        return next((tensor for tensor in self._reading.graph.tensors if tensor.key == key), None)

    @cached_property
    def _timeline(self) -> str:
        return timeline_table(self._reading)
