"""The tensors of a new module with the calls that filled them, folded into one box.

``conv = nn.Conv2d(3, 8, 3)`` makes two tensors, two parameters on their memory, and writes each of them once: eight
boxes, two of them marked as mutated in place, for a line in which the reader wrote nothing. What a finding is about is
never folded here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.tree.folds import Fold, FoldedGraph
from inplace_magic.analysis.tree.module_names import steps_of
from inplace_magic.analysis.vertices import CallVertex, Edge, TensorVertex
from inplace_magic.record.grouped import grouped


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
    edges: dict[Edge, None] = {}
    for edge in graph.edges:
        source, target = inside.get(edge.source, edge.source), inside.get(edge.target, edge.target)
        if source != target:
            edges[Edge(source, target, edge.kind, edge.name)] = None
    shown = AutogradGraph(
        tuple(tensor for tensor in graph.tensors if tensor.key not in inside),
        tuple(call for call in graph.calls if call.key not in inside),
        tuple(edges),
        graph.unplaced,
    )
    drawn = set(inside.values())
    return FoldedGraph(shown, tuple(fold for fold in folds if fold.key in drawn))


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
