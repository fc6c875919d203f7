"""What trying the fixes of the labelled programs shows, by kind of failure, as a Markdown table.

    python benchmarks/fixes_tried.py [--programs tests/programs/first.md] [--only sigmoid ...] [-v]

By default with the programs of `held_out`, of which alone some go through a graph twice, and with the ten patients of
lesson 10, whose cures the lesson's own checks judge.
Each program runs as a cell under ``%%inplace_watch``; then ``report.prove()`` tries its fixes. A row counts programs
by the first finding of severity ``error`` or ``silent`` that has a fix, else by the worst. *cured*: the program with
all fixes that were not refuted runs to its end, and does not say of itself that it is ``SILENTLY_WRONG``: the author's
word, which no proof knows.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import tables
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "notebooks"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from hazards.patching import patched
from programs import score

from inplace_magic.proving import words

TESTS = Path(__file__).resolve().parent.parent / "tests"
FOLDERS = (score.packed.FIRST, score.packed.FURTHER)
PATIENT_KINDS = {"leaf-written": "leaf_error", "multi-output-view-written": "view_error"}
"""Symptoms of the patients whose findings have these codes; of others by whether they raise."""
SYMPTOMS = {
    "backward_error": "backward raises",
    "leaf_error": "a leaf is refused",
    "view_error": "a view is refused",
    "second_time": "backward a second time",
    "silent_wrong": "wrong in silence",
    "harmless": "healthy",
}
COLUMNS = ("programs", "found", "fix offered", "proven", "other numbers", "refuted", "not tried", "no fix")
TRUTH = ("rule's fix refuted", "cured, as the author says", "not cured", "gradient error measured")
SLOPES = ("consistent", "of no derivative", "contradicted and shown")
"""Of the fixes that are shown with other numbers: whose gradients are the derivative of the loss, or those of the
forward; whose program asks for others, as the sentence below it says; and those for which nothing else is why."""


def a_shell() -> Any:
    """An IPython shell that keeps no history on disk. Its ``reset`` collects garbage each time, of which what is loaded
    now is none."""
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    import torch._dynamo  # noqa: F401  # as any optimizer does

    gc.collect()
    gc.freeze()
    return InteractiveShell.instance(config=config)


def watched(shell: Any, source: str) -> Any:
    """The report of a program as a watched cell."""
    _error, _wrong, names = score.outcome(shell, "%%inplace_watch --out report --no-graph\n" + source)
    return names["report"]


def tried(shell: Any, source: str) -> tuple[Any, Any]:
    """The report of a program as a watched cell, and the same with its fixes tried."""
    report = watched(shell, source)
    return report, report.prove()


def cured(source: str, diffs: list[str]) -> bool:
    """Whether the program with these changes runs to its end and does not call itself wrong."""
    lines = patched(["%%inplace_watch", *source.splitlines()], diffs)[1:]
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile("\n".join(lines), "program.py", "exec", dont_inherit=True), names)
    except Exception:  # whatever it raises, it is not cured
        return False
    return not names.get("SILENTLY_WRONG")


def patients(shell: Any) -> Iterator[tuple[str, str, Any, Any, Callable[[list[str]], bool]]]:
    """Of each patient its key, its symptom, its reports before and after, and whether some diffs cure it."""
    from lessons.asking import answered, begin
    from lessons.test_l10 import FOUND, exercise_cells
    from lessons.test_l10 import patched as repaired
    from lessons.test_l10 import patients as cells

    for key, cell in zip(FOUND, cells(), strict=True):
        shell.reset(new_session=False)
        with capture_output():
            shell.run_cell("%reload_ext inplace_magic")
            begin(shell, "10")
            shell.run_cell(cell.replace("%%inplace_watch", "%%inplace_watch -o report"))
            report = shell.user_ns["report"]
            after = report.prove()
        symptom = PATIENT_KINDS.get(report.hazards[0].code, "backward_error" if report.trace.error else "silent_wrong")

        def cures(diffs: list[str], key: str = key) -> bool:
            text = exercise_cells("10")[key]
            for diff in diffs:
                text = repaired(text, diff)
            with capture_output():
                return bool(answered(shell, text).passed)

        yield key, symptom, report, after, cures


def counted(before: Any, after: Any, cures: Callable[[list[str]], bool]) -> tuple[Counter[str], str]:
    """What one program adds to its row, and a line on it."""
    row = Counter({"programs": 1})
    serious = [[each for each in report.hazards if each.severity in ("error", "silent")] for report in (before, after)]
    pairs = list(zip(*serious, strict=False))  # behind them stand findings that only the runs showed
    if not pairs:
        return row, "no finding"
    row["found"] = 1
    old, new = next((pair for pair in pairs if pair[1].diff or pair[0].diff), pairs[0])
    row["fix offered"] = int(bool(old.diff))
    row[new.proof.verdict if old.diff or new.diff else "no fix"] += 1
    row["gradient error measured"] = int(any(hazard.proof.gradient_errors for _old, hazard in pairs))
    for _old, hazard in pairs:
        said = {each.template for each in hazard.proof.told} if hazard.diff else set()
        row["consistent"] += bool(said & {words.SLOPE, words.SAME_GRADIENTS, words.SAME_LOSS})
        row["of no derivative"] += words.NO_SLOPE_MEANT in said
        row["contradicted and shown"] += words.NOT_THE_SLOPE in said
    refuted = [one.code for one, other in pairs if one.diff and one.diff != other.diff]
    row["rule's fix refuted"] = int(bool(refuted))
    kept = [
        hazard.diff for _old, hazard in pairs if hazard.diff and hazard.proof.verdict in ("proven", "other numbers")
    ]
    if kept:
        row["cured, as the author says" if cures(kept) else "not cured"] += 1
    good = row["cured, as the author says"]
    marks = [f"RULE REFUTED {refuted}"] if refuted else []
    marks += ["cured" if good else "NOT CURED"] if kept else []
    return row, f"{new.code}: {new.proof.verdict} {' '.join(marks)}: {new.proof.reason}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=[*FOLDERS, score.packed.HELD_OUT])
    parser.add_argument("--only", nargs="*", default=[], help="parts of program names")
    parser.add_argument("--healthy", action="store_true", help="the healthy programs, too")
    parser.add_argument("-v", action="store_true", help="a line on each program that fails")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shell = a_shell()
    rows: dict[str, Counter[str]] = {symptom: Counter() for symptom in SYMPTOMS}
    begin = time.perf_counter()
    for folder in options.programs:
        for case in score.cases_in(folder):
            if options.only and not any(word in case["case"] for word in options.only):
                continue
            if case["symptom"] == "harmless" and not options.healthy:
                continue
            source = score.source_of(folder, case["case"])
            torch.manual_seed(0)
            row, told = counted(*tried(shell, source), partial(cured, source))
            rows[case["symptom"]] += row
            if options.v:
                print(f"{case['case']} ({case['symptom']}): {told}", flush=True)
    for key, symptom, before, after, cures in patients(shell) if not options.only else ():
        row, told = counted(before, after, cures)
        rows[symptom] += row
        if options.v:
            print(f"patient {key} ({symptom}): {told}", flush=True)
    print(tables.counts("kind", (*COLUMNS, *TRUTH, *SLOPES), {SYMPTOMS[symptom]: row for symptom, row in rows.items()}))
    print(f"\n{time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
