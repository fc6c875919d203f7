"""Which objects held a tensor when a line wrote it, and when lines read it after that, and whose method wrote: two
objects can hold one tensor under one key, and the text of a line, ``node.tensor``, says the same of both.

Told of the first passes of each line alone; of reads, of tensors that a line of the user's has written. A written view
counts for the tensor that it is a view of. What allows no weak reference (a dict, a list, an object with
``__slots__``) is told by its ``id``, which the next one may get when it dies: then two count as one, a fact is missing,
and the record says of a holder that its number is not sure.

A replica that torch made of a module (``_replicate_for_data_parallel``) is not told of: on the first device it holds
the very buffers of its original, and what it writes there is meant to reach them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from inplace_magic.capture.naming.reach import LEADS_NOWHERE, Kinds, entries_of, is_replica
from inplace_magic.capture.naming.scope import locals_of, names_of, was_executed
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import Holding, MethodOf

_METHODS, _WRITES, _READS = 64, 16, 8
"""Passes of one place of which it is asked whose method writes, who holds what is written, and who what is read."""
_LEVELS = 3
"""Functions up the stack that are asked of a write; of a read, the line's own."""
_ITEMS = 48
"""Entries of an object, and names of a function, that are looked at."""
_MOST = 10_000
"""Kept of one watch."""


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
    found: list[Holding] = field(default_factory=list)
    """What was seen, oldest first."""
    _asked: dict[tuple[int, bool], int] = field(default_factory=dict)
    _methods: dict[int, int] = field(default_factory=dict)
    """The object whose method a call is in, by the call's index."""
    _numbers: dict[int, tuple[int, weakref.ref[Any] | None]] = field(default_factory=dict)
    """Of objects, by ``id``, and how to tell that it is still that object's. None of them is kept alive."""
    _count: int = 0

    def note(
        self, frame: FrameType | None, call: int, site: int | None, tensors: Iterable[Any], *, writes: bool
    ) -> None:
        """Looks for the tensors of a call in the objects that its function has names for.

        Args:
            tensors: what it writes, or reads.
            writes: whether it writes; then the functions that called that one are asked, too, and whose method it is.
        """
        asked = 0 if site is None else self._asked.get((site, writes), 0)
        if site is None or asked == (_METHODS if writes else _READS):
            return
        self._asked[site, writes] = asked + 1
        outer = self._users(frame)
        owner = _object_of(outer) if writes and outer is not None else None
        if owner is not None:
            self._methods[call], _is_sure = self._number(owner)
        if self.is_full or asked >= _WRITES:
            return
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
                    number, is_sure = self._number(holder)
                    self.found.append(Holding(call, serial, level, path, number, type(holder).__name__, is_sure))
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

    def _number(self, item: Any) -> tuple[int, bool]:
        """Return the number of an object, and whether no other object can have it."""
        known = self._numbers.get(id(item))
        if known is None or (known[1] is not None and known[1]() is not item):
            try:
                lives = weakref.ref(item)
            except TypeError:
                lives = None
            self._count += 1
            known = self._numbers[id(item)] = self._count, lives
        return known[0], known[1] is not None

    @property
    def is_full(self) -> bool:
        """True if nothing more is kept."""
        return len(self.found) >= _MOST

    def methods(self, calls: Iterable[CallEvent]) -> Iterator[MethodOf]:
        """What is known of whose methods some calls are in."""
        for call in calls:
            if call.index in self._methods:
                yield MethodOf(call.index, self._methods[call.index])


def _object_of(frame: FrameType) -> Any:
    """Return the first argument of a method, where its class has one of that name; None for any other function, and for
    a replica."""
    code = frame.f_code
    if not code.co_argcount:
        return None
    first = locals_of(frame).get(code.co_varnames[0])
    kind = type(first)  # `isinstance` and `hasattr` may run the user's code
    if not any([code.co_name in vars(base) for base in kind.__mro__[:-1]]):
        return None
    return None if is_replica(first) else first
