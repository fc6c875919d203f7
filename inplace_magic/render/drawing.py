"""What of the graph is drawn: everything when it is small, the readable part of it when it is large.

A training step of a small ResNet has a thousand vertices, of which most are the optimizer's arithmetic and parameters
that only flow in. Three things are done, each only when the graph is still too large, and each said in the caption:
calls that autograd does not track are left out; parameters that flow into one call, and statistics that it writes
without counting, move into that call's box; and of what is larger still, the part nearest to the findings is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from inplace_magic.analysis.graph import AutogradGraph, CallVertex, Edge, TensorVertex
from inplace_magic.hazards import Hazard
from inplace_magic.render import style, words
from inplace_magic.render.roles import Roles, roles_of

SMALL = 40
"""Graphs up to this many vertices are drawn as they are."""
MAX_NODES = 300
"""Larger graphs are not drawn whole."""
NEAR = 60
"""How many vertices around the findings are drawn instead; more would not be readable on one screen."""
STARTS = 8
"""How many vertices that part grows from; with more of them it would be many islands without arrows."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The vertices and arrows to draw, and what stands in their boxes for those that are not drawn."""

    graph: AutogradGraph
    roles: Roles
    makers: dict[str, CallVertex] = field(default_factory=dict)
    """By tensor key: the call that made it out of nothing, such as ``torch.randn``, shown inside the tensor's box."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """By call key: lines on the tensors that moved into the call's box."""
    captions: list[str] = field(default_factory=list)
    """Sentences on what is not drawn."""


def drawing_of(whole: AutogradGraph, findings: tuple[Hazard, ...]) -> Drawing:
    """Chooses what to draw of a graph."""
    roles = roles_of(whole, findings)
    graph, captions = whole, []
    if len(graph) > SMALL:
        graph = _tracked(graph, roles)
        left_out = len(whole.calls) - len(graph.calls)
        if left_out:
            captions.append(f"{words.plural(left_out, 'call')} that autograd does not track: not drawn.")
    notes: dict[str, list[str]] = {}
    if len(graph) > SMALL:
        graph, notes = _moved_into_calls(graph, roles)
    if len(graph) > MAX_NODES:
        starts, what = _focus(graph, roles)
        part = graph.around(starts[:STARTS], NEAR)
        captions.append(f"{len(part)} of {len(whole)} nodes are drawn: those nearest to {what}.")
        graph = part
    makers = _makers(whole, graph, roles)
    made = {maker.key for maker in makers.values()}
    calls = tuple(call for call in graph.calls if call.key not in made)
    edges = tuple(edge for edge in graph.edges if edge.source not in made)
    return Drawing(AutogradGraph(graph.tensors, calls, edges, graph.unplaced), roles, makers, notes, captions)


def _tracked(graph: AutogradGraph, roles: Roles) -> AutogradGraph:
    named = set(roles.keys)
    kept = {call.key for call in graph.calls if call.nodes or call.error is not None or call.key in named}
    return _without(graph, {call.key for call in graph.calls if call.key not in kept}, roles) if kept else graph


def _without(graph: AutogradGraph, gone: set[str], roles: Roles) -> AutogradGraph:
    """The graph without some vertices, and without tensors that only they gave a reason to draw."""
    edges = tuple(edge for edge in graph.edges if edge.source not in gone and edge.target not in gone)
    joined = {key for edge in edges for key in (edge.source, edge.target)} | set(roles.keys)
    return AutogradGraph(
        tuple(tensor for tensor in graph.tensors if tensor.key not in gone and tensor.key in joined),
        tuple(call for call in graph.calls if call.key not in gone),
        edges,
        graph.unplaced,
    )


def _moved_into_calls(graph: AutogradGraph, roles: Roles) -> tuple[AutogradGraph, dict[str, list[str]]]:
    named = set(roles.keys)
    sources: dict[str, list[Edge]] = {}
    targets: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        targets.setdefault(edge.source, []).append(edge)
        sources.setdefault(edge.target, []).append(edge)
    reads: dict[str, list[TensorVertex]] = {}
    writes: dict[str, list[TensorVertex]] = {}
    for tensor in graph.tensors:
        into = {edge.target for edge in targets.get(tensor.key, ())}
        out_of = {edge.source for edge in sources.get(tensor.key, ())}
        if tensor.key in named:
            continue
        if tensor.origin == "given" and not out_of and len(into) == 1:
            reads.setdefault(into.pop(), []).append(tensor)
        elif tensor.mutated and "+" in tensor.key and len(out_of) == 1 and not into:
            writes.setdefault(out_of.pop(), []).append(tensor)
    gone = {tensor.key for tensors in (*reads.values(), *writes.values()) for tensor in tensors}
    notes: dict[str, list[str]] = {}
    for key, tensors in reads.items():
        notes.setdefault(key, []).append(f"reads {_listed(tensors)}")
    for key, tensors in writes.items():
        notes.setdefault(key, []).append(f"{style.EFFECT_SYMBOL['mutated']} writes {_listed(tensors)}")
    return _without(graph, gone, roles), notes


def _listed(tensors: list[TensorVertex]) -> str:
    first = tensors[0]
    more = f" and {len(tensors) - 1} more" if len(tensors) > 1 else ""
    return words.tensor_label(first.tensor, {first.tensor: first.name}) + more


def _focus(graph: AutogradGraph, roles: Roles) -> tuple[list[str], str]:
    shown = {vertex.key for vertex in graph.tensors} | {vertex.key for vertex in graph.calls}
    raised = [call.key for call in graph.calls if call.error is not None]
    mutated = [tensor.key for tensor in graph.tensors if tensor.mutated]
    if roles.keys:
        return [key for key in roles.keys if key in shown], "the findings"
    if raised:
        return raised[-1:], "the call that raised"
    return (mutated[:1], "the first mutation") if mutated else ([graph.calls[0].key], "the first call")


def _makers(whole: AutogradGraph, graph: AutogradGraph, roles: Roles) -> dict[str, CallVertex]:
    # Of the whole graph: a call whose inputs are merely not drawn did not make its output out of nothing.
    reached = {edge.target for edge in whole.edges}
    outputs: dict[str, list[str]] = {}
    for edge in graph.edges:
        outputs.setdefault(edge.source, []).append(edge.target)
    named = set(roles.keys)
    alone = (call for call in graph.calls if call.key not in reached and call.key not in named and call.error is None)
    return {outputs[call.key][0]: call for call in alone if len(outputs.get(call.key, ())) == 1}
