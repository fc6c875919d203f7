"""What one watch found: the trace and what follows from it, in one frozen record."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from inplace_magic.errors import ReportFormatError
from inplace_magic.hazards import Hazard, find_hazards
from inplace_magic.language import LANGUAGES, _, language, use_language
from inplace_magic.record import codec
from inplace_magic.record.blindness import retold
from inplace_magic.record.events import CallEvent
from inplace_magic.record.garbage import collection_paused
from inplace_magic.record.live import LiveTensors
from inplace_magic.record.origin import Origin
from inplace_magic.record.proofs import retold as proof_retold
from inplace_magic.record.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from inplace_magic.widgets.report_widget import ReportWidget

FORMAT = "inplace_magic.report"
FORMAT_VERSION = 1
MAX_JSON_CHARACTERS = 1_000_000_000
FrameView = Literal["tensors", "calls", "lines", "memory", "ops", "saved"]


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The result of a watch: findings, calls, and every view of them.

    Renderers are imported when they are asked for, so a report costs little until it is looked at.
    """

    trace: Trace
    findings: tuple[Hazard, ...] = ()
    language: str = LANGUAGES[0]
    """In which its findings were made and every view of it is given: ``en`` or ``zh``."""
    live: LiveTensors | None = field(default=None, compare=False)
    """Weak references by which values can still be asked for; None for a report from a file."""
    origin: Origin | None = field(default=None, compare=False)
    """How the program can be run again; None for a report from a file."""

    @classmethod
    def from_trace(cls, trace: Trace) -> Report:
        """Runs the rules over a trace. A rule that fails becomes a line in :attr:`faults`, never an exception.

        The report is in the language of the session, or of the ``use_language`` block around it.
        """
        findings, faults = find_hazards(trace)
        return cls(replace(trace, faults=trace.faults + faults) if faults else trace, findings, language())

    def in_language(self, name: str) -> Report:
        """The same report in another language, its findings made anew from the trace. Of a report saved before traces
        told what autograd refused, the findings stay as they are.

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
            return replace(self, findings=_with_proofs(findings, self.findings), language=language())

    def prove(self) -> Report:
        """The report with its fixes tried: each finding of severity ``error`` or ``silent`` gets its ``proof``.

        The program is run again as it is written, with copies of everything that autograd saves, and with each fix,
        every time on copies of your variables as they are now. They, their gradients, all generators and settings are
        the same afterwards. A fix that does not cure, or does harm, is taken out of ``fix`` and ``diff``.

        Where that cannot be done, as for a report from a file, or where a run would write files, begin commands or use
        the network, the verdict is ``not tried`` with the reason.
        """
        from inplace_magic.proving.prove import proven

        return proven(self, sys._getframe(1))

    @property
    def hazards(self) -> list[Hazard]:
        """Findings, worst first."""
        return list(self.findings)

    @property
    def framework(self) -> str:
        """Whose tensors the report is about: ``torch`` or ``paddle``."""
        return self.trace.framework

    @property
    def calls(self) -> list[CallEvent]:
        """Every torch call of the user's code, in the order in which they began."""
        return list(self.trace.calls)

    def patch(self) -> str:
        """The fixes of its findings as one patch that ``git apply`` takes in the working directory; empty where there
        are none. A cell goes by the name ``In[4].py``. Notes, and fixes that were refuted, are left out."""
        from inplace_magic.source.patches import patch_of

        return patch_of(self.trace, [finding.diff for finding in self.findings if finding.severity != "info"])

    @property
    def blindness(self) -> list[str]:
        """Sentences on what this watch could not observe, in the report's language."""
        with use_language(self.language, self.framework):
            return [retold(sentence) for sentence in self.trace.blindness]

    @property
    def faults(self) -> list[str]:
        """Faults of this package, contained; each asks to be reported."""
        return list(self.trace.faults)

    @property
    def verdict(self) -> str:
        """One sentence: the worst finding, or that there is none."""
        from inplace_magic.render.verdict import verdict

        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole report as JSON's plain types."""
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

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as text; non-finite numbers are written as ``NaN`` and ``Infinity``."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes | bytearray) -> Report:
        """Opens a saved report. Nothing in it is executed.

        Args:
            text: what :meth:`to_json` gave, or the bytes of a file with it.

        Raises:
            ReportFormatError: the text is not a report that this version can read; one sentence says why.
        """
        if not isinstance(text, (str, bytes, bytearray)):
            raise ReportFormatError(
                _("A saved report is text; this is an object of type {type}.").format(type=type(text).__name__)
            )
        if len(text) > MAX_JSON_CHARACTERS:
            raise ReportFormatError(
                _("The saved report has {count} characters; more than {limit} are not read.").format(
                    count=len(text), limit=MAX_JSON_CHARACTERS
                )
            )
        with collection_paused():
            try:
                data = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise ReportFormatError(_("The saved report is not JSON: {error}.").format(error=error)) from None
            return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: Any) -> Report:
        """The inverse of :meth:`to_dict`.

        Raises:
            ReportFormatError: as :meth:`from_json`.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ReportFormatError(
                _("This is not a saved report: its `format` is not {format!r}.").format(format=FORMAT)
            )
        version = data.get("format_version")
        if type(version) is not int or version != FORMAT_VERSION:
            known = isinstance(version, int) and abs(version) < 10**9
            said = (
                _("This report has a format version {found}; this inplace_magic reads {version}.")
                if known
                else _(
                    "This report has a format version that is no version number; this inplace_magic reads {version}."
                )
            )
            raise ReportFormatError(said.format(found=repr(version), version=FORMAT_VERSION))
        rest = data.get("trace")
        if not isinstance(rest, dict):
            raise ReportFormatError(_("The saved report is damaged: it has no `trace`."))
        whole = {**rest, "calls": data.get("calls", []), "blindness": data.get("blindness", [])}
        try:
            trace = codec.from_plain(Trace, whole, "report")
            hazards = codec.from_plain(_Findings, {"hazards": data.get("hazards", [])}, "report").hazards
        except RecursionError:
            raise ReportFormatError(_("The saved report is damaged: it is nested too deeply.")) from None
        told = data.get("language")
        return cls(trace, hazards, told if isinstance(told, str) and told in LANGUAGES else LANGUAGES[0])

    def to_frame(self, view: FrameView = "tensors") -> pd.DataFrame:
        """A table of plain integers and strings, in English whatever the report's language: code relies on its words.

        Args:
            view: ``tensors`` (one row per tensor and version), ``calls``, ``lines`` (memory by line), ``memory`` (by
                call), ``ops`` (by operator, at level ``ops``), ``saved`` (what autograd keeps for backward).

        Raises:
            ValueError: another view; the text lists them.
        """
        from inplace_magic.render.tables.frames import to_frame

        return to_frame(self, view)

    def to_dot(self, *, raw: bool = False, expanded: Collection[str] = frozenset()) -> str:
        """The autograd graph as DOT text. The same run gives the same text unless ``raw`` asks for addresses.

        A large graph is folded: ``expanded`` names groups to draw open, by the keys that they have in the DOT text and
        as ``data-k`` in the SVG, e.g. ``F18-23``. Keys that the graph does not have change nothing.
        """
        from inplace_magic.render.graph.dot import to_dot

        return to_dot(self, raw=raw, expanded=expanded)

    def to_svg(self, *, raw: bool = False, expanded: Collection[str] = frozenset()) -> str:
        """The autograd graph as a standalone SVG; the arguments are those of :meth:`to_dot`."""
        from inplace_magic.render.graph.layout import to_svg

        with use_language(self.language, self.framework):
            return to_svg(self.to_dot(raw=raw, expanded=expanded))

    def to_html(self, *, raw: bool = False, graph: bool = True) -> str:
        """One self-contained page: no network, no kernel."""
        from inplace_magic.render.page.html import to_page

        return to_page(self, raw=raw, graph=graph)

    def to_widget(self) -> ReportWidget:
        """The live view of a running kernel: folded boxes open, values can be asked for, Python reads and sets what is
        selected. See :class:`.ReportWidget`."""
        from inplace_magic.widgets.report_widget import ReportWidget

        return ReportWidget(self)

    def to_text(self) -> str:
        """The whole report as text, for terminals, diffs and screen readers."""
        from inplace_magic.render.text import to_text

        return to_text(self)

    def __repr__(self) -> str:
        return f"<Report: {self.verdict}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from inplace_magic.render import to_mimebundle

        return to_mimebundle(self)


def _with_proofs(findings: tuple[Hazard, ...], proven: tuple[Hazard, ...]) -> tuple[Hazard, ...]:
    """Findings that were made anew with the proofs of before, and without the fixes that were refuted."""
    if len(findings) != len(proven):
        return findings
    pairs = zip(findings, proven, strict=True)
    kept = [(new, old, old.fix if new.diff != old.diff else new.fix) for new, old in pairs]
    return tuple(
        new if old.proof is None else replace(new, proof=proof_retold(old.proof), diff=old.diff, fix=fix)
        for new, old, fix in kept
    )


@dataclass(frozen=True, slots=True)
class _Findings:
    hazards: tuple[Hazard, ...]
