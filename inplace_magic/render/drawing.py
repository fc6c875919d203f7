"""What of the graph is drawn: everything when it is small, a readable summary of it when it is large.

A training step of a small ResNet has a thousand vertices, of which most are parameters that only flow in and the
optimizer's arithmetic. Of a large graph, calls before the first one that autograd tracks are left out; parameters, and
statistics that a call writes without counting, move into the call's box; and groups of calls are folded into one box
each, see :mod:`inplace_magic.analysis.folding`. Each of it is said in the caption. What the findings are about, and
what is next to it, is always drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from inplace_magic.analysis.folding import folded, with_initialisations_folded
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.opening import LIMIT, OVERVIEW, CallGroups, groups_of
from inplace_magic.analysis.tree.folds import Fold, FoldedGraph, Hole
from inplace_magic.analysis.vertices import CallVertex, TensorVertex
from inplace_magic.hazards import Hazard
from inplace_magic.language import _, ngettext
from inplace_magic.record.grouped import grouped
from inplace_magic.render import style, words
from inplace_magic.render.roles import Roles, roles_of
from inplace_magic.render.temporaries import without_temporaries

SMALL = 40
"""Graphs up to this many vertices are drawn as they are."""
MANY = 3
"""A call that writes more tensors than this, such as an optimizer's, names them in its own box."""
MAX_NODES = 300
"""No picture has more; only then something is left out that findings are about."""
NEAR = 24
"""How many vertices around the findings are never folded."""
STARTS = 8
"""Around how many of the vertices that findings name."""
_SOURCE, _TARGET = attrgetter("source"), attrgetter("target")
_Within = dict[str, list[TensorVertex]]
"""By call key: tensors that stand in the call's box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing(FoldedGraph):
    """The vertices and arrows to draw, and what stands in their boxes for those that are not drawn."""

    roles: Roles
    makers: dict[str, CallVertex] = field(default_factory=dict)
    """By tensor key: the call that made it out of nothing, such as ``torch.randn``, shown inside the tensor's box."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """By call key: lines on the tensors that moved into the call's box."""
    captions: list[str] = field(default_factory=list)
    """Sentences on what is not drawn."""
    flows: Mapping[tuple[str, str], tuple[TensorVertex, ...]] = field(default_factory=dict)
    """Of an overview: the tensors that go from one box straight to another, by the keys of both."""
    reads: Mapping[str, list[TensorVertex]] = field(default_factory=dict)
    """Of an overview: the tensors that moved into a call's box because it reads them, by its key."""
    writers: frozenset[str] = frozenset()
    """Of an overview: the calls that write an existing tensor, and not statistics alone as BatchNorm does."""

    @property
    def overview(self) -> bool:
        """True if its boxes are modules, and no tensor is drawn between two of them."""
        return bool(self.whole)


