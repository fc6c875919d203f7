"""The way from the call that saved a tensor to the call that overwrote it, along the arrows of the graph."""

from __future__ import annotations

from collections import deque

from inplace_magic.analysis.graph import AutogradGraph


def path_between(graph: AutogradGraph, saver: str, mutator: str) -> list[str]:
    """Keys of the vertices on a shortest way between two calls, whichever way its arrows point, and what the second
    one wrote; only the calls that are drawn when there is no such way.

    The tensor that was saved is either an input of the saver or its output, and the mutator has it as an input; so the
    shortest way is through that tensor and, where a view lies between, through the view.
    """
    drawn = {vertex.key for vertex in graph.tensors} | {vertex.key for vertex in graph.calls}
    neighbours: dict[str, list[str]] = {key: [] for key in drawn}
    for edge in graph.edges:
        if edge.source in drawn and edge.target in drawn:
            neighbours[edge.source].append(edge.target)
            neighbours[edge.target].append(edge.source)
    written = [edge.target for edge in graph.edges if edge.source == mutator and edge.kind == "data"]
    before: dict[str, str | None] = {saver: None}
    queue = deque([saver] if saver in drawn and mutator in drawn else [])
    while queue and mutator not in before:
        here = queue.popleft()
        for key in neighbours[here]:
            if key not in before and (key == mutator or key not in written):
                before[key] = here
                queue.append(key)
    way: list[str] = []
    at: str | None = mutator if mutator in before else None
    while at is not None:
        way.append(at)
        at = before[at]
    if not way:
        way = [key for key in (mutator, saver) if key in drawn]
    return [*reversed(way), *(key for key in dict.fromkeys(written) if key in drawn and key not in way)]
