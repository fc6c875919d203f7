"""Which object's method made a write: two objects can hold one tensor, and both write it by the same line and name.

Of objects with ``__slots__``, one that dies may leave its number to the next, and then two count as one: a fact is
missing, and none is wrong.

A replica that torch made of a module (``_replicate_for_data_parallel``) is no object of its own: on the first device it
holds the very buffers of its original, and what it writes there is meant to reach them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from inplace_magic.capture.naming.numbered import Numbered
from inplace_magic.capture.naming.reach import is_replica
from inplace_magic.capture.naming.scope import locals_of
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import MethodOf

_MOST = 64
"""Writes of one place of which it is asked: reading a variable of a frame takes microseconds."""


@dataclass(eq=False)
class Methods:
    """The objects whose methods wrote.

    Args:
        is_users: whether a code object is the user's.
        wrappers: frames of the framework at most between the user's line and the call.
    """

    is_users: Callable[[CodeType], tuple[bool, bool]]
    wrappers: int = 0
    _asked: dict[int, int] = field(default_factory=dict)
    """By number of the place."""
    _objects: Numbered = field(default_factory=Numbered)
    _found: dict[int, int] = field(default_factory=dict)
    """By index of the call."""

    def note(self, frame: FrameType | None, call: int, site: int) -> None:
        """Asks whose method the line is that writes."""
        asked = self._asked.get(site, 0)
        for _step in range(self.wrappers):
            frame = frame.f_back if frame is not None and not self.is_users(frame.f_code)[0] else frame
        if asked == _MOST or frame is None or not self.is_users(frame.f_code)[0]:
            return
        self._asked[site] = asked + 1
        owner = _object_of(frame)
        if owner is not None:
            self._found[call], _is_sure = self._objects.of(owner)

    def frozen(self, calls: Iterable[CallEvent]) -> Iterator[MethodOf]:
        """What is known of some calls."""
        for call in calls:
            if call.index in self._found:
                yield MethodOf(call.index, self._found[call.index])


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
