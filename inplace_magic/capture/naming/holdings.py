"""Which objects held a tensor when a line wrote it, and when lines read it after that: two objects can hold one tensor
under one key, and the text of a line, ``node.tensor``, says the same of both.

Told of the first passes of each line alone, and of tensors that a line of the user's writes by itself. A written view
counts for the tensor that it is a view of. A dict or list allows no weak reference, and when it dies the next one may
get its ``id``: then both have one number, and the record says that this number is not sure.
A replica that torch made of a module is not told of: what it holds is its original's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple

from inplace_magic.capture.naming.numbered import Numbered
from inplace_magic.capture.naming.reach import LEADS_NOWHERE, Kinds, entries_of, is_replica
from inplace_magic.capture.naming.scope import locals_of, was_executed
from inplace_magic.record.names import Holding

_WRITES, _READS = 16, 8
"""Passes of one place of which it is asked."""
_LEVELS = 3
"""Functions up the stack that are asked of a write; of a read, the line's own."""
_ITEMS = 48
"""Entries of an object, and names of a function, that are looked at."""
_MOST = 10_000
"""Kept of one watch."""


class _Sighting(NamedTuple):
    call: int
    level: int
    path: str
    object: int
    is_sure: bool
    kind: str
    tensor: int


@dataclass(eq=False)
class Holdings:
    """What was seen to hold the tensors that lines write.

    Args:
        is_users: whether a code object is the user's, and whether callers above it are no part of the story.
        known: the record of a tensor that was met, which has its ``serial``.
        kinds: what a tensor is, and what a module.
        base: the tensor that one is a view of, or None.
        wrappers: frames of the framework that may stand between a line and the call that it makes itself.
    """

    is_users: Callable[[CodeType], tuple[bool, bool]]
    known: Callable[[Any], Any]
    kinds: Kinds
    base: Callable[[Any], Any]
    wrappers: int = 2
    held: set[int] = field(default_factory=set)
    """Serial numbers of the written tensors that an object held: whoever reads one of them is asked."""
    _asked: dict[tuple[int, bool], int] = field(default_factory=dict)
    _objects: Numbered = field(default_factory=Numbered)
    _found: list[_Sighting] = field(default_factory=list)

    def note(
        self, frame: FrameType | None, call: int, site: int | None, tensors: Iterable[Any], *, writes: bool
    ) -> None:
        """Looks for the tensors of a call in the objects that its function has names for.

        Args:
            tensors: what it writes, or reads.
            writes: whether it writes; then the functions that called that one are asked, too.
        """
        if site is None or self.is_full:
            return
        asked = self._asked.get((site, writes), 0)
        if asked == (_WRITES if writes else _READS):
            return
        self._asked[site, writes] = asked + 1
        outer = self._users(frame)
        both = (each for tensor in tensors for each in (tensor, self.base(tensor)) if each is not None)
        wanted = {id(each): record.serial for each in both if (record := self.known(each)) is not None}
        level = 0
        while outer is not None and level < (_LEVELS if writes else 1):
            mine, is_last = self.is_users(outer.f_code)
            if mine:
                self._look(outer, level, call, wanted, writes=writes)
                level += 1
            outer = None if is_last else outer.f_back

    def _users(self, frame: FrameType | None) -> FrameType | None:
        """Return the user's frame that made a call, maybe by way of a function of the framework's, as ``x.norm()`` is
        one."""
        for _ in range(self.wrappers + 1):
            if frame is None or self.is_users(frame.f_code)[0]:
                return frame
            frame = frame.f_back
        return None

    def _look(self, frame: FrameType, level: int, call: int, wanted: dict[int, int], *, writes: bool) -> None:
        for name, value in islice(names_of(frame).items(), _ITEMS):
            kind = type(value)
            if kind in LEADS_NOWHERE or issubclass(kind, self.kinds.tensor) or was_executed(value):
                continue
            for path, holder, tensor in self._in(name, value, 0):
                serial = wanted.get(id(tensor))
                if serial is not None and not is_replica(holder):
                    number, is_sure = self._objects.of(holder)
                    name_of = type(holder).__name__
                    self._found.append(_Sighting(call, level, path, number, is_sure, name_of, serial))
                    if writes:
                        self.held.add(serial)

    def _in(self, path: str, value: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
        """(path, holder, tensor) of what an object holds, and the objects that it holds."""
        tensor = self.kinds.tensor
        for step, item in islice(entries_of(value, self.kinds, _ITEMS), _ITEMS):
            kind = type(item)
            if issubclass(kind, tensor):
                yield path + step, value, item
            elif not depth and kind not in LEADS_NOWHERE:
                yield from self._in(path + step, item, 1)

    @property
    def is_full(self) -> bool:
        """True if nothing more is kept."""
        return len(self._found) >= _MOST

    def frozen(self) -> Iterator[Holding]:
        """What was seen, oldest first."""
        for seen in self._found:
            yield Holding(seen.call, seen.tensor, seen.level, seen.path, seen.object, seen.kind, seen.is_sure)


def names_of(frame: FrameType) -> dict[str, Any]:
    """Return the variables of a function; of a block, the globals that its code names."""
    code = frame.f_code
    if code.co_flags & inspect.CO_NEWLOCALS:
        return locals_of(frame)
    names = frame.f_globals
    return {name: dict.get(names, name) for name in code.co_names}
