"""The diff of a finding as data: which lines of which cell or file it changes, and those lines changed.

Example:
    >>> hunks("@@ Cell In[4], line 2 @@\\n-y.mul_(2)\\n+y = y * 2")
    [Hunk(place='Cell In[4]', first=2, old=('y.mul_(2)',), new=('y = y * 2',))]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inplace_magic.record.trace import Trace

Whose = tuple[int | None, str | None]
"""Execution count and path of a text, as places have them; (None, None) is the watched block itself."""
Texts = Mapping[Whose, tuple[str, ...]]
"""The lines of texts."""

_HEAD = re.compile(r"@@ (?:(?P<cell>Cell In\[\d+\]), line |line |(?P<file>.*):)(?P<line>\d+) @@")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of one place and what shall stand there instead."""

    place: str
    """``Cell In[4]``, or the name of a file; empty for the block of a watch that has neither."""
    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def growth(self) -> int:
        """By how many lines what stands below moves down."""
        return len(self.new) - len(self.old)


def hunks(diff: str) -> list[Hunk]:
    """The changes of a diff, in its order."""
    found: list[Hunk] = []
    for part in re.split(r"^(?=@@ )", diff, flags=re.MULTILINE)[1:]:
        head, *rows = part.removesuffix("\n").split("\n")
        place = _HEAD.fullmatch(head)
        if place is None:
            continue
        old = tuple(row[1:] for row in rows if row[:1] in ("-", " "))
        new = tuple(row[1:] for row in rows if row[:1] in ("+", " "))
        found.append(Hunk(place["cell"] or place["file"] or "", int(place["line"]), old, new))
    return found


def by_text(trace: Trace, diffs: Iterable[str]) -> dict[Whose, list[Hunk]] | None:
    """The changes of some diffs by the text that they change; None where a text is not known, is not what stands there
    any more, or is changed in two ways at one place."""
    known = texts_of(trace)
    found: dict[Whose, list[Hunk]] = {}
    for hunk in dict.fromkeys(hunk for diff in diffs for hunk in hunks(diff)):
        whose = [key for key, lines in known.items() if _name(key) == hunk.place and _stands(lines, hunk)]
        if len(whose) != 1:
            return None
        found.setdefault(whose[0], []).append(hunk)
    for changes in found.values():
        changes.sort(key=lambda hunk: hunk.first)
        ends = [hunk.first + len(hunk.old) for hunk in changes]
        if any(end > hunk.first for end, hunk in zip(ends, changes[1:], strict=False)):
            return None
    return found


def texts_of(trace: Trace) -> dict[Whose, tuple[str, ...]]:
    """Every text that the record has."""
    found: dict[Whose, tuple[str, ...]] = {(text.cell, text.file): text.lines for text in trace.sources}
    if trace.source:
        found[trace.cell, None] = trace.source
    return found


def changed(lines: Sequence[str], changes: Iterable[Hunk]) -> tuple[str, ...]:
    """The lines with the changes made."""
    new = list(lines)
    for hunk in sorted(changes, key=lambda hunk: hunk.first, reverse=True):
        new[hunk.first - 1 : hunk.first - 1 + len(hunk.old)] = hunk.new
    return tuple(new)


def moved(line: int, changes: Iterable[Hunk]) -> int:
    """Where a line stands after the changes above it."""
    return line + sum(hunk.growth for hunk in changes if hunk.first + len(hunk.old) <= line)


def _stands(lines: Sequence[str], hunk: Hunk) -> bool:
    return bool(hunk.old) and tuple(lines[hunk.first - 1 : hunk.first - 1 + len(hunk.old)]) == hunk.old


def _name(whose: Whose) -> str:
    cell, file = whose
    if cell is not None:
        return f"Cell In[{cell}]"
    return "" if file is None else file.replace("\\", "/").rsplit("/", 1)[-1]
