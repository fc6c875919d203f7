"""A large graph with one box for each part that is not opened, and frames around those that are.

What is open: :mod:`inplace_magic.analysis.opening`. Arrows that led into a closed part lead to its box.

Of any graph, the tensors of a new module and the calls that filled them are one box. ``conv = nn.Conv2d(3, 8, 3)``
makes two tensors, two parameters on their memory, and writes each of them once: eight boxes, two of them marked as
mutated in place, for a line in which the reader wrote nothing. What a finding is about is never folded here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from inplace_magic.analysis.call_tree import layers_path, lines_of
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.opening import LIMIT, CallGroups, Cut
from inplace_magic.analysis.tree.branches import Branch, are_layers, module_path, passes_of
from inplace_magic.analysis.tree.folds import Fold, FoldedGraph, Frame, has_hole
from inplace_magic.analysis.tree.module_names import steps_of
from inplace_magic.analysis.vertices import CallVertex, Edge, TensorVertex
from inplace_magic.record.grouped import grouped

_key = attrgetter("key")


def folded(
    groups: CallGroups, *, keep: Collection[str] = (), expanded: Collection[str] = (), limit: int = LIMIT
) -> FoldedGraph:
    """Folds a graph; the arguments are those of :class:`.Cut`."""
    return _Folding(Cut(groups, keep=keep, expanded=expanded, limit=limit)).result()


class _Folding:
    def __init__(self, cut: Cut) -> None:
        self.cut, self.graph = cut, cut.groups.graph
        self.tensors, self.makers, self.made = cut.tensors, cut.makers, cut.made

    def result(self) -> FoldedGraph:
        closed: list[Branch] = []
        frames: list[Branch] = []
        self._walk(self.cut.top, closed, frames)
        inside = {call.key: branch.key for branch in closed for call in branch.calls}
        inside.update({tensor: inside[call] for tensor, call in self.makers.items() if call in inside})
        self._take_in_sources(inside)
        edges: dict[Edge, None] = {}
        leaves: dict[str, dict[str, None]] = {}
        used = {edge.source for edge in self.graph.edges if edge.kind == "data"}
        for edge in self.graph.edges:
            first, last, kind, name = edge
            source, target = inside.get(first, first), inside.get(last, last)
            if source == target:
                continue
            # A call is the source where what it wrote stands in its own box: then no tensor leaves the fold.
            if source is not first and kind == "data" and first in self.tensors:
                leaves.setdefault(source, {})[first] = None
            if source is first and target is last:
                edges[edge] = None
            elif kind == "data":
                edges[Edge(source, target, kind, name)] = None
        shown = self.graph.without(inside, edges)
        members = grouped((fold, key) for key, fold in inside.items())
        folds = tuple(self._fold(branch, members[branch.key], leaves.get(branch.key, {}), used) for branch in closed)
        return FoldedGraph(shown, folds, tuple(self._frame(branch, inside) for branch in frames), self.cut.whole)

    def _walk(self, branches: Iterable[Branch], closed: list[Branch], frames: list[Branch]) -> None:
        for branch in branches:
            if branch.kind == "call":
                continue
            shown = self.cut.shown(branch)
            if shown is None:
                closed.append(branch)
                continue
            if self.cut.is_framed(branch):
                frames.append(branch)
            self._walk(shown, closed, frames)

    def _take_in_sources(self, inside: dict[str, str]) -> None:
        """A tensor that nobody made and only one fold uses is drawn inside it."""
        given = (edge for edge in self.graph.edges if edge.source not in self.makers and edge.source in self.tensors)
        users = grouped((edge.source, inside.get(edge.target, edge.target)) for edge in given)
        folds = set(inside.values())
        for tensor, (first, *others) in users.items():
            is_free = tensor not in self.cut.keep and not self.tensors[tensor].is_variable
            if is_free and first in folds and set(others) <= {first}:
                inside[tensor] = first

    def _fold(self, branch: Branch, members: list[str], leaves: dict[str, None], used: set[str]) -> Fold:
        versions = [self.tensors[key] for key in members if key in self.tensors]
        made = [vertex for vertex in versions if vertex.key in self.makers]
        unused = [vertex for vertex in made if vertex.key not in used and not vertex.mutated]
        results = [self.tensors[key] for key in leaves] or unused[-1:]
        more = branch.key in self.cut.more
        layers = more and are_layers(branch)
        loose = branch.step.kind == "line" and bool(branch.step.name)
        return Fold(
            key=branch.key,
            name=branch.step.name if branch.step.kind != "call" else "",
            path=layers_path(branch) if layers else "" if loose else module_path(branch),
            passes=passes_of(branch.parts) if branch.kind == "loop" else 1,
            more=more,
            layers=layers,
            calls=tuple(call.call for call in branch.calls),
            ran=sum([call.passes for call in branch.calls]),
            tensors=tuple(vertex.key for vertex in versions),
            results=tuple(results),
            mutated=tuple(vertex for vertex in made if vertex.mutated),
            site=branch.site,
            lines=lines_of(branch),
            loose=loose,
            partial=self._is_partial(branch),
        )

    def _frame(self, branch: Branch, inside: dict[str, str]) -> Frame:
        parts = self.cut.shown(branch) or []
        members = [key for part in parts for key in self._drawn(part)]
        return Frame(
            key=branch.key,
            name=branch.step.name if branch.step.kind == "run" else "",
            path=module_path(branch),
            passes=passes_of(branch.parts) if branch.kind == "loop" else 1,
            shown=sum(part.key not in self.cut.more for part in parts),
            members=tuple(key for key in members if key not in inside),
            site=branch.site,
            lines=lines_of(branch),
            partial=self._is_partial(branch),
        )

    def _is_partial(self, branch: Branch) -> bool:
        first, last = branch.calls[0].call, branch.calls[-1].call
        return has_hole(self.cut.groups.holes, first, last, around=branch.key in self.cut.more)

    def _drawn(self, branch: Branch) -> list[str]:
        """Keys of what stands for a branch: its call with the tensors it made, its fold, its frame or its parts."""
        if branch.kind == "call":
            call = branch.calls[0].key
            return [call, *self.made.get(call, ())]
        shown = self.cut.shown(branch)
        if shown is None or self.cut.is_framed(branch):
            return [branch.key]
        return [key for part in shown for key in self._drawn(part)]


@dataclass(slots=True)
class _Filled:
    """What one module's line made."""

    calls: dict[str, CallVertex] = field(default_factory=dict)
    versions: list[TensorVertex] = field(default_factory=list)
    last: list[TensorVertex] = field(default_factory=list)


