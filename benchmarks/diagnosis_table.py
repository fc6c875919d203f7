"""What PyTorch's message, its anomaly mode and this package name of each failing program, as a Markdown page.

    python benchmarks/diagnosis_table.py [--write docs/measured/diagnosis.md] [--only sigmoid ...]

The programs are those of ``tests/programs/first.md`` and ``further.md``; their labels say which
statement wrote, which one saved, and how the user's code calls the tensor. They were taken from public issues, whose
addresses stand there. Each program runs plainly, under anomaly mode, and under ``%%inplace_watch`` at both levels.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from programs import score
from test_further_programs import NOT_YET_FOUND
from test_program_labels import run, statements

TESTS = Path(__file__).resolve().parent.parent / "tests"
SETS = (score.packed.FIRST, score.packed.FURTHER)
LEVELS = ("calls", "ops")
SYMPTOMS = {
    "backward_error": "Backward raises",
    "leaf_error": "A leaf is refused",
    "view_error": "A view is refused",
    "silent_wrong": "Wrong numbers without an error",
}
MARK = {True: "yes", False: "**no**", None: ""}
PREAMBLE = """\
Measured with torch {torch}, on the programs of `tests/programs/first.md` and `further.md`; the labels beside them
say what is right. *Write*: the output names the statement that overwrote the tensor (PyTorch: in a traceback; here:
as the place of the finding, at level `calls`). *Save*: it names the statement whose autograd node kept the tensor.
*Name*: it uses the code's name for the tensor. Empty: nothing to name. If PyTorch refuses the write at once, its
own traceback ends there. Anomaly mode shows a write only if the same statement also saved the tensor.

Rules were written with these programs in view, so the figures show what the rules cover, not what they will find in
your code. First scores on unseen programs, of version 0.1.0, are lower: 53 of 61 failing programs of all kinds, 13
of 19 silent ones, 4 (as cells) and 2 (as files) of 30 more after public reports; quiet on 52 of 53 healthy ones.
Those programs are not in this repository, so no command repeats these figures.

First scores on silent failures: [the rounds](rounds.md)."""
HEAD = """\
| program | PyTorch's message | shows the write | anomaly mode: save | write | here: write | save | name |
|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Row:
    """What was named of one program; None where the program has no such thing."""

    case: str
    symptom: str
    message: str
    """The tensor that PyTorch's text speaks of, in its words."""
    plain: bool
    """PyTorch's traceback has the statement that wrote."""
    anomaly: tuple[bool | None, bool]
    """(save, write): whether the traceback of PyTorch's anomaly mode has the statement."""
    ours: tuple[bool, bool | None, bool | None]
    """(write, save, name): whether the first finding is right; for silent programs, any finding of an alarm."""

    def __str__(self) -> str:
        cells = [self.case, self.message, self.plain, *self.anomaly, *self.ours]
        return "| " + " | ".join(cell if isinstance(cell, str) else MARK[cell] for cell in cells) + " |"


def in_words(error: Exception | None) -> str:
    """The part of PyTorch's text that says which tensor it means."""
    if error is None:
        return "none"
    text = str(error)
    versions = re.search(r"is at version (\d+); expected version (\d+)", text)
    if versions is None:
        first = text.split(". ")[0].split(", but")[0]
        return first if len(first) < 90 else first[:87] + "…"
    tensor = re.search(r"\[torch\.(\w+) \[([\d, ]*)\]\]", text)
    producer = re.search(r"which is (output \d+ of \w+)", text)
    what = f"a {tensor[1]} [{tensor[2]}]" if tensor else "a tensor"
    return f"{what}{', ' + producer[1] if producer else ''}, version {versions[1]} instead of {versions[2]}"


def row_of(case: dict[str, Any], source: str, figures: dict[str, bool]) -> Row:
    """Runs one program plainly and under anomaly mode.

    Args:
        case: its label.
        source: its text.
        figures: how the watch did, from ``score.score``.
    """
    ending = run(source)
    wrote = statements(source, case["mutating_lines"])
    shown = bool(wrote & statements(source, ending.lines))
    anomaly: tuple[bool | None, bool] = (None, shown)
    if case["symptom"] == "backward_error":
        named = dict(score.anomaly(case, source))
        anomaly = (named["saver"], named["culprit"])
    ours = (figures["culprit"], figures.get("saver"), figures.get("variable"))
    return Row(case["case"], case["symptom"], in_words(ending.error), shown, anomaly, ours)


def score_line(level: str, pairs: list[tuple[str, bool]]) -> str:
    """What ``score.py`` prints."""
    asked, right = Counter(name for name, _ in pairs), Counter(name for name, ok in pairs if ok)
    return f"{level:5}  " + " ".join(f"{name} {right[name]}/{asked[name]}" for name in asked)


def measured(shell: Any, folder: Path, only: list[str]) -> tuple[list[Row], list[str]]:
    """The rows of a folder's failing programs, and its score line at each level, healthy programs included."""
    cases = [case for case in score.cases_in(folder) if not only or any(word in case["case"] for word in only)]
    rows, lines = [], []
    for level in LEVELS:
        pairs: list[tuple[str, bool]] = []
        for case in cases:
            source = score.source_of(folder, case["case"])
            _, figures = score.score(shell, case, source, level)
            pairs += figures
            if level == LEVELS[0] and case["symptom"] in SYMPTOMS:
                rows.append(row_of(case, source, dict(figures)))
        lines.append(score_line(level, pairs))
    return rows, lines


def sums(rows: list[Row]) -> str:
    """``right/asked`` under each column."""
    columns = zip(*[(row.plain, *row.anomaly, *row.ours) for row in rows], strict=True)
    counts = [[value for value in column if value is not None] for column in columns]
    return "| **right/asked** | | " + " | ".join(f"{sum(c)}/{len(c)}" if c else "" for c in counts) + " |"


def page(rows: list[Row], lines: list[str]) -> Iterator[str]:
    """The Markdown page, line by line."""
    yield "# What each tool names of a failure"
    yield ""
    yield "```\npython benchmarks/diagnosis_table.py --write docs/measured/diagnosis.md\n```"
    yield ""
    yield PREAMBLE.format(torch=torch.__version__.split("+")[0])
    for symptom, title in SYMPTOMS.items():
        chosen = [row for row in rows if row.symptom == symptom]
        if chosen:
            yield f"\n## {title}\n\n{HEAD}"
            yield from (str(row) for row in chosen)
            yield sums(chosen)
    yield "\n## Not found, and why\n"
    yield from (f"- {name}: {why}" for name, why in NOT_YET_FOUND.items())
    yield "\n## Scores\n"
    yield "Healthy programs included; each figure is right/asked, as `tests/programs/score.py` explains them.\n"
    yield "```"
    yield from lines
    yield "```"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="also write the page to this file")
    parser.add_argument("--only", nargs="*", default=[], help="parts of program names")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell: Any = InteractiveShell.instance(config=config)
    rows: list[Row] = []
    lines: list[str] = []
    for programs in SETS:
        found, scores = measured(shell, programs, options.only)
        rows += found
        lines += [f"tests/programs/{programs.name}", *scores]
    text = "\n".join(page(rows, lines)) + "\n"
    print(text, end="")
    if options.write is not None:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
