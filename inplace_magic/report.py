"""The report of one watch: the trace and its findings, in one frozen record."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from inplace_magic.hazards import Hazard, find_hazards
from inplace_magic.hazards.finding import with_proofs
from inplace_magic.language import LANGUAGES, _, language, use_language
from inplace_magic.needed import needed
from inplace_magic.record import codec
from inplace_magic.record.blindness import retold
from inplace_magic.record.events import CallEvent
from inplace_magic.record.origin import LiveTensors, Origin
from inplace_magic.record.trace import Trace
from inplace_magic.report_names import FOR_ALL, no_attribute
from inplace_magic.saved_report import FORMAT, FORMAT_VERSION, parts_of, parts_of_text

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import pandas as pd

    from inplace_magic.hazards.suspects import Suspect
    from inplace_magic.render.page.html import Graph
    from inplace_magic.widgets.report_widget import ReportWidget

FrameView = Literal["tensors", "calls", "lines", "memory", "ops", "saved"]


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The findings and tables of one watch; as the last value of a cell it shows itself.

    ==================================  ==============================================================================
    ``report.hazards``                  the findings, worst first: ``message``, ``fix``, ``mutation``, ``saved``, ...
    ``report.verdict``                  the worst of them in one sentence
    ``report.show()``                   the whole report, here; ``report.to_text()`` as text
    ``report.graph``                    the autograd graph, mutated nodes highlighted
    ``report.memory``                   a DataFrame: memory by line, in bytes, and what each line keeps for backward
    ``report.tensors``                  a DataFrame: each tensor and version; ``report.saved``: what autograd saved
    ``report.to_frame("calls")``        a DataFrame: each call; see there for further tables
    ``report.save("report.html")``      write a file; also .svg, .png, .dot, .json, .csv
    ``report.prove()``                  the report with its fixes tried; ``report.patch()``: the fixes for ``git apply``
    ``Report.from_json(text)``          opens the text of ``report.to_json()``
    ==================================  ==============================================================================
    """

    trace: Trace
    findings: tuple[Hazard, ...] = ()
    language: str = LANGUAGES[0]
    """Language of its findings and of every view: ``en`` or ``zh``."""
    live: LiveTensors | None = field(default=None, compare=False)
    """Weak references to the tensors, for their present values; None for a report from a file."""
    origin: Origin | None = field(default=None, compare=False)
    """How the program can be run again; None for a report from a file."""
    name: str = field(default="report", compare=False)
    """Name of the variable that holds the report, for sentences that mention it; may be empty."""

    @classmethod
    def from_trace(cls, trace: Trace) -> Report:
        """Run the rules on a trace. A rule that fails becomes a line in :attr:`faults`, never an exception.

        The report is in the language of the session, or of the ``use_language`` block around it.
        """
        findings, faults = find_hazards(trace)
        return cls(replace(trace, faults=trace.faults + faults) if faults else trace, findings, language())

    def in_language(self, name: str) -> Report:
        """Return the report in another language; the rules run again on the trace. A report from a version before
        traces recorded refusals keeps its findings as they are.

        Args:
            name: ``en`` or ``zh``.

        Raises:
            OptionError: a language that does not exist.
        """
        with use_language(name):
            refusals = (self.trace.refusal, *(call.refusal for call in self.trace.calls))
            if any(finding.raised for finding in self.findings) and not any(refusals):
                return replace(self, language=language())
            findings, _faults = find_hazards(self.trace)
            return replace(self, findings=with_proofs(findings, self.findings), language=language())

    def prove(self) -> Report:
        """Return the report with tried fixes: each finding of severity ``error`` or ``silent`` gets its ``proof``.

        The program runs again as written, then with a copy of everything that autograd saves, then with each fix, each
        time on copies of your variables' present values. Variables, gradients, generators and settings are the same
        afterwards. A fix that does not cure, or does harm, is removed from ``fix`` and ``diff``.

        The verdict is ``not tried``, with a reason, for a report from a file, or if a run would write files, start
        commands or use the network.
        """
        with needed(_("A proof"), "torch"):
            from inplace_magic.proving.prove import proven

            return proven(self, sys._getframe(1))

    @property
    def hazards(self) -> list[Hazard]:
        """Findings, worst first."""
        return list(self.findings)

    @property
    def framework(self) -> str:
        """The watched framework: ``torch`` or ``paddle``."""
        return self.trace.framework

    @property
    def calls(self) -> list[CallEvent]:
        """Every torch call of the user's code, in the order of their starts."""
        return list(self.trace.calls)

    def suspects(self) -> list[Suspect]:
        """Return the writes that another holder of the same memory may not expect, likeliest first.

        A suspect is no alarm: many programs share memory on purpose. It shows where to look when the numbers are wrong
        and no rule has a finding. Each has ``mutation`` (the place of the write), ``holder`` (the other name for that
        memory) and ``read`` (the place of a later read by that name, or None).

        Example:
            >>> print(report.suspects()[0])
            `kept[0]` and `x` are one memory since line 8; line 12 writes `x`; line 20 reads `kept[0]`. …
        """
        from inplace_magic.analysis.story import story_of
        from inplace_magic.hazards.suspects import suspects

        with use_language(self.language, self.framework):
            return suspects(story_of(self.trace))

    def patch(self) -> str:
        """Return the fixes as one patch for ``git apply`` in the working directory; empty if there are none. A cell is
        called ``In[4].py``. Notes and refuted fixes are left out."""
        from inplace_magic.source.hunks import patch_of

        return patch_of(self.trace, [finding.diff for finding in self.findings if finding.severity != "info"])

    @property
    def blindness(self) -> list[str]:
        """Sentences on what this watch could not see, in the report's language."""
        with use_language(self.language, self.framework):
            return [retold(sentence) for sentence in self.trace.blindness]

    @property
    def faults(self) -> list[str]:
        """Internal errors of this package, which did not reach the program; please report them."""
        return list(self.trace.faults)

    @property
    def verdict(self) -> str:
        """One sentence: the worst finding, or that there is none."""
        from inplace_magic.render.verdict import verdict

        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as JSON's plain types."""
        trace = codec.to_plain(self.trace)
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **({"language": self.language} if self.language != LANGUAGES[0] else {}),
            "verdict": self.verdict,
            "hazards": codec.to_plain(self.findings),
            "calls": trace.pop("calls"),
            "blindness": trace.pop("blindness"),
            "trace": trace,
        }

    def to_json(self, path: str | os.PathLike[str] | None = None, *, indent: int | None = None) -> str:
        """Return :meth:`to_dict` as JSON text, and write it to ``path`` if there is one. Non-finite numbers become
        ``NaN`` and ``Infinity``."""
        return self._written(json.dumps(self.to_dict(), indent=indent, ensure_ascii=False), path)

    def findings_json(self) -> str:
        """Return the findings alone as one line of JSON, at most 2 kB each, for programs and assistants: codes, places,
        proofs. Its format is stable, see ``docs/machines.md``; :meth:`to_json` has the whole record."""
        from inplace_magic.render.machines.findings import to_findings_json

        return to_findings_json(self)

    @classmethod
    def from_json(cls, text: str | bytes | bytearray) -> Report:
        """Open a saved report. Nothing in it is executed.

        Args:
            text: text of :meth:`to_json`, or the bytes of a file with it.

        Raises:
            ReportFormatError: this version cannot read the text; one sentence says why.
        """
        return cls(*parts_of_text(text))

    @classmethod
    def from_dict(cls, data: Any) -> Report:
        """Return the inverse of :meth:`to_dict`.

        Raises:
            ReportFormatError: as :meth:`from_json`.
        """
        return cls(*parts_of(data))

    def to_frame(self, view: FrameView = "tensors") -> pd.DataFrame:
        """Return a table of plain integers and strings, always in English, since code relies on its words.

        Args:
            view: ``tensors`` (one row per tensor and version), ``calls``, ``lines`` (memory by line), ``memory`` (by
                call), ``ops`` (by operator, at level ``ops``), ``saved`` (what autograd keeps for backward).

        Raises:
            ValueError: an unknown view; the text lists the known ones.
        """
        from inplace_magic.render.tables.frames import to_frame

        return to_frame(self, view)

    def to_dot(self, *, raw: bool = False, expanded: Collection[str] = frozenset()) -> str:
        """Return the autograd graph as DOT text. The same run gives the same text unless ``raw`` asks for addresses.

        A large graph is folded. ``expanded`` lists groups to draw open, by their keys in the DOT text and in the SVG's
        ``data-k``, e.g. ``F18-23``. Unknown keys change nothing.
        """
        from inplace_magic.render.graph.dot import to_dot

        return to_dot(self, raw=raw, expanded=expanded)

    def to_svg(self, *, raw: bool = False, expanded: Collection[str] = frozenset()) -> str:
        """Return the autograd graph as a standalone SVG; the arguments are those of :meth:`to_dot`."""
        from inplace_magic.render.graph.layout import to_svg

        with use_language(self.language, self.framework):
            return to_svg(self.to_dot(raw=raw, expanded=expanded))

    def to_html(self, path: str | os.PathLike[str] | None = None, *, raw: bool = False, graph: bool = True) -> str:
        """Return one self-contained page: no network, no kernel.

        Args:
            path: a file to write it to as well.
            raw: show raw ``id`` and ``data_ptr`` in the picture too.
            graph: draw the autograd graph.
        """
        from inplace_magic.render.page.html import to_page

        return self._written(to_page(self, raw=raw, graph=graph), path)

    def to_widget(self) -> ReportWidget:
        """Return the live view for a running kernel: folded boxes open, *Values now* shows values, Python reads and
        sets the selection. See :class:`.ReportWidget`."""
        with needed(_("The live view"), "anywidget", "ipywidgets", "traitlets"):
            from inplace_magic.widgets.report_widget import ReportWidget

        return ReportWidget(self)

    def to_text(self) -> str:
        """Return the whole report as text, for terminals, diffs and screen readers."""
        from inplace_magic.render.text import to_text

        return to_text(self)

    @property
    def graph(self) -> Graph:
        """The autograd graph, mutated nodes highlighted; as the last value of a cell it shows itself."""
        from inplace_magic.render.page.html import Graph

        return Graph(self)

    @property
    def memory(self) -> pd.DataFrame:
        """Memory by line in bytes, in the order of the lines. ``delta`` is allocated minus freed, and sums to the whole
        change; ``kept_for_backward`` counts bytes newly kept for backward because of the line. :meth:`to_frame` has
        more columns."""
        from inplace_magic.render.tables.frames import memory_frame

        return memory_frame(self)

    @property
    def tensors(self) -> pd.DataFrame:
        """Each tensor and version: ``to_frame("tensors")``."""
        return self.to_frame("tensors")

    @property
    def saved(self) -> pd.DataFrame:
        """What autograd keeps for backward: ``to_frame("saved")``."""
        return self.to_frame("saved")

    def save(self, path: str | os.PathLike[str], *, raw: bool = False, graph: bool = True) -> Path:
        """Write the report to a file and return its path. The suffix picks the format: ``.html``, ``.svg``, ``.png``,
        ``.dot``, ``.json`` or ``.csv``; ``raw`` and ``graph`` are those of :meth:`to_html`.

        Raises:
            InplaceMagicError: unknown suffix, or the file cannot be written.
        """
        from inplace_magic.render.save import save

        return save(self, path, raw=raw, graph=graph)

    def show(self) -> None:
        """Show the whole report, as output in a notebook, as text elsewhere."""
        from inplace_magic.render.terminal import shown

        shown(self)

    def _written(self, text: str, path: str | os.PathLike[str] | None) -> str:
        if path is not None:
            from inplace_magic.render.save import write

            write(path, text)
        return text

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(no_attribute(name))

    def __dir__(self) -> list[str]:
        return sorted(FOR_ALL)

    def __repr__(self) -> str:
        return f"<Report: {self.verdict}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from inplace_magic.render import to_mimebundle

        return to_mimebundle(self)