@dataclass(frozen=True, slots=True)
class Outline:
    """What all drawings of a graph have in common, whatever is folded in them."""

    whole: AutogradGraph
    graph: AutogradGraph
    """What is left to draw or to fold."""
    roles: Roles
    reads: _Within
    """The tensors that a call reads, and that moved into its box."""
    writes: _Within
    """The same of those that it writes."""
    captions: list[str]
    tree: CallGroups | None = None
    """The groups that can be folded; None where the graph is small enough to be drawn as it is."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """The class of each module, by its path."""


def outline_of(
    whole: AutogradGraph,
    findings: tuple[Hazard, ...],
    modules: Mapping[str, str] | None = None,
    holes: Sequence[Hole] = (),
) -> Outline:
    """Leaves out of a large graph what no drawing of it shows.

    Args:
        findings: what must stay visible.
        modules: the class of each module, by its path.
        holes: where calls are missing, as :func:`.holes_of` gives it.
    """
    roles = roles_of(whole, findings)
    graph, captions = whole, []
    if len(graph) > SMALL:
        graph = _tracked(graph, roles)
        left_out = len(whole.calls) - len(graph.calls)
        if left_out:
            text = _("{calls} that autograd does not track: not drawn.")
            captions.append(text.format(calls=words.calls_of(left_out)))
    reads: _Within = {}
    writes: _Within = {}
    if len(whole) > SMALL:
        reads, writes = _within_calls(graph, roles)
        graph = _moved_into_calls(graph, roles, reads, writes)
    tree = groups_of(graph, holes) if len(graph) > SMALL else None
    return Outline(whole, graph, roles, reads, writes, captions, tree, modules or {})


def drawing_of(outline: Outline, *, expanded: Collection[str] = frozenset(), limit: int = LIMIT) -> Drawing:
    """Chooses what to draw of a graph.

    Args:
        outline: what :func:`outline_of` gives for it.
        expanded: keys of :class:`Fold` boxes to open; ignored where the picture would become too large.
    """
    whole, graph, roles, captions = outline.whole, outline.graph, outline.roles, outline.captions
    cut = with_initialisations_folded(graph, outline.modules, keep=roles.keys, expanded=expanded)
    if outline.tree is not None:
        cut = _folded(outline.tree, roles, expanded, limit)
        if len(cut) > MAX_NODES:
            near = graph.around(_starts(graph, roles) or [graph.calls[0].key], MAX_NODES)
            text = _("{shown} of {count} nodes are drawn: those nearest to the findings.")
            captions = [*captions, text.format(shown=len(near), count=len(whole))]
            cut = FoldedGraph(near)
        elif cut.folds and not cut.whole:
            inside = words.calls_of(sum(fold.ran for fold in cut.folds))
            text = ngettext(
                "{calls} folded into {count} green box.", "{calls} folded into {count} green boxes.", len(cut.folds)
            )
            captions = [*captions, text.format(calls=inside, count=len(cut.folds))]
    graph = cut.graph
    makers = _makers(whole, graph, roles)
    made = {maker.key for maker in makers.values()}
    calls = tuple(call for call in graph.calls if call.key not in made)
    edges = tuple(edge for edge in graph.edges if edge.source not in made)
    graph = AutogradGraph(graph.tensors, calls, edges, graph.unplaced)
    results: dict[str, list[str]] = {}
    if len(whole) > SMALL:
        graph, results = without_temporaries(graph, set(roles.keys), overview=bool(cut.whole))
        if cut.whole:
            graph = _of_overview(graph, roles)
        graph = _without(graph, set(), roles)  # views of which a folded box holds all that came of them
    said = {call.key: [*_moved_into(call.key, outline), *results.get(call.key, ())] for call in graph.calls}
    notes = {key: told for key, told in said.items() if told}
    return Drawing(
        graph,
        cut.folds,
        cut.frames,
        cut.whole,
        roles=roles,
        makers=makers,
        notes=notes,
        captions=captions,
        flows=_flows(outline.graph, graph, cut.folds) if cut.whole else {},
        reads=outline.reads,
        writers=frozenset(f"C{tensor.made_by}" for tensor in outline.graph.tensors if tensor.mutated),
    )


def _of_overview(graph: AutogradGraph, roles: Roles) -> AutogradGraph:
    """Without arrows that say what is kept or shared where another one says what flows, or both ends are calls."""
    data = {(edge.source, edge.target) for edge in graph.edges if edge.kind == "data"}
    tensors = {tensor.key for tensor in graph.tensors}
    edges = tuple(
        edge
        for edge in graph.edges
        if edge.kind == "data"
        or edge in roles.broken
        or ((edge.source, edge.target) not in data and not tensors.isdisjoint((edge.source, edge.target)))
    )
    return replace(graph, edges=edges)


def _flows(
    graph: AutogradGraph, drawn: AutogradGraph, folds: tuple[Fold, ...]
) -> dict[tuple[str, str], tuple[TensorVertex, ...]]:
    """Return the tensors that stand on arrows: from the box of their maker to that of a reader, and have none of their
    own."""
    inside = {f"C{call}": fold.key for fold in folds for call in fold.calls}
    boxes = {tensor.key for tensor in drawn.tensors}
    tensors = {tensor.key: tensor for tensor in graph.tensors if tensor.key not in boxes}
    makers = {edge.target: edge.source for edge in graph.edges if edge.kind == "data" and edge.target in tensors}
    found: dict[tuple[str, str], dict[str, TensorVertex]] = {}
    for key, reader, kind, _name in graph.edges:
        maker = makers.get(key)
        if kind == "data" and maker is not None:
            pair = inside.get(maker, maker), inside.get(reader, reader)
            if pair[0] != pair[1]:
                found.setdefault(pair, {})[key] = tensors[key]
    return {pair: tuple(known.values()) for pair, known in found.items()}


def _folded(tree: CallGroups, roles: Roles, expanded: Collection[str], limit: int) -> FoldedGraph:
    # Beside a finding an overview shows whole modules, of which more are in sight than of calls.
    keep = set(roles.keys) if limit <= OVERVIEW and roles.keys else _neighbourhood(tree.graph, roles)
    cut = folded(tree, keep=keep, expanded=expanded, limit=limit)
    return cut if len(cut) <= MAX_NODES else folded(tree, keep=keep)  # too much was asked to be open


def _neighbourhood(graph: AutogradGraph, roles: Roles) -> set[str]:
    starts = _starts(graph, roles)[:STARTS]
    near = _keys(graph.around(starts, NEAR)) if starts else set()
    return near | set(roles.keys[: MAX_NODES // 2])


def _keys(graph: AutogradGraph) -> set[str]:
    return {tensor.key for tensor in graph.tensors} | {call.key for call in graph.calls}


def _starts(graph: AutogradGraph, roles: Roles) -> list[str]:
    """What the findings name, else the call that raised."""
    shown = _keys(graph)
    raised = [call.key for call in graph.calls if call.error is not None]
    return [key for key in roles.keys if key in shown] or raised[-1:]


def _tracked(graph: AutogradGraph, roles: Roles) -> AutogradGraph:
    named = set(roles.keys)
    first = next((call.call for call in graph.calls if call.nodes), None)
    if first is None:
        return graph
    # What an optimizer's step is about: a parameter that was written after training began.
    steps = {each.key for each in graph.tensors if each.mutated and each.is_trainable and (each.made_by or 0) > first}
    stepped = {edge.source for edge in graph.edges if edge.target in steps}
    kept = {call.key for call in graph.calls if call.nodes or call.error is not None} | named | stepped
    return _without(graph, {call.key for call in graph.calls if call.key not in kept}, roles)


def _without(graph: AutogradGraph, gone: set[str], roles: Roles) -> AutogradGraph:
    """Return the graph without some vertices, and without tensors that only they gave a reason to draw."""
    edges = graph.edges
    if gone:
        edges = tuple([edge for edge in edges if edge.source not in gone and edge.target not in gone])
    views = [edge for edge in edges if edge.kind == "view"]
    used = [edge for edge in edges if edge.kind != "view"] if views else edges
    joined = {*map(_SOURCE, used), *map(_TARGET, used), *roles.keys}
    bases = {edge.target: edge.source for edge in views}
    # A view that is drawn shows its base; a base does not show views that nobody drawn reads.
    for key in [*joined] if bases else ():
        while key in bases and bases[key] not in joined:
            key = bases[key]
            joined.add(key)
    if views:
        edges = tuple([edge for edge in edges if edge.source in joined and edge.target in joined])
    return AutogradGraph(
        tuple([tensor for tensor in graph.tensors if tensor.key in joined and tensor.key not in gone]),
        tuple([call for call in graph.calls if call.key not in gone]) if gone else graph.calls,
        edges,
        graph.unplaced,
    )


def _within_calls(graph: AutogradGraph, roles: Roles) -> tuple[_Within, _Within]:
    """The tensors that stand in a call's box because it reads them, and because it writes them."""
    named = set(roles.keys)
    made = {*map(_TARGET, graph.edges)}
    targets: dict[str, set[str]] = {tensor.key: set() for tensor in graph.tensors if tensor.key not in made}
    sources: dict[str, set[str]] = {tensor.key: set() for tensor in graph.tensors if "+" in tensor.key}
    for source, target, _kind, _name in graph.edges:
        if source in targets:
            targets[source].add(target)
        if sources and target in sources:
            sources[target].add(source)
    written = Counter([tensor.made_by for tensor in graph.tensors if tensor.mutated])
    seen = {call.call for call in graph.calls}
    reads: _Within = {}
    writes: _Within = {}
    for tensor in graph.tensors:
        if tensor.key in named:
            continue
        into = targets.get(tensor.key)
        if into is not None and not tensor.is_variable and (len(into) == 1 or tensor.is_trainable):
            for key in into:
                reads.setdefault(key, []).append(tensor)
        elif tensor.mutated and "+" in tensor.key and len(sources[tensor.key]) == 1:
            writes.setdefault(next(iter(sources[tensor.key])), []).append(tensor)
        elif tensor.mutated and written[tensor.made_by] > MANY and tensor.made_by in seen:
            writes.setdefault(f"C{tensor.made_by}", []).append(tensor)
    return reads, writes


