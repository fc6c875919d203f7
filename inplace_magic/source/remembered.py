"""Caches of results for texts: each rule reads the listing at each place, thousands of times in one report.

An ``lru_cache`` with few entries would parse a file again for each look in a program of many files. So an answer stays
while all texts together are not too large; and since a text is hashed line by line, what a report has of its texts is
found by the identity of their list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Lines = tuple[str, ...]
Key = TypeVar("Key")
Made = TypeVar("Made")

_MOST_CHARACTERS = 600_000
"""A syntax tree takes about a hundred bytes for each."""
_ALWAYS = 8
"""Number of cached texts, however long."""
_REPORTS = 4
"""Number of cached objects that a report has one of."""


def for_the_same_object(make: Callable[[Key], Made]) -> Callable[[Key], Made]:
    """Return `make`, cached by the identity of its argument."""
    met: dict[int, tuple[Key, Made]] = {}

    def found(given: Key) -> Made:
        known = met.get(id(given))
        if known is None or known[0] is not given:
            if len(met) >= _REPORTS:
                met.clear()
            known = met[id(given)] = given, make(given)  # which keeps it, so no other object gets its `id`
        return known[1]

    return found


def for_the_same_lines(make: Callable[[Lines], Made]) -> Callable[[Lines], Made]:
    """`make`, which is asked once for each of the texts that were handed in last."""
    made: dict[Lines, tuple[int, Made]] = {}
    together = 0

    def found(lines: Lines) -> Made:
        nonlocal together
        again = made.pop(lines, None)
        size, answer = again or (sum(map(len, lines)), make(lines))
        made[lines] = size, answer
        together += 0 if again else size
        while len(made) > _ALWAYS and together > _MOST_CHARACTERS:
            together -= made.pop(next(iter(made)))[0]
        return answer

    return found
