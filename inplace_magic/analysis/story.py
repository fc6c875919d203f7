"""One trace, indexed for the rules: who saved what, who wrote it afterwards, and by which names the user knows it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

from inplace_magic.analysis.effects import Effect, effects_of
from inplace_magic.analysis.gradients import Gradients
from inplace_magic.analysis.put_back import Restoration, restorations
from inplace_magic.analysis.runs import Runs
from inplace_magic.analysis.saved import tensors_of_saved, told_by_the_call
from inplace_magic.analysis.writes import Writes
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.grouped import grouped
from inplace_magic.record.memory import Storage
from inplace_magic.record.paths import is_gradient
from inplace_magic.record.places import Callsite
from inplace_magic.record.refusal import Refusal
from inplace_magic.record.trace import Trace

Made = TypeVar("Made")


@dataclass(frozen=True)
class Story(Writes):
    """A trace with its indexes, each made when a rule first asks."""

    def once(self, make: Callable[[Story], Made]) -> Made:
        """Return what a function makes of the story, made once for all who ask: an index that few rules share."""
        if make not in self._made_once:
            self._made_once[make] = make(self)
        made: Made = self._made_once[make]
        return made

    @cached_property
    def _made_once(self) -> dict[Callable[[Story], Any], Any]:
        return {}

    @cached_property
    def restorations(self) -> dict[int, list[Restoration]]:
        """The writes that gave elements back the values that they had had, by the memory written."""
        return restorations(self)

    @cached_property
    def effects(self) -> dict[int, tuple[Effect, ...]]:
        """What each call did to which tensor, by its index."""
        return {call.index: effects_of(call) for call in self.trace.calls}

    @cached_property
    def data_setters(self) -> dict[int, list[CallEvent]]:
        """The calls of the form ``t.data = other``, by tensor."""
        return grouped((call.inputs[0].tensor, call) for call in self.doing("takes memory") if call.inputs)

    @cached_property
    def trained_memories(self) -> frozenset[int]:
        """The memories on which a tensor that is trained was met. Asked for each write, of memories on which a loop has
        put thousands of tensors."""
        trained = {tensor for tensor, meta in self.observations.items() if meta.is_trainable}
        known = self.bindings.by_storage.items()
        return frozenset(storage for storage, tensors in known if not trained.isdisjoint(tensors))

    @cached_property
    def gradients(self) -> Gradients:
        """What happened to each gradient."""
        return Gradients(self)

    @cached_property
    def runs(self) -> Runs:
        """The runs of functions."""
        return Runs(self.calls)

    @cached_property
    def stepping(self) -> frozenset[Callsite]:
        """The lines in which library code moved leaves that are trained, as an optimizer does."""
        found: dict[int, Callsite] = {}  # by `id`, of which a loop has few
        for call in self.writing:
            site = call.callsite
            if site is None or site.direct or id(site) in found or call.does("overwrites"):
                continue
            if any(meta.is_trainable for meta in call.mutated):
                found[id(site)] = site
        return frozenset(found.values())

    @cached_property
    def stepping_calls(self) -> frozenset[int]:
        """The calls that stand in such lines, by index."""
        places = [key for key, site in self.sites.items() if site in self.stepping]
        return frozenset([call.index for call in self.at(places)])

    def given_memory(self, storage: int | None) -> Sequence[CallEvent]:
        """Return the calls that got a tensor on a memory, oldest first; queries too."""
        tensors = self.bindings.by_storage.get(storage, ()) if storage is not None else ()
        if len(tensors) == 1:
            return self.given_to.get(tensors[0], [])
        found = {call.index: call for tensor in tensors for call in self.given_to.get(tensor, ())}
        return [found[index] for index in sorted(found)]

    def first_seen(self, tensor: int) -> int:
        """Index of the first call that met a tensor."""
        return self._first_seen.get(tensor, len(self.trace.calls))

    @cached_property
    def _first_seen(self) -> dict[int, int]:
        return {tensor: index for (tensor, _storage), index in reversed(self._first_seen_on.items())}

    @cached_property
    def saved(self) -> tuple[SavedTensor, ...]:
        """All that the nodes saved, with the counters that only the saving calls tell."""
        return tuple(told_by_the_call(saved, self.nodes, self.calls) for saved in self.trace.saved)

    @cached_property
    def saved_tensors(self) -> tuple[int | None, ...]:
        """For each of ``trace.saved`` the serial number of the tensor behind it; None where no tensor in sight is."""
        return tensors_of_saved(self.trace)

    @cached_property
    def data_of(self) -> dict[int, list[int]]:
        """The tensors that ``.data`` gave of a tensor without memory of its own, as under ``torch.func``."""
        giving = (call for call in self.doing("gives data") if call.inputs and call.inputs[0].storage is None)
        return grouped((call.inputs[0].tensor, meta.tensor) for call in giving for meta in call.outputs)

    def name_of_saved(self, saved: SavedTensor) -> str | None:
        """Return a name for what was saved: its own, else that of a tensor on the same version counter."""
        if saved.tensor is not None:
            return self.bindings.name(saved.tensor)
        counted = self.tensors_counted_by.get(saved.counter, ()) if saved.counter is not None else ()
        return next((name for tensor in counted if (name := self.bindings.name(tensor)) is not None), None)

    @cached_property
    def nodes_of_functions(self) -> dict[str, frozenset[int]]:
        """The nodes of custom functions, by the function's name."""
        found = grouped((node.function, node.node) for node in self.trace.nodes if node.function is not None)
        return {name: frozenset(nodes) for name, nodes in found.items()}

    def saver_site(self, node: AutogradNode) -> tuple[CallEvent | None, Callsite | None]:
        """Return the call that made a node, and its place.

        A custom ``Function`` makes its node in ``apply``, which torch does not show; the calls inside its ``forward``
        carry the next sequence number, and their caller is the line of ``apply``.
        """
        if node.call is not None:
            call = self.calls.get(node.call)
            return call, call.callsite if call is not None else None
        if node.sequence is None:
            return None, None
        position = bisect_right(self._sequences, node.sequence)
        if position == len(self._sequences):
            return None, None
        call = self.trace.calls[position]
        site = call.callsite
        inside = call.sequence == node.sequence + 1 and not call.grad_enabled
        if not inside or site is None:
            return None, None
        return call, site.caller if site.function.endswith("forward") and site.caller is not None else site

    @cached_property
    def _sequences(self) -> list[int]:
        """For each call, the highest sequence number that any call up to it began with."""
        return list(accumulate((-1 if call.sequence is None else call.sequence for call in self.trace.calls), max))

    def maker_of_storage(self, storage: int | None) -> CallEvent | None:
        """Return the call that made a storage; None when it existed before the watch or was never seen being made."""
        made = self.storages.get(storage) if storage is not None else None
        return self.calls.get(made.born) if made is not None and made.born is not None else None

    @cached_property
    def storages(self) -> dict[int, Storage]:
        return {storage.storage: storage for storage in self.trace.storages}

    @cached_property
    def ended(self) -> dict[int, int]:
        """How many calls had begun when a memory died; without those that live at the end of the watch."""
        return {storage.storage: storage.ended for storage in self.trace.storages if storage.ended is not None}

    @cached_property
    def born_in(self) -> dict[int, list[int]]:
        """The memories that were first seen in each call, a backward among them, by call index."""
        return grouped((each.born, each.storage) for each in self.trace.storages if each.born is not None)

    def is_gradient(self, mutation: Mutation) -> bool:
        """True if a written tensor is the gradient of a leaf: made by a backward, or named so."""
        maker = self.maker_of_storage(mutation.storage)
        named = any(is_gradient(name) for name in self.names.get(mutation.tensor, ()))
        return named or (maker is not None and maker.index in self.backwards)

    def refusals(self) -> Iterator[tuple[CallEvent | None, Refusal]]:
        """Yield every refusal of the framework that a call met, and the block's own when no recorded call met it.
        One that came out of a call within a call (a backward run by checkpoint's recomputation) counts for the inner
        one."""
        passed_on = {(call.parent, call.error) for call in self.failed}
        said = set()
        for call in self.trace.calls:
            if call.refusal is not None and (call.index, call.error) not in passed_on:
                said.add(call.refusal)
                yield call, call.refusal
        if self.trace.refusal is not None and self.trace.refusal not in said:
            yield None, self.trace.refusal


_indexed: ContextVar[list[Story] | None] = ContextVar("_indexed", default=None)


@contextmanager
def indexed_once() -> Iterator[None]:
    """Within the block, the last trace that was asked for is indexed once for all who look at it one after the other:
    the rules, the news of a story, the page. Indexes are large, so none outlives the block."""
    token = _indexed.set([])
    try:
        yield
    finally:
        _indexed.reset(token)


def story_of(trace: Trace) -> Story:
    """Return the indexes of a trace, each made when it is first asked for."""
    kept = _indexed.get()
    if kept is None:
        return Story(trace)
    if not kept or kept[0].trace is not trace:
        kept[:] = [Story(trace)]
    return kept[0]
