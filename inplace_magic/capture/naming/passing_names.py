"""The names that the functions of the watched code have for tensors. They are gone when a function returns, so they are
read while it runs: whenever a call comes from a place that was not met before."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Protocol

from inplace_magic.capture.naming.holders import Holders
from inplace_magic.capture.naming.reach import Kinds, within_reach
from inplace_magic.capture.naming.scope import names_of, was_executed

_MOST_STEPS = 100_000
"""Tensors and modules looked at in one watch."""
_FEW = 16
"""So many within a name's reach are looked at each time; more, such as a network's parameters, at growing distances."""


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

    def __post_init__(self) -> None:
        self.holders = Holders(self.identity.known, self.kinds.tensor)
        """What each name held, and since when."""

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
            self.holders.note(code, names, begun, site, level)
            is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
            # What the names in sight of the block lead to is read at its end.
            if is_function and not is_last and names and code.co_name != "forward":
                self.seen[id(code)] = code, self._names_in(code, names)

    @property
    def is_full(self) -> bool:
        """True if nothing more is looked at."""
        return self._steps >= _MOST_STEPS or self.holders.is_full

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
