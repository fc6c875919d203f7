"""The names that the functions of the watched code have for tensors, what they lead to, and since when: ``labels =
ids`` binds a name without a call that could tell.

They are gone when a function returns, so they are read while it runs: whenever a call comes from a place that was not
met before. A name that a later pass of a loop binds to another tensor is not told again.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple, Protocol

from inplace_magic.capture.naming.reach import Kinds, within_reach
from inplace_magic.capture.naming.scope import names_of, was_executed
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import Binding
from inplace_magic.record.places import Callsite

_MOST_BINDINGS = 20_000
"""Bindings kept of one watch."""
_MOST_STEPS = 100_000
"""Tensors and modules looked at in one watch."""
_FEW = 16
"""So many within a name's reach are looked at each time; more, such as a network's parameters, at growing distances."""


class _Sighting(NamedTuple):
    call: int
    site: int
    level: int
    """How many of the user's frames stand between the name's function and the call."""
    name: str
    tensor: int


class KnowsTensors(Protocol):
    """The tensors that a watch has met."""

    tensors: dict[int, Any]
    """What was met and lives."""

    def known(self, tensor: Any) -> Any:
        """Return the record of a tensor that was seen already, a weak reference with a ``serial``; None for another."""


@dataclass(eq=False, slots=True)
class _Reached:
    """What a name led to when it was last followed."""

    value: int
    """``id`` of its value."""
    lives: Callable[[], Any] | None = None
    """Of a value that much is within reach of: gives None when it died, and its ``id`` may be another one's."""
    found: list[tuple[int, str, int]] = field(default_factory=list)
    """Depth, path and serial number of each tensor."""
    times: int = 0
    due: int = 0


@dataclass(eq=False)
class PassingNames:
    """What the user's functions called their tensors, as last seen.

    Args:
        is_users: whether a code object is the user's, and whether callers above it are no part of the story.
        kinds: what a tensor is, and what a module.
    """

    identity: KnowsTensors
    is_users: Callable[[CodeType], tuple[bool, bool]]
    kinds: Kinds
    seen: dict[int, tuple[CodeType, dict[str, int]]] = field(default_factory=dict)
    """By ``id`` of the code: serial numbers of tensors by their names, shortest names first."""
    _stood: list[tuple[CodeType, int]] = field(default_factory=list)
    """The user's functions that ran at the last look, outermost first, each with its instruction. Not by ``id`` of the
    frame, which the next frame may get: then a function would be read or not by what else the process has freed."""
    _followed: dict[int, dict[str, _Reached]] = field(default_factory=dict)
    """By ``id`` of the code and by name."""
    _steps: int = 0
    _last: dict[tuple[int, str], int] = field(default_factory=dict)
    """By ``id`` of the code and name: the tensor that it held when last seen."""
    _codes: list[CodeType] = field(default_factory=list)
    """Keeps each ``id`` its own."""
    _found: list[_Sighting] = field(default_factory=list)
    """What the names held, each time that it was another tensor than before."""

    def look(self, frame: FrameType | None, begun: int, site: int) -> None:
        """Reads the names of the running functions. One that only waits for what it called is not read again: it stands
        where it stood at the last look, and so do all that called it.
        """
        running: list[tuple[FrameType, bool]] = []
        while frame is not None:
            mine, is_last = self.is_users(frame.f_code)
            if mine:
                running.append((frame, is_last))
            frame = None if is_last else frame.f_back
        stand = [(each.f_code, each.f_lasti) for each, _is_last in reversed(running)]
        waiting = 0
        for (code, lasti), (before, at) in zip(stand, self._stood, strict=False):
            if code is not before or lasti != at:
                break
            waiting += 1
        self._stood = stand
        for level, (each, is_last) in enumerate(running[: len(running) - waiting]):
            if self._steps >= _MOST_STEPS:
                return
            code, names = each.f_code, names_of(each)
            self._note_held(code, names, begun, site, level)
            is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
            # What the names in sight of the block lead to is read at its end.
            if is_function and not is_last and names and code.co_name != "forward":
                self.seen[id(code)] = code, self._names_in(code, names)

    @property
    def is_full(self) -> bool:
        """True if nothing more is looked at."""
        return self._steps >= _MOST_STEPS or len(self._found) >= _MOST_BINDINGS

    def _note_held(self, code: CodeType, names: dict[str, Any], begun: int, site: int, level: int) -> None:
        for name, value in names.items():
            if not issubclass(type(value), self.kinds.tensor) or name[0] == "_":
                continue
            record = self.identity.known(value)
            if record is None:
                continue
            key = id(code), name
            if self._last.get(key) != record.serial and len(self._found) < _MOST_BINDINGS:
                self._last[key] = record.serial
                self._codes.append(code)
                self._found.append(_Sighting(begun - 1, site, level, name, record.serial))

    def bindings(self, sites: list[Callsite], calls: Iterable[CallEvent]) -> Iterator[Binding]:
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

    def _names_in(self, code: CodeType, names: dict[str, Any]) -> dict[str, int]:
        followed = self._followed.setdefault(id(code), {})
        found: list[tuple[int, str, int]] = []
        for name, value in names.items():
            if was_executed(value):
                continue
            reached = followed.get(name)
            if reached is None or reached.value != id(value) or (reached.lives is not None and reached.lives() is None):
                reached = followed[name] = _Reached(id(value))
            reached.times += 1
            if reached.times >= reached.due:
                self._follow(reached, name, value)
            found += reached.found
        found.sort(key=lambda entry: entry[0])
        return {path: serial for _depth, path, serial in found}

    def _follow(self, reached: _Reached, name: str, value: object) -> None:
        if not self.identity.tensors:
            return  # before the first call none is known, wherever it leads
        within = list(within_reach({name: value}, self.kinds))
        self._steps += len(within)
        known = self.identity.known
        met = [
            (depth, path, record)
            for depth, path, item in within
            if isinstance(item, self.kinds.tensor) and (record := known(item)) is not None
        ]
        reached.found = [(depth, path, record.serial) for depth, path, record in met]
        if len(within) > _FEW:
            reached.due = reached.times + max(1, reached.times // 2)
            try:
                reached.lives = weakref.ref(value)
            except TypeError:  # a dict or list: asked is a tensor in it
                reached.lives = met[0][2] if met else None


def _function(place: Callsite) -> tuple[str, int | None, str | None]:
    return place.function, place.cell, place.file
