"""The calls of a trace by what they do: a rule that is about writes in place does not walk through all that reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

from inplace_magic.record.events import CallEvent, Dropped, Mutation, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.record.traits import Trait

_INDEX = attrgetter("index")


@dataclass(frozen=True)
class SortedCalls:
    """A trace with its calls sorted; each list is in the order of the calls, and made when it is first asked for."""

    trace: Trace

    @cached_property
    def sites(self) -> dict[int, Callsite]:
        """The places of the calls, each once, by their `id`: a loop has few, and what a rule asks of a place alone it
        asks for each of them, and not for each call."""
        return {key: site for key, calls in self._at.items() if (site := calls[0].callsite) is not None}

    def at(self, places: Iterable[int]) -> list[CallEvent]:
        """Return the calls at some places, by the `id` that :attr:`sites` has for them."""
        return sorted(chain.from_iterable(map(self._at.__getitem__, places)), key=_INDEX)

    @cached_property
    def direct(self) -> list[CallEvent]:
        """The calls that the user's own lines made, and not library code for them."""
        return self.at(key for key, site in self.sites.items() if site.direct)

    @cached_property
    def _at(self) -> dict[int, list[CallEvent]]:
        return grouped((id(call.callsite), call) for call in self.trace.calls)

    @cached_property
    def in_place(self) -> list[CallEvent]:
        """The calls that wrote tensors which they were given."""
        return [call for call in self.trace.calls if call.kind == "in-place"]

    @cached_property
    def writes_counted(self) -> list[tuple[CallEvent, Mutation, int]]:
        """The writes in place, each with how many of the same tensor its place had made before: what the first few of
        a loop do not tell, the next thousand do not either."""
        numbers: dict[Callsite, int] = {}
        places = {key: numbers.setdefault(site, len(numbers)) for key, site in self.sites.items()}
        made: dict[tuple[int | None, int], int] = {}
        found: list[tuple[CallEvent, Mutation, int]] = []
        for call in self.in_place:
            place = places.get(id(call.callsite))
            for mutation in call.mutations:
                key = place, mutation.tensor
                count = made[key] = made.get(key, -1) + 1
                found.append((call, mutation, count))
        return found

    @cached_property
    def views(self) -> list[CallEvent]:
        """The calls that gave another tensor on the memory of one that they were given."""
        return [call for call in self.trace.calls if call.kind == "view"]

    @cached_property
    def writing(self) -> list[CallEvent]:
        """The calls that changed tensors in any way, shape and memory included."""
        return [call for call in self.trace.calls if call.mutations]

    @cached_property
    def dropping(self) -> list[tuple[CallEvent, Mutation, Dropped]]:
        """The calls whose first write did not keep all values that it was given."""
        first = ((call, call.mutations[0]) for call in self.writing)
        return [(call, mutation, mutation.dropped) for call, mutation in first if mutation.dropped is not None]

    @cached_property
    def training(self) -> dict[int, list[TensorMetadata]]:
        """The leaves that are trained among what a call got, by the call's index; without calls that got none."""
        trained = ((call.index, [meta for meta in call.inputs if meta.is_trainable]) for call in self.trace.calls)
        return {index: leaves for index, leaves in trained if leaves}

    @cached_property
    def nested(self) -> list[CallEvent]:
        """The calls that were made while another one ran: by hooks, by custom functions, by what is computed again."""
        return [call for call in self.trace.calls if call.parent is not None]

    @cached_property
    def failed(self) -> list[CallEvent]:
        """The calls that raised."""
        return [call for call in self.trace.calls if call.error is not None]

    def doing(self, trait: Trait, *others: Trait) -> Sequence[CallEvent]:
        """Return the calls whose operation does that in any call, or one of several things."""
        if not others:
            return self._doing.get(trait, ())
        found = {call.index: call for each in (trait, *others) for call in self._doing.get(each, ())}
        return [found[index] for index in sorted(found)]

    @cached_property
    def _doing(self) -> dict[Trait, list[CallEvent]]:
        found: dict[Trait, list[CallEvent]] = {}
        lists: dict[int, list[list[CallEvent]]] = {}  # by `id` of the traits, which calls of one operation share
        for call in self.trace.calls:
            into = lists.get(id(call.traits))
            if into is None:
                into = lists[id(call.traits)] = [found.setdefault(trait, []) for trait in dict.fromkeys(call.traits)]
            for known in into:
                known.append(call)
        return found
