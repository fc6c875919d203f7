"""Serial numbers of the user's objects."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any


@dataclass(eq=False)
class Numbered:
    """Objects by number, none of which is kept alive. What allows no weak reference (a dict, a list, an object with
    ``__slots__``) is told by its ``id``, which the next one may get when it dies: such a number is not sure."""

    _known: dict[int, tuple[int, weakref.ref[Any] | None]] = field(default_factory=dict)
    """By ``id``: the number, and how to tell that it is still that object's."""
    _numbers: Iterator[int] = field(default_factory=partial(count, 1))

    def of(self, item: Any) -> tuple[int, bool]:
        """Return the number of an object, and whether no other object can have it."""
        known = self._known.get(id(item))
        if known is None or (known[1] is not None and known[1]() is not item):
            try:
                lives = weakref.ref(item)
            except TypeError:
                lives = None
            known = self._known[id(item)] = next(self._numbers), lives
        return known[0], known[1] is not None
