"""The picture's data: for each call, the tensor versions that it read and made, and what autograd keeps of them.

What its vertices and arrows are: :mod:`inplace_magic.analysis.vertices`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from inplace_magic.analysis.effects import Effect
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.tree.module_names import ModuleNames
from inplace_magic.analysis.vertices import CallVertex, Edge, EdgeKind, Origin, TensorVertex, vertex_of
from inplace_magic.record.autograd import SavedTensor
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.filled import filled
from inplace_magic.record.grouped import grouped

HUB = 12
"""A vertex with more arrows than this is a hub."""

_version = filled(TensorVertex)
_edge = tuple.__new__
"""Makes an :class:`Edge`; its own constructor is a function of Python's that does the same."""


@dataclass(frozen=True, slots=True)
class AutogradGraph:
    """Tensor versions, calls and the arrows between them, in the order in which they came to be."""

    tensors: tuple[TensorVertex, ...] = ()
    calls: tuple[CallVertex, ...] = ()
    edges: tuple[Edge, ...] = ()
    unplaced: int = 0
    """Saved tensors that no vertex stands for: packed by hooks, or kept by a node from before the watch."""

    @classmethod
    def of(cls, story: Story) -> AutogradGraph:
        """Return the graph of a trace. Calls that gave no tensor are left out, unless they raised."""
        builder = _Builder(story)
        for call in story.trace.calls:
            if call.kind != "query" or call.error is not None:
                builder.add_call(call)
        for saved, tensor in zip(story.trace.saved, story.saved_tensors, strict=True):
            builder.add_saved(saved, tensor)
        return builder.graph()

    def __len__(self) -> int:
        return len(self.tensors) + len(self.calls)

    def around(self, keys: Iterable[str], limit: int) -> AutogradGraph:
        """Return the part within reach of some vertices: at most ``limit`` vertices, the nearest ones, arrows between
        them.

        A parameter that every step of a loop reads would pull in all steps; the walk does not pass through such hubs.
        """
        neighbours: dict[str, list[str]] = {vertex.key: [] for vertex in self.tensors}
        neighbours.update((vertex.key, []) for vertex in self.calls)
        for edge in self.edges:
            neighbours[edge.source].append(edge.target)
            neighbours[edge.target].append(edge.source)
        queue = deque(key for key in dict.fromkeys(keys) if key in neighbours)
        kept = dict.fromkeys(list(queue)[:limit])
        starts = set(kept)
        while queue and len(kept) < limit:
            here = queue.popleft()
            if here not in starts and len(neighbours[here]) > HUB:
                continue
            for key in neighbours[here]:
                if key not in kept and len(kept) < limit:
                    kept[key] = None
                    queue.append(key)
        inside = (edge for edge in self.edges if edge.source in kept and edge.target in kept)
        return self.without(neighbours.keys() - kept.keys(), inside)

    def without(self, gone: Container[str], edges: Iterable[Edge]) -> AutogradGraph:
        """Return the graph without some vertices, with these arrows in the place of its own."""
        return AutogradGraph(
            tuple([vertex for vertex in self.tensors if vertex.key not in gone]),
            tuple([vertex for vertex in self.calls if vertex.key not in gone]),
            tuple(edges),
            self.unplaced,
        )