def with_initialisations_folded(
    graph: AutogradGraph, modules: Mapping[str, str], *, keep: Collection[str] = (), expanded: Collection[str] = ()
) -> FoldedGraph:
    """Folds what filled the parameters and buffers of each module, on the line that made the module.

    Args:
        modules: the class of each module, by its path, e.g. ``{"net[0]": "Linear"}``.
        keep: keys of vertices that must be drawn themselves.
    """
    folds = [_fold(path, modules[path], filled) for path, filled in _filled(graph, modules).items()]
    inside: dict[str, str] = {}
    for fold in folds:
        keys = [*fold.tensors, *(f"C{call}" for call in fold.calls)]
        if fold.mutated and fold.key not in expanded and set(keys).isdisjoint(keep):
            inside.update(dict.fromkeys(keys, fold.key))
    if not inside:
        return FoldedGraph(graph)
    ends = ((inside.get(edge.source, edge.source), inside.get(edge.target, edge.target), edge) for edge in graph.edges)
    moved = (Edge(source, target, edge.kind, edge.name) for source, target, edge in ends if source != target)
    drawn = set(inside.values())
    return FoldedGraph(graph.without(inside, dict.fromkeys(moved)), tuple(fold for fold in folds if fold.key in drawn))


def _filled(graph: AutogradGraph, modules: Mapping[str, str]) -> dict[str, _Filled]:
    """By the path of a module, for each of its tensors: the call that made its memory, and those that wrote it before
    anything else read it.

    ``nn.Parameter(torch.empty(3))`` is no call, so a parameter is another tensor than the one that ``empty`` gave.
    """
    calls = {call.key: call for call in graph.calls}
    makers: dict[str, CallVertex] = {}
    reads: dict[str, set[str]] = {}
    for source, target, kind, _name in graph.edges:
        if kind == "data" and source in calls:
            makers[target] = calls[source]
        elif kind == "data":
            reads.setdefault(target, set()).add(source)
    used = {source for sources in reads.values() for source in sources}
    versions = grouped((vertex.tensor, vertex) for vertex in graph.tensors)
    made = grouped((f"C{vertex.made_by}", vertex) for vertex in graph.tensors)
    found: dict[str, _Filled] = {}
    for known in versions.values():
        path = "".join(steps_of(known[0].name)[:-1])
        maker = calls.get(f"C{known[0].made_by}")
        if path not in modules or known[0].mutated or maker is None or not _is_inside(maker) or maker.key in reads:
            continue
        raw = [vertex for vertex in made[maker.key] if vertex is not known[0] and vertex.key not in used]
        filled = found.setdefault(path, _Filled())
        filled.calls[maker.key] = maker
        filled.versions += [*raw, known[0]]
        for before, vertex in pairwise(known):
            writer = makers.get(vertex.key)
            if writer is None or not _is_inside(writer) or reads.get(writer.key) != {before.key}:
                break
            if writer.site is None or not writer.site.same_line(maker.site):
                break
            filled.calls[writer.key] = writer
            filled.versions.append(vertex)
        filled.last.append(filled.versions[-1])
    return found


def _is_inside(call: CallVertex) -> bool:
    """True if a library made the call for a line of the reader's, and autograd keeps nothing of it."""
    return call.site is not None and not call.site.direct and not call.nodes and not call.modules


def _fold(path: str, cls: str, filled: _Filled) -> Fold:
    calls = sorted(filled.calls.values(), key=lambda call: call.call)
    site = calls[0].site
    return Fold(
        key=f"F{calls[0].call}-{calls[-1].call}",
        name=cls,
        path=path,
        calls=tuple(call.call for call in calls),
        ran=sum([call.passes for call in calls]),
        tensors=tuple(vertex.key for vertex in filled.versions),
        results=tuple(filled.last),
        mutated=tuple(vertex for vertex in filled.versions if vertex.mutated),
        site=site,
        lines=(site.line, site.line) if site is not None else None,
        initialised=True,
    )