def _moved_into_calls(graph: AutogradGraph, roles: Roles, reads: _Within, writes: _Within) -> AutogradGraph:
    gone = {tensor.key for tensors in (*reads.values(), *writes.values()) for tensor in tensors}
    passed_on = {tensor.key: key for key, tensors in writes.items() for tensor in tensors if "+" not in tensor.key}
    edges = [
        edge._replace(source=passed_on[edge.source]) if edge.source in passed_on and edge.kind == "data" else edge
        for edge in graph.edges
    ]
    return _without(replace(graph, edges=tuple(dict.fromkeys(edges))), gone, roles)


def _moved_into(call: str, outline: Outline) -> list[str]:
    """What a call's box says of the tensors that moved into it."""
    said = []
    if read := outline.reads.get(call):
        said.append(_("reads {tensors}").format(tensors=_listed(read)))
    if wrote := outline.writes.get(call):
        said.append(f"{style.EFFECT_SYMBOL['mutated']} {_('writes {tensors}').format(tensors=_listed(wrote))}")
    return said


def _listed(tensors: list[TensorVertex]) -> str:
    first = tensors[0]
    label = words.tensor_label(first.tensor, {first.tensor: first.name})
    if len(tensors) == 1:
        return label
    return _("{shown} and {count} more").format(shown=label, count=len(tensors) - 1)


def _makers(whole: AutogradGraph, graph: AutogradGraph, roles: Roles) -> dict[str, CallVertex]:
    # Of the whole graph: a call whose inputs are merely not drawn did not make its output out of nothing.
    reached = {edge.target for edge in whole.edges}
    outputs = grouped((edge.source, edge.target) for edge in graph.edges)
    named = set(roles.keys)
    alone = (call for call in graph.calls if call.key not in reached and call.key not in named and call.error is None)
    return {outputs[call.key][0]: call for call in alone if len(outputs.get(call.key, ())) == 1}