class _Builder:
    """Walks the calls once and remembers the newest version of each tensor."""

    def __init__(self, story: Story) -> None:
        trace = story.trace
        self.effects, self.names, self.nodes = story.effects, story.best_names, story.nodes
        self.modules = ModuleNames(trace)
        self.born: dict[int | None, int | None] = {storage.storage: storage.born for storage in trace.storages}
        self.made = grouped((node.call, node.name) for node in trace.nodes if not node.does("accumulates"))
        self.tensors: dict[str, TensorVertex] = {}
        self.calls: dict[str, CallVertex] = {}
        self.edges: dict[Edge, None] = {}
        self.uncounted = Counter[tuple[int, int | None]]()
        self.newest: dict[int, str] = {}
        self.inputs: dict[str, dict[int, str]] = {}
        self.writers: dict[tuple[int | None, int | None], str] = {}
        self.by_counter: dict[tuple[int | None, int | None], str] = {}
        self.unplaced = 0

    def graph(self) -> AutogradGraph:
        return AutogradGraph(tuple(self.tensors.values()), tuple(self.calls.values()), tuple(self.edges), self.unplaced)

    def add_call(self, call: CallEvent) -> None:
        key = f"C{call.index}"
        nodes = tuple(self.made.get(call.index, ()))
        given = self.inputs[key] = {}
        parameters: list[str] = []
        for facts in call.inputs:
            given[facts.tensor] = self.observe(facts)
            if facts.is_leaf and facts.requires_grad and facts.tensor in self.names:
                parameters.append(self.names[facts.tensor])
        for source in given.values():
            self.edges[_edge(Edge, (source, key, "data", ""))] = None
        rows = self.effects[call.index]
        for row in rows:
            if row.mutation is not None and row.before is None and row.tensor in self.newest:
                self.join(self.newest[row.tensor], key, "data")
        rooms = self.modules.running(call) if call.modules else ()
        self.calls[key] = vertex_of(call, nodes, tuple(parameters), rooms)
        for row in rows:
            if row.kind != "returned":
                self.add_effect(row, key)

    def add_effect(self, row: Effect, call: str) -> None:
        facts = row.after or row.before
        if row.kind in ("mutated", "reshaped"):
            old = self.tensors.get(self.newest.get(row.tensor, ""))
            facts = facts or (old.facts if old is not None else None)
            if row.after is None and facts is not None:
                facts = replace(facts, version=row.version_after)
            if row.version_before == row.version_after:
                self.uncounted[row.tensor, row.version_after] += 1
        key = self.put(row.tensor, row.version_after, row.kind, facts, row.call, row.version_before)
        self.join(call, key, "data")
        if row.kind == "mutated":
            counter = row.mutation.counter if row.mutation is not None else None
            counter = counter if counter is not None or facts is None else facts.counter
            if counter is not None and row.version_after is not None:
                self.writers[counter, row.version_after] = key
        if row.base is not None:
            self.join(self.observe(row.base), key, "view")

    def observe(self, facts: TensorMetadata) -> str:
        """Return the vertex of a tensor as it was seen, made now when nothing made it under the watch's eyes."""
        key = self.key(facts.tensor, facts.version)
        if key in self.tensors:
            return key
        writer = self.writers.get((facts.counter, facts.version))
        if writer is None:
            older = self.tensors.get(self.newest.get(facts.tensor, ""))
            if older is None:
                inside = self.born.get(facts.storage)
                origin: Origin = "given" if inside is None else "inside"
                self.put(facts.tensor, facts.version, origin, facts, inside)
                return key
            self.put(facts.tensor, facts.version, "unseen", facts, None, older.version)
            self.join(older.key, key, "view")
            return key
        written = self.tensors[writer]
        self.put(facts.tensor, facts.version, "shared", facts, written.made_by, written.version_before)
        self.join(writer, key, "view")
        return key

    def put(
        self,
        tensor: int,
        version: int | None,
        origin: Origin,
        facts: TensorMetadata | None,
        call: int | None,
        before: int | None = None,
    ) -> str:
        key = self.key(tensor, version)
        self.newest[tensor] = key
        if key not in self.tensors:
            self.tensors[key] = _version(key, tensor, version, origin, call, self.names.get(tensor, ""), facts, before)
            if facts is not None and facts.counter is not None and version is not None:
                self.by_counter.setdefault((facts.counter, version), key)
        return key

    def key(self, tensor: int, version: int | None) -> str:
        more = self.uncounted[tensor, version] if self.uncounted else 0
        return f"T{tensor}@v{'?' if version is None else version}{f'+{more}' if more else ''}"

    def join(self, source: str, target: str, kind: EdgeKind, name: str = "") -> None:
        self.edges[_edge(Edge, (source, target, kind, name))] = None

    def add_saved(self, saved: SavedTensor, tensor: int | None) -> None:
        node = self.nodes.get(saved.node)
        call = f"C{node.call}" if node is not None else ""
        source = self.saved_key(saved, tensor, call)
        if node is None or source is None or call not in self.calls:
            self.unplaced += 1
            return
        self.join(source, call, "saved", f"{node.name}.{saved.name}")

    def saved_key(self, saved: SavedTensor, tensor: int | None, call: str) -> str | None:
        if tensor is not None:
            key = f"T{tensor}@v{'?' if saved.version is None else saved.version}"
            given = self.inputs.get(call, {}).get(tensor)
            # Of versions that differ by uncounted writes only, the one that went into the saving call is meant; and
            # where the saved version is not known, it is the best that can be said.
            if given is not None and (saved.version is None or given.startswith(f"{key}+")):
                return given
            if key in self.tensors:
                return key
        return self.by_counter.get((saved.counter, saved.version))
