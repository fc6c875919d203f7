"""Of a large graph: results without a name of their own stand in the box of the call that made them.

A reader knows the tensors that variables name; between them a model has many that only go from one call to the next.
A box for each of these makes a picture half as tall again and says nothing that the call's box cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.vertices import Edge, TensorVertex
from inplace_magic.language import _
from inplace_magic.render import words


def without_temporaries(
    graph: AutogradGraph, keep: Collection[str], *, overview: bool = False
) -> tuple[AutogradGraph, dict[str, list[str]]]:
    """Return the graph without the boxes of temporaries, and by call key what its box says instead.

    A temporary has no name, one version and one maker that makes nothing else, and something uses it. In an overview
    it is whatever has a maker and is used: what flows stands on the arrows.

    Args:
        overview: draw no tensor between two boxes.
    """
    calls = {call.key for call in graph.calls}
    versions = Counter(tensor.tensor for tensor in graph.tensors)
    makers = {edge.target: edge.source for edge in graph.edges if edge.kind == "data" and edge.source in calls}
    made = Counter(makers.values())
    used = {edge.source for edge in graph.edges if edge.kind == "data"}

    def is_temporary(tensor: TensorVertex) -> bool:
        maker = makers.get(tensor.key, "")
        if maker not in calls or tensor.key not in used or {maker, tensor.key} & set(keep):
            return False
        alone = made[maker] == 1 and versions[tensor.tensor] == 1
        return overview or (alone and not tensor.name and not tensor.mutated)

    gone = {tensor.key: makers[tensor.key] for tensor in graph.tensors if is_temporary(tensor)}
    edges = [
        Edge(gone.get(edge.source, edge.source), gone.get(edge.target, edge.target), edge.kind, edge.name)
        for edge in graph.edges
    ]
    kept = {edge.source for edge in edges if edge.source == edge.target and edge.kind == "saved"}
    notes: dict[str, list[str]] = {}
    for tensor in graph.tensors:
        if tensor.key in gone:
            text = _("gives {tensor}, kept for backward") if gone[tensor.key] in kept else _("gives {tensor}")
            label = f"{words.tensor_label(tensor.tensor, {})}  {words.shape(tensor.facts)}"
            notes.setdefault(gone[tensor.key], []).append(text.format(tensor=label))
    shown = replace(
        graph,
        tensors=tuple(tensor for tensor in graph.tensors if tensor.key not in gone),
        edges=tuple(dict.fromkeys(edge for edge in edges if edge.source != edge.target)),
    )
    return shown, notes
