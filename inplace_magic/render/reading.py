"""What several parts of a rendering need of a report, each worked out once and only when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, wraps
from itertools import accumulate, compress
from typing import Any, TypeVar, cast

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.memory.ledger import Ledger, LineMemory
from inplace_magic.analysis.opening import LIMIT
from inplace_magic.analysis.saved import Kept, kept_for_backward
from inplace_magic.analysis.story import Story, story_of
from inplace_magic.analysis.tree.folds import holes_of
from inplace_magic.analysis.vertices import TensorVertex
from inplace_magic.language import _, sentences, use_language
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render import words
from inplace_magic.render.drawing import Drawing, Outline, drawing_of, outline_of
from inplace_magic.render.lines import LineStory, lines_of
from inplace_magic.report import Report

MOST_IN_A_NOTEBOOK, MOST_IN_A_FILE = 4_000, 20_000
"""Calls; half a second, and three seconds on one core of a server."""
_BEGINNING = 4
"""This share of them, one fourth, is the beginning."""


def part_of(report: Report, most: int) -> Trace:
    """Return the trace, or where it has more than so many calls, a part of half as many; findings and verdict are
    always of the whole.

    A picture of a hundred thousand calls is folded to forty boxes in any case, and to find out which takes longer than
    the run. So of a long record the first calls are drawn, the latest, and those of the findings; a sentence says so.
    They are half of what is drawn whole: whoever does not see all waits for a long record as it is.
    """
    trace = report.trace
    if len(trace.calls) <= most:
        return trace
    most //= 2
    first = most // _BEGINNING
    told = {
        number
        for finding in report.findings
        for number in (finding.call, finding.saved_call, finding.read_call)
        if number is not None
    }
    calls = trace.calls[:first] + tuple(call for call in trace.calls[first : first - most] if call.index in told)
    calls += trace.calls[first - most :]
    known = {call.index for call in calls}
    nodes = tuple(node for node in trace.nodes if node.call is None or node.call in known)
    numbers = {node.node for node in nodes}
    kept = [op.call is None or op.call in known for op in trace.ops]
    before = [0, *accumulate(kept)]  # how many are kept before each operator, and before the end
    storages = tuple(
        replace(
            storage,
            born_op=before[storage.born_op] if storage.born_op is not None and kept[storage.born_op] else None,
            ended_op=None if storage.ended_op is None else before[storage.ended_op],
            resizes=tuple(each for each in storage.resizes if each.call in known),
        )
        for storage in trace.storages
        if storage.born is None or storage.born in known
    )
    return replace(
        trace,
        calls=calls,
        nodes=nodes,
        saved=tuple(saved for saved in trace.saved if saved.node in numbers),
        storages=storages,
        backwards=tuple(each for each in trace.backwards if each.call in known),
        ops=tuple(compress(trace.ops, kept)),
        kept_by_hooks=tuple(each for each in trace.kept_by_hooks if each.write in known),
    )


Renderer = TypeVar("Renderer", bound=Callable[..., Any])


def in_its_language(render: Renderer) -> Renderer:
    """Makes a renderer speak the language of the report, or the comparison, that it is given."""

    @wraps(render)
    def speaking(report: Any, /, *args: Any, **settings: Any) -> Any:
        with use_language(report.language, getattr(report, "framework", None)):
            return render(report, *args, **settings)

    return cast(Renderer, speaking)


FEW_ROWS = 6
"""Rows of a table in a notebook, which is kept in version control; a sentence tells how to get the rest."""
MANY_ROWS = 200
"""Rows of a table in a file of its own."""


@dataclass(frozen=True)
class Reading:
    """A report while it is being rendered, in one form or in several; of no use, and large, afterwards."""

    report: Report
    rows: int = FEW_ROWS
    """Rows of each table, and lines of each section of the text."""
    most: int | None = None
    """Calls that are drawn and tabulated; None: all."""

    @cached_property
    def trace(self) -> Trace:
        """What is drawn and tabulated."""
        return self.report.trace if self.most is None else part_of(self.report, self.most)

    @property
    def part(self) -> str:
        """A sentence on what of the calls that is; empty where it is all."""
        whole = self.report.trace
        shown, kept, ran = len(self.trace.calls), len(whole.calls), len(whole.calls) + whole.discarded
        if shown == ran:
            return ""
        text = _(
            "Picture, timeline, tables and the counts in them are of {shown} of the {count} calls: the first, the "
            "latest and those of the findings."
        )
        rest = _("{frame} has all of them.") if kept == ran else _("{frame} has the {kept} that were kept.")
        told = sentences(text, rest) if shown < kept else text
        frame = words.of_report(self.report, "to_frame")
        return told.format(shown=f"{shown:,}", count=f"{ran:,}", kept=f"{kept:,}", frame=frame)

    @cached_property
    def verdict(self) -> str:
        return self.report.verdict

    @cached_property
    def story(self) -> Story:
        return story_of(self.trace)

    @property
    def names(self) -> dict[int, str]:
        return self.story.best_names

    @cached_property
    def graph(self) -> AutogradGraph:
        return AutogradGraph.of(self.story)

    @cached_property
    def outline(self) -> Outline:
        """What of the graph is drawn or folded."""
        modules = {module.path: module.cls for module in self.trace.module_names}
        return outline_of(self.graph, self.report.findings, modules, holes_of(self.trace.calls))

    def drawing(self, expanded: Collection[str] = frozenset(), limit: int = LIMIT) -> Drawing:
        """Return the graph as it is drawn, for its picture and for the script beside it; the arguments are
        `drawing_of`'s."""
        return self._drawings(frozenset(expanded), limit)

    @cached_property
    def _drawings(self) -> Callable[[frozenset[str], int], Drawing]:
        outline = self.outline  # and not self: a reading in a cycle would outlive its last reader
        return lru_cache(1)(lambda expanded, limit: drawing_of(outline, expanded=expanded, limit=limit))

    @cached_property
    def lines(self) -> tuple[LineStory, ...]:
        return lines_of(self.story)

    @cached_property
    def ledger(self) -> Ledger:
        """What was allocated and freed."""
        return Ledger(self.trace)

    @property
    def memory(self) -> tuple[LineMemory, ...]:
        return self.ledger.by_line

    @property
    def knows_memory(self) -> bool:
        """True if bytes were recorded at all; level ``writes`` records none."""
        return self.trace.level != "writes"

    @property
    def calls(self) -> dict[int | None, CallEvent]:
        return self.story.calls

    @cached_property
    def saved(self) -> tuple[Kept, ...]:
        return kept_for_backward(self.story)

    def place(self, site: Callsite | None) -> str:
        """``line 4`` of the watched cell, ``Cell In[7], line 4``, ``model.py:31``."""
        return words.short_place(site, self.trace)

    def written_as(self, tensor: TensorVertex) -> str | None:
        """What the line that wrote a version calls the tensor; None where no line did, or it has no name there."""
        call = self.calls.get(tensor.made_by) if tensor.origin == "mutated" else None
        return self.story.bindings.written_as(call, tensor.tensor) if call is not None else None

    def title(self, tensor: TensorVertex) -> str:
        """``T4 probs v0→v1``."""
        before, after = tensor.version_before, tensor.version
        label = words.tensor_label(tensor.tensor, {tensor.tensor: tensor.name}, self.written_as(tensor))
        return f"{label} {words.version_step(before, after) if tensor.mutated else words.version(after)}"

    def node_name(self, node: int | None) -> str:
        """What PyTorch calls a ``grad_fn``: empty for none, ``unknown`` for one that was not recorded."""
        if node is None:
            return ""
        known = self.story.nodes.get(node)
        return known.name if known is not None else _("unknown")
