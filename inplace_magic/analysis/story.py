"""One trace, indexed for the rules: who saved what, who wrote it afterwards, what backward ran through."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from inplace_magic.analysis.bindings import Bindings
from inplace_magic.trace import (
    AliasStatement,
    AutogradNode,
    Backward,
    CallEvent,
    Callsite,
    Mutation,
    SavedTensor,
    TensorMetadata,
    Trace,
)


@dataclass(frozen=True)
class Write:
    """One mutation and the call that made it; the call is None when nobody saw who wrote."""

    before: int | None
    after: int | None
    at: int
    """Index of the writing call; of an unseen write, of the call before which it was noticed."""
    call: CallEvent | None = None
    mutation: Mutation | None = None
    site: Callsite | None = None
    """Place of the write; of an unseen one, the only statement that can have made it."""


@dataclass(frozen=True)
class Story:
    """A trace with its indexes, each made when a rule first asks."""

    trace: Trace

    @cached_property
    def bindings(self) -> Bindings:
        return Bindings.from_trace(self.trace)

    @cached_property
    def nodes(self) -> dict[int, AutogradNode]:
        return {node.node: node for node in self.trace.nodes}

    @cached_property
    def calls(self) -> dict[int, CallEvent]:
        return {call.index: call for call in self.trace.calls}

    @cached_property
    def backwards(self) -> dict[int, Backward]:
        return {backward.call: backward for backward in self.trace.backwards}

    @cached_property
    def writes(self) -> dict[int, list[Write]]:
        """All writes by version counter, oldest first."""
        found: dict[int, list[Write]] = {}
        for call in self.trace.calls:
            for mutation in call.mutations:
                if mutation.counter is not None:
                    before, after = mutation.version_before, mutation.version_after
                    write = Write(before, after, call.index, call, mutation, call.callsite)
                    found.setdefault(mutation.counter, []).append(write)
        for unseen in self.trace.unseen:
            write = Write(unseen.version_before, unseen.version_after, unseen.noticed, site=unseen.callsite)
            found.setdefault(unseen.counter, []).append(write)
        for writes in found.values():
            writes.sort(key=lambda write: (write.at, write.after or 0))
        return found

    @cached_property
    def writes_to_storage(self) -> dict[int, list[tuple[CallEvent, Mutation]]]:
        """All writes that were seen, by storage, oldest first."""
        found: dict[int, list[tuple[CallEvent, Mutation]]] = {}
        for call in self.trace.calls:
            if call.kind == "in-place":
                for mutation in call.mutations:
                    if mutation.storage is not None:
                        found.setdefault(mutation.storage, []).append((call, mutation))
        return found

    @cached_property
    def aliases(self) -> list[AliasStatement]:
        """The statements that give an object a second name. ``storage[i] = x`` into a tensor is none: it copies."""
        copying = {
            (site.function, site.cell, site.file, site.line)
            for call in self.trace.calls
            if call.name == "Tensor.__setitem__" and (site := call.callsite) is not None
        }
        return [a for a in self.trace.aliases if (a.function, a.cell, a.file, a.line) not in copying]

    @cached_property
    def data_setters(self) -> list[CallEvent]:
        """The calls of the form ``t.data = other``."""
        return [call for call in self.trace.calls if call.name == "Tensor.data ="]

    def writes_to_memory(self, storage: int | None) -> list[Write]:
        """All writes to a storage, those seen, unseen and from outside torch, oldest first."""
        if storage is None:
            return []
        found = [
            Write(m.version_before, m.version_after, call.index, call, m, call.callsite)
            for call, m in self.writes_to_storage.get(storage, ())
        ]
        counters = {meta.counter for meta in self.observations.values() if meta.storage == storage}
        for unseen in self.trace.unseen:
            if unseen.counter in counters:
                found.append(Write(unseen.version_before, unseen.version_after, unseen.noticed, site=unseen.callsite))
        for foreign in self.trace.foreign:
            if foreign.storage == storage:
                found.append(Write(None, None, foreign.noticed, site=foreign.callsite))
        return sorted(found, key=lambda write: write.at)

    def first_seen(self, tensor: int) -> int:
        """Index of the first call that met a tensor."""
        return self._first_seen.get(tensor, len(self.trace.calls))

    def first_seen_memory(self, storage: int | None) -> int:
        """Index of the first call that met any tensor on a storage."""
        tensors = self.bindings.by_storage.get(storage, []) if storage is not None else []
        return min((self.first_seen(tensor) for tensor in tensors), default=len(self.trace.calls))

    @cached_property
    def _first_seen(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for call in self.trace.calls:
            for meta in (*call.inputs, *call.outputs, *call.mutated):
                found.setdefault(meta.tensor, call.index)
        return found

    def another_backward_is_meant(self, node: AutogradNode, wrote: int, parameter_saved: int | None) -> bool:
        """Whether somebody will still run backward through `node`, as far as the watch can tell.

        After a backward with ``retain_graph`` only a result that was not used yet can be meant. Otherwise none is,
        once another backward has run without this node: a forgotten ``pred = model(x)`` above a training loop.

        Args:
            node: a node that still holds what it saved.
            wrote: index of the write.
            parameter_saved: where a parameter was written, index of the call that saved it: a training step that
            began after it
                counts as well.
        """
        ran = [index for index, nodes in self.executed.items() if node.node in nodes]
        if ran:
            used = set().union(*(self.executed[index] for index in ran))
            users = self.descendants({node.node})
            return any(user not in used and self.nodes[user].ended is None for user in users)
        since = wrote if parameter_saved is None else parameter_saved
        return not any(index > since for index in self.executed)

    def has_live_scalar(self, node: AutogradNode) -> bool:
        """Whether a single number, such as a loss, that was computed by way of `node` is still alive."""
        above = self.descendants({node.node})
        return any(
            meta.node in above and meta.shape is not None and math.prod(meta.shape) == 1
            for meta in self.observations.values()
            if meta.node is not None and self.nodes[meta.node].ended is None
        )

    def name_of_saved(self, saved: SavedTensor) -> str | None:
        """A name for what was saved: its own, else that of a tensor on the same version counter."""
        if saved.tensor is not None:
            return self.bindings.name(saved.tensor)
        for meta in self.observations.values():
            if meta.counter == saved.counter and saved.counter is not None:
                name = self.bindings.name(meta.tensor)
                if name is not None:
                    return name
        return None

    def writes_after(self, saved: SavedTensor, version: int | None) -> list[Write]:
        """The counted writes that came after `version` of what was saved."""
        if saved.counter is None or version is None:
            return []
        return [w for w in self.writes.get(saved.counter, ()) if w.after is not None and w.after > version]

    @cached_property
    def observations(self) -> dict[int, TensorMetadata]:
        """The last observation of every tensor."""
        found: dict[int, TensorMetadata] = {}
        for call in self.trace.calls:
            for meta in (*call.inputs, *call.outputs, *call.mutated):
                found[meta.tensor] = meta
        return found

    def reached(self, roots: Iterable[int]) -> set[int]:
        """The nodes that backward from `roots` can come to."""
        seen: set[int] = set()
        todo = list(roots)
        while todo:
            number = todo.pop()
            if number in seen or number not in self.nodes:
                continue
            seen.add(number)
            todo.extend(behind for behind in self.nodes[number].next if behind is not None)
        return seen

    @cached_property
    def executed(self) -> dict[int, set[int]]:
        """The nodes that each successful backward went through, by call index. With ``inputs=`` only what leads to
        them counts."""
        found: dict[int, set[int]] = {}
        for index, backward in self.backwards.items():
            call = self.calls.get(index)
            if call is None or call.error is not None:
                continue
            reached = self.reached(backward.roots)
            if backward.inputs is not None:
                reached &= self._leading_to(set(backward.inputs))
            found[index] = reached
        return found

    def _leading_to(self, tensors: set[int]) -> set[int]:
        nodes = {n.node for n in self.trace.nodes if n.variable in tensors}
        nodes |= {meta.node for meta in self.observations.values() if meta.tensor in tensors and meta.node is not None}
        return self.descendants(nodes)

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """The nodes that come right before a node in backward."""
        found: dict[int, list[int]] = {}
        for node in self.trace.nodes:
            for behind in node.next:
                if behind is not None:
                    found.setdefault(behind, []).append(node.node)
        return found

    def descendants(self, nodes: set[int]) -> set[int]:
        """The nodes from which backward comes to one of `nodes`, themselves included."""
        seen: set[int] = set()
        todo = list(nodes)
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                todo.extend(self.users.get(number, ()))
        return seen

    def saver_site(self, node: AutogradNode) -> tuple[CallEvent | None, Callsite | None]:
        """The call that made a node, and its place.

        A custom ``Function`` makes its node in ``apply``, which torch does not show; the calls inside its ``forward``
        carry the next sequence number, and their caller is the line of ``apply``.
        """
        if node.call is not None:
            call = self.calls.get(node.call)
            return call, call.callsite if call is not None else None
        if node.sequence is None:
            return None, None
        for call in self.trace.calls:
            if call.sequence is not None and call.sequence > node.sequence:
                site = call.callsite
                inside = call.sequence == node.sequence + 1 and not call.grad_enabled
                if not inside or site is None:
                    return None, None
                return call, site.caller if site.function.endswith("forward") and site.caller is not None else site
        return None, None

    def statement_of(self, site: Callsite | None) -> str:
        """The source of a place for a message: its statement on one line, else the line."""
        if site is None:
            return ""
        return re.sub(r"\s+", " ", site.statement or site.text)

    def innermost_new(self, tensor: int, before: int) -> CallEvent | None:
        """The call that made a tensor, looked for backwards from call `before`."""
        for call in self._made:
            if call.index < before and any(output.tensor == tensor for output in call.outputs):
                return call
        return None

    def maker_of_storage(self, storage: int | None) -> CallEvent | None:
        """The call that made a storage; None when it existed before the watch or was never seen being made."""
        born = self._births.get(storage) if storage is not None else None
        return self.calls.get(born) if born is not None else None

    @cached_property
    def _births(self) -> dict[int, int | None]:
        return {storage.storage: storage.born for storage in self.trace.storages}

    @cached_property
    def _made(self) -> list[CallEvent]:
        return [call for call in self.trace.calls if call.kind in ("ordinary", "view")]

    def failures(self) -> Iterator[tuple[CallEvent | None, str]]:
        """Every error that a call raised, and the block's own when no recorded call raised it. An error that came out
        of a call within a call (a backward run by checkpoint's recomputation) counts for the inner one."""
        passed_on = {(call.parent, call.error) for call in self.trace.calls if call.error is not None}
        said = set()
        for call in self.trace.calls:
            if call.error is not None and (call.index, call.error) not in passed_on:
                said.add(call.error)
                yield call, call.error
        if self.trace.error is not None and self.trace.error not in said:
            yield None, self.trace.error
