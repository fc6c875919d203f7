"""The calls of a trace by what they do: a rule that is about writes in place does not walk through all that reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace
from inplace_magic.record.traits import Trait


@dataclass(frozen=True)
class SortedCalls:
    """A trace with its calls sorted; each list is in the order of the calls, and made when it is first asked for."""

    trace: Trace

    @cached_property
    def in_place(self) -> list[CallEvent]:
        """The calls that wrote tensors which they were given."""
        return [call for call in self.trace.calls if call.kind == "in-place"]

    @cached_property
    def writing(self) -> list[CallEvent]:
        """The calls that changed tensors in any way, shape and memory included."""
        return [call for call in self.trace.calls if call.mutations]

    @cached_property
    def nested(self) -> list[CallEvent]:
        """The calls that were made while another one ran: by hooks, by custom functions, by what is computed again."""
        return [call for call in self.trace.calls if call.parent is not None]

    @cached_property
    def failed(self) -> list[CallEvent]:
        """The calls that raised."""
        return [call for call in self.trace.calls if call.error is not None]

    def doing(self, trait: Trait) -> Sequence[CallEvent]:
        """The calls whose operation does that in any call."""
        return self._doing.get(trait, ())

    @cached_property
    def _doing(self) -> dict[Trait, list[CallEvent]]:
        found: dict[Trait, list[CallEvent]] = {}
        for call in self.trace.calls:
            for trait in call.traits:
                known = found.get(trait)
                if known is None:
                    found[trait] = [call]
                elif known[-1] is not call:
                    known.append(call)
        return found
