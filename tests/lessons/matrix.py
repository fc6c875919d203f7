"""Every answer that the tests give to the exercises, and what the checks say: ``python tests/lessons/matrix.py``.

Runs the tests of the lessons and writes docs/measured/exercises.md: for each exercise its cell as it stands, the
course's solution, the typical mistake, and what else the tests hand in, half-right answers and those that
would fool a check.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measured" / "exercises.md"
MOST = 90
"""Characters of an answer."""
HEAD = """# Answers to the exercises

What the checks of the course say to {count} answers, in English: the cell as it stands, the course's solution, a
typical mistake, and those that are half right or would fool a check that looks at results alone. Written by
`python tests/lessons/matrix.py`, which runs the tests of the lessons, and not by hand.

| exercise | kind | given | verdict | first sentence of the answer |
|---|---|---|---|---|
"""


class Recorder:
    """Notes what is handed in and what comes back."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.given = self.kind = ""

    def note(self, key: str, told: Any) -> None:
        from inplace_magic.language import language

        if language() == "en":
            self.rows.setdefault((key, self.kind, self.given), (told.status, next(iter(told.sentences), "")))


def wrapped(recorder: Recorder, asking: Any, name: str, kind: str) -> Callable[..., Any]:
    """One of the functions of ``asking``, with a note of what it gave."""
    real = getattr(asking, name)

    def asked(shell: Any, key: str, *given: str) -> Any:
        outer, recorder.kind = recorder.kind, recorder.kind or kind
        recorder.given = " ⏎ ".join(line.strip() for line in "\n".join(given).splitlines() if line.strip())
        try:
            told = real(shell, key, *given)
            recorder.note(key, told)
        finally:
            recorder.kind = outer
        return told

    return asked


def cell(text: str) -> str:
    """A cell of a table in Markdown."""
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Writes the page; gives the tests' exit status."""
    from lessons import asking

    recorder = Recorder()
    kinds = {"untouched": "untouched", "answer": "another answer", "mistaken": "typical mistake", "solved": "solution"}
    for name, kind in kinds.items():
        setattr(asking, name, wrapped(recorder, asking, name, kind))
    folder = ROOT / "tests" / "lessons"
    files = [folder / "test_exercises.py", *sorted(folder.glob("test_l[0-9]*.py")), folder / "test_judged_by_facts.py"]
    status = int(pytest.main(["-q", "-p", "no:cacheprovider", *map(str, files)]))
    order = list(kinds.values())
    rows = sorted(
        recorder.rows, key=lambda row: ([int(part) for part in row[0].split(".")], order.index(row[1]), row[2])
    )
    lines = []
    for key, kind, given in rows:
        verdict, said = recorder.rows[key, kind, given]
        code = f"`` {given if len(given) <= MOST else given[:MOST] + ' …'} ``" if given else ""
        lines.append(f"| {key} | {kind} | {cell(code)} | {verdict} | {cell(said)} |")
    if status == 0:
        PAGE.write_text(HEAD.format(count=len(rows)) + "\n".join(lines) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "notebooks")]
    raise SystemExit(main())
