"""The diff of a finding as data: which lines of which cell or file it changes, and those lines changed.

The diffs of a report make one patch that ``git apply`` takes, with the lines around each change.

Example:
    >>> hunks("@@ Cell In[4], line 2 @@\\n-y.mul_(2)\\n+y = y * 2")
    [Hunk(place='Cell In[4]', first=2, old=('y.mul_(2)',), new=('y = y * 2',))]
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path

from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source.listing import Edit, Listing

Whose = tuple[int | None, str | None]
"""Execution count and path of a text, as places have them; (None, None) is the watched block itself."""

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
        """Return the number of lines by which the text below moves down."""
        return len(self.new) - len(self.old)


def hunks(diff: str) -> list[Hunk]:
    """Return the changes of a diff, in its order."""
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
    """Return the changes of some diffs by the text that they change; None where a text is not known, is not what stands
    there any more, or is changed in two ways at one place. Two changes of different parts of the same lines are one."""
    known = texts_of(trace)
    found: dict[Whose, list[Hunk]] = {}
    for hunk in dict.fromkeys(hunk for diff in diffs for hunk in hunks(diff)):
        whose = [
            key
            for key, lines in known.items()
            if Callsite(0, cell=key[0], file=key[1]).holder == hunk.place
            and bool(hunk.old)
            and lines[hunk.first - 1 : hunk.first - 1 + len(hunk.old)] == hunk.old
        ]
        if len(whose) != 1:
            return None
        changes = found.setdefault(whose[0], [])
        same = next((each for each in changes if (each.first, each.old) == (hunk.first, hunk.old)), None)
        both = merged(same, hunk) if same is not None else hunk
        if both is None:
            return None
        changes[:] = [each for each in changes if each is not same] + [both]
    for changes in found.values():
        changes.sort(key=lambda hunk: hunk.first)
        if any(one.first + len(one.old) > following.first for one, following in pairwise(changes)):
            return None
    return found


def merged(one: Hunk, other: Hunk) -> Hunk | None:
    """Return two changes of the same lines as one; None where they touch the same part of them.

    Example:
        ``a @ b`` is changed to ``a.clone() @ b`` by one and to ``a @ b.clone()`` by the other.
    """
    old = "\n".join(one.old)
    first, second = sorted(_edit(old, "\n".join(hunk.new)) for hunk in (one, other))
    if first[1] > second[0] or first[:2] == second[:2]:
        return None
    text = f"{old[: first[0]]}{first[2]}{old[first[1] : second[0]]}{second[2]}{old[second[1] :]}"
    return Hunk(one.place, one.first, one.old, tuple(text.split("\n")))


def _edit(old: str, new: str) -> tuple[int, int, str]:
    """Return the one replaced part of a text: start, end and new text."""
    before = _alike(old, new)
    after = _alike(old[before:][::-1], new[before:][::-1])
    return before, len(old) - after, new[before : len(new) - after]


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def texts_of(trace: Trace) -> dict[Whose, tuple[str, ...]]:
    """Return every text that the record has."""
    found: dict[Whose, tuple[str, ...]] = {(text.cell, text.file): text.lines for text in trace.sources}
    if trace.source:
        found[trace.cell, None] = trace.source
    return found


def changed(lines: Sequence[str], changes: Iterable[Hunk]) -> tuple[str, ...]:
    """Return the lines with the changes made."""
    new = list(lines)
    for hunk in sorted(changes, key=lambda hunk: hunk.first, reverse=True):
        new[hunk.first - 1 : hunk.first - 1 + len(hunk.old)] = hunk.new
    return tuple(new)


def moved(line: int, changes: Iterable[Hunk]) -> int:
    """Return the number of a line after the changes above it."""
    return line + sum(hunk.growth for hunk in changes if hunk.first + len(hunk.old) <= line)


def new_lines(changes: Sequence[Hunk]) -> list[range]:
    """Return where the lines that changes put in stand after them."""
    firsts = [moved(hunk.first, changes) for hunk in changes]
    return [range(first, first + len(hunk.new)) for first, hunk in zip(firsts, changes, strict=True)]


def diff(site: Callsite, listing: Listing, edits: Iterable[Edit]) -> str:
    """Return the changes as a diff, with a header for each that says where."""
    found: list[str] = []
    for edit in sorted(edits, key=lambda edit: edit.first):
        new = [f"+{row}" for text in edit.new for row in text.split("\n")]
        first, sign = (edit.first, "-") if edit.last >= edit.first else (edit.last, " ")
        old = [f"{sign}{text}" for text in listing.lines[first - 1 : edit.last]]
        found.append("\n".join([f"@@ {_place(site, first)} @@", *old, *new]))
    return "\n".join(found)


def _place(site: Callsite, line: int) -> str:
    if site.cell is not None:
        return f"Cell In[{site.cell}], line {line}"
    if site.file is None:
        return f"line {line}"
    return f"{site.holder}:{line}"


def patch_of(trace: Trace, diffs: Iterable[str]) -> str:
    """Return a unified diff of every text that some diffs change; empty if there is none.

    Args:
        trace: the record, which has the texts.
        diffs: diffs of findings. A diff is left out if its lines are no longer what ran, or if an earlier one changes
            the same line differently.
    """
    texts = texts_of(trace)
    changes = by_text(trace, agreeing(trace, diffs)) or {}
    return "".join(_unified(whose, texts[whose], changed(texts[whose], each)) for whose, each in changes.items())


def agreeing(trace: Trace, diffs: Iterable[str]) -> list[str]:
    """Return the diffs that can be made together, earlier ones first."""
    kept: list[str] = []
    for each in diffs:
        if each and by_text(trace, [*kept, each]) is not None:
            kept.append(each)
    return kept


def _unified(whose: Whose, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    name = _path(whose)
    end, closed = _ending(whose)
    lines = [
        [f"{line}{end}" for line in text[:-1]] + ([f"{text[-1]}{end if closed else ''}"] if text else [])
        for text in (old, new)
    ]
    rows: list[str] = []
    for row in difflib.unified_diff(lines[0], lines[1], f"a/{name}", f"b/{name}"):
        rows.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(rows)


def _path(whose: Whose) -> str:
    """Return a file as seen from the working directory, or elsewhere from the root of its repository; of a cell,
    ``In[4].py``, which can be saved under that name."""
    cell, file = whose
    if file is None:
        return f"In[{cell}].py" if cell is not None else "block.py"
    if not os.path.isabs(file):
        return file
    roots = [Path.cwd(), *(folder for folder in Path(file).parents if (folder / ".git").exists())]
    inside = (Path(file).relative_to(root).as_posix() for root in roots if Path(file).is_relative_to(root))
    return next(inside, Path(file).as_posix().lstrip("/"))


def _ending(whose: Whose) -> tuple[str, bool]:
    """Return the line ending of a text, and whether its last line has it."""
    if whose[1] is None:
        return "\n", True
    try:
        with open(whose[1], "rb") as opened:
            content = opened.read()
    except OSError:
        return "\n", True
    return "\r\n" if b"\r\n" in content else "\n", content.endswith(b"\n")
