"""Caches of results for texts: each rule reads the listing at each place, thousands of times in one report.

An ``lru_cache`` would hash the text each time, line by line, and with few entries it would parse a file again for each
look in a program of many files. So an answer is found by the argument's identity, then by its lines, and stays while
all texts together are not too large.
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
_OBJECTS = 64
"""Each keeps its text alive, so that no other text gets its `id`."""


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
    by_object: dict[int, tuple[Lines, Made]] = {}
    held = together = 0

    def found(lines: Lines) -> Made:
        nonlocal held, together
        known = by_object.get(id(lines))
        if known is None or known[0] is not lines:
            again = made.pop(lines, None)
            size, answer = again or (sum(map(len, lines)), make(lines))
            made[lines] = size, answer
            together += 0 if again else size
            while len(made) > _ALWAYS and together > _MOST_CHARACTERS:
                together -= made.pop(next(iter(made)))[0]
                by_object.clear()
            held += size
            if len(by_object) >= _OBJECTS or held > _MOST_CHARACTERS:
                by_object.clear()
                held = size
            known = by_object[id(lines)] = lines, answer
        return known[1]

    return found
