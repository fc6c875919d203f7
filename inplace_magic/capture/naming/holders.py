"""Which names held which tensor, and since when: ``labels = ids`` binds a name without a call that could tell.

Names are read where a call comes from a place that was not met before, so a name that a later pass of a loop binds to
another tensor is not told again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import Binding
from inplace_magic.record.places import Callsite

_MOST = 20_000
"""Bindings kept of one watch."""


class _Sighting(NamedTuple):
    call: int
    site: int
    level: int
    """How many of the user's frames stand between the name's function and the call."""
    name: str
    tensor: int


@dataclass(eq=False)
class Holders:
    """What the names of the user's functions held, each time that it was another tensor than before.

    Args:
        known: the record of a tensor that was met already, which has its ``serial``; None for another.
    """

    known: Callable[[Any], Any]
    tensor: type
    _last: dict[tuple[int, str], int] = field(default_factory=dict)
    """By ``id`` of the code and name: the tensor seen last."""
    _codes: list[CodeType] = field(default_factory=list)
    """Keeps each ``id`` its own."""
    _found: list[_Sighting] = field(default_factory=list)

    def note(self, code: CodeType, names: dict[str, Any], begun: int, site: int, level: int) -> None:
        """Reads what the names of a function, or of a block, hold."""
        for name, value in names.items():
            if not issubclass(type(value), self.tensor) or name[0] == "_":
                continue
            record = self.known(value)
            if record is None:
                continue
            key = id(code), name
            last = self._last.get(key)
            if last != record.serial and len(self._found) < _MOST:
                self._last[key] = record.serial
                self._codes.append(code)
                self._found.append(_Sighting(begun - 1, site, level, name, record.serial))

    @property
    def is_full(self) -> bool:
        """True if nothing more is kept."""
        return len(self._found) >= _MOST

    def frozen(self, sites: list[Callsite], calls: Iterable[CallEvent]) -> Iterator[Binding]:
        """Yield the bindings that no call's result tells.

        Args:
            sites: all places, by number.
        """
        told: dict[tuple[object, ...], int] = {}
        for call in calls:
            site = call.callsite
            if site is not None and len(call.outputs) == 1:
                for path in site.targets or ():
                    told.setdefault((*_function(site), path, call.outputs[0].tensor), call.index)
        for seen in self._found:
            chain = sites[seen.site].chain
            if seen.level < len(chain):
                place = chain[-1 - seen.level]
                if told.get((*_function(place), seen.name, seen.tensor), seen.call + 1) > seen.call:
                    yield Binding(seen.tensor, seen.call, seen.name, "seen", place)


def _function(place: Callsite) -> tuple[str, int | None, str | None]:
    return place.function, place.cell, place.file
