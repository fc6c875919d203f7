"""The fixes of a report as one patch that ``git apply`` takes, with the lines around each change."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from inplace_magic.record.trace import Trace
from inplace_magic.source.hunks import Whose, by_text, changed, texts_of


def patch_of(trace: Trace, diffs: Iterable[str]) -> str:
    """Return a unified diff of every text that some diffs change; empty if there is none.

    Args:
        trace: the record, which has the texts.
        diffs: diffs of findings. A diff is left out if its lines are no longer what ran, or if an earlier one changes
            the same line differently.
    """
    texts = texts_of(trace)
    changes = by_text(trace, agreeing(trace, diffs)) or {}
    return "".join(_unified(whose, texts[whose], changed(texts[whose], hunks)) for whose, hunks in changes.items())


def agreeing(trace: Trace, diffs: Iterable[str]) -> list[str]:
    """Return the diffs that can be made together, earlier ones first."""
    kept: list[str] = []
    for diff in diffs:
        if diff and by_text(trace, [*kept, diff]) is not None:
            kept.append(diff)
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
