"""Applying the diff of a finding to the program that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from inplace_magic.source.hunks import Hunk, merged


def patched(lines: list[str], diffs: Iterable[str]) -> list[str]:
    """The lines with all hunks applied, as ``%inplace_fix`` applies them: of two that change the same part of a line
    the earlier one.

    Raises:
        AssertionError: a hunk does not say what stands at its place.
    """
    changes: dict[tuple[int, int], list[str]] = {}
    for diff in dict.fromkeys(diffs):
        for hunk in re.split(r"^(?=@@ )", diff, flags=re.MULTILINE)[1:]:
            head, *rows = hunk.rstrip("\n").split("\n")
            place = re.fullmatch(r"@@ (?:.*line |.*:)(\d+) @@", head)
            assert place is not None, head
            first = int(place[1]) - 1
            old = [row[1:] for row in rows if row[0] in "- "]
            assert lines[first : first + len(old)] == old
            new = [row[1:] for row in rows if row[0] in "+ "]
            before = changes.get((first, len(old)))
            if before is not None:
                hunks = (Hunk("", first + 1, tuple(old), tuple(each)) for each in (before, new))
                both = merged(*hunks)
                new = list(both.new) if both is not None else before
            changes[first, len(old)] = new
    text = list(lines)
    for (first, count), rows in sorted(changes.items(), reverse=True):
        text[first : first + count] = rows
    return text
