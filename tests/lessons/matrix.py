"""Every answer that the tests give to the exercises, and what the checks say: ``python tests/lessons/matrix.py``.

Runs the tests of the lessons and writes docs/measured/exercises.md: for each exercise its cell as it stands, the
course's solution, the typical mistake, and what else the tests hand in. What kind of answer it is, is told by the
answer: *half right* where some of its parts are those of the solution, or where the check itself says which half is
right; *fooling* where it is one of test_judged_by_facts.py, whose results alone would get another verdict.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measured" / "exercises.md"
MOST = 90
"""Characters of an answer."""
HEAD = """# Answers to the exercises

What the checks of the course say to {count} answers, in English. *Fooling* answers would get another verdict by
their results alone: they are hard-coded, write into unrelated memory, or change a harmless line. *Half right*
answers have one correct part. Written by `python tests/lessons/matrix.py`, which runs the tests of the lessons, and
not by hand.

| answer | right | wrong | open |
|---|---|---|---|
{summary}

| exercise | answer | given | verdict | first sentence of what the check says |
|---|---|---|---|---|
"""
KINDS = ("untouched", "wrong", "half right", "fooling", "right in another way", "solution")
HALF = re.compile(r"\b(right|safe)\b[^.]*\. (But|In-place so far)|\bright, (but|and the gradient is not)\b")
"""How a check begins that names the half which is right."""


def kind_of(key: str, handed_in: str, given: str, status: str, said: str) -> str:
    """What kind of answer it is, one of :data:`KINDS`.

    Args:
        key: the exercise.
        handed_in: the function of ``asking`` by which it was.
        given: the answer's code.
        status: the verdict.
        said: the first sentence of the check.
    """
    if handed_in in ("untouched", "solved"):
        return "solution" if handed_in == "solved" else "untouched"
    if "test_judged_by_facts" in os.environ.get("PYTEST_CURRENT_TEST", ""):
        return "fooling"
    if status == "right":
        return "right in another way"
    return "half right" if HALF.search(said) or _shares(key, given) else "wrong"


def _shares(key: str, given: str) -> bool:
    """Whether an answer that is a set or a dictionary has parts of the solution's and misses others."""
    from inplace_magic.lessons.asking import exercise

    parts = []
    for code in (given, exercise(key).solution):
        try:
            value = ast.literal_eval(code.strip().removeprefix("answer = "))
        except (SyntaxError, ValueError):  # a program
            return False
        parts.append(set(value.items() if isinstance(value, dict) else value))
    return bool(parts[0] & parts[1])


class Recorder:
    """Notes what is handed in and what comes back."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.code = self.given = self.handed_in = ""

    def note(self, key: str, told: Any) -> None:
        from inplace_magic.language import language

        if language() == "en":
            said = next(iter(told.sentences), "")
            kind = kind_of(key, self.handed_in, self.code, told.status, said)
            self.rows.setdefault((key, kind, self.given), (told.status, said))


def wrapped(recorder: Recorder, asking: Any, name: str) -> Callable[..., Any]:
    """One of the functions of ``asking``, with a note of what it gave."""
    real = getattr(asking, name)

    def asked(shell: Any, key: str, *given: Any) -> Any:
        outer, recorder.handed_in = recorder.handed_in, recorder.handed_in or name
        texts = [part if isinstance(part, str) else f"{part[0]} → {part[1] or '(nothing)'}" for part in given]
        recorder.code = "\n".join(texts)
        recorder.given = " ⏎ ".join(line.strip() for line in recorder.code.splitlines() if line.strip())
        try:
            told = real(shell, key, *given)
            recorder.note(key, told)
        finally:
            recorder.handed_in = outer
        return told

    return asked


def cell(text: str) -> str:
    """A cell of a table in Markdown."""
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Writes the page; gives the tests' exit status."""
    from lessons import asking

    recorder = Recorder()
    for name in ("untouched", "answer", "changed", "mistaken", "solved"):
        setattr(asking, name, wrapped(recorder, asking, name))
    folder = ROOT / "tests" / "lessons"
    files = [folder / "test_exercises.py", *sorted(folder.glob("test_l[0-9]*.py")), folder / "test_judged_by_facts.py"]
    status = int(pytest.main(["-q", "-p", "no:cacheprovider", *map(str, files)]))
    rows = sorted(
        recorder.rows, key=lambda row: ([int(part) for part in row[0].split(".")], KINDS.index(row[1]), row[2])
    )
    counts = Counter((kind, recorder.rows[key, kind, given][0]) for key, kind, given in rows)
    summary = "\n".join(
        f"| {' | '.join([kind, *(str(counts[kind, status]) for status in ('right', 'wrong', 'open'))])} |"
        for kind in KINDS
    )
    lines = []
    for key, kind, given in rows:
        verdict, said = recorder.rows[key, kind, given]
        code = f"`` {given if len(given) <= MOST else given[:MOST] + ' …'} ``" if given else ""
        lines.append(f"| {key} | {kind} | {cell(code)} | {verdict} | {cell(said)} |")
    if status == 0:
        PAGE.write_text(HEAD.format(count=len(rows), summary=summary) + "\n".join(lines) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "notebooks")]
    raise SystemExit(main())
