"""How often ``%inplace_why`` names the guilty statement of a failed cell that nobody watched, and how long it takes.

    python benchmarks/why_answers.py [--programs tests/programs/first.md] [--only sigmoid ...] [-v]

Each labelled program that raises is run unwatched, as one cell, and split over three: what stands above the guilty
statement, from there on, and the statement that raises. Then ``%inplace_why`` is asked. *named*: the worst finding's
write is the labelled statement; *proven*: its fix is; *times*: the median of its time over that of the cells.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import tables
import torch
from fixes_tried import FOLDERS, a_shell
from IPython.utils.capture import capture_output
from programs import score

RAISING = ("backward_error", "leaf_error", "view_error")


def split(source: str, lines: list[int], raising: int) -> list[str]:
    """A program as up to three cells: cut above the statement of some lines, and above the one that raises."""
    tops = [(node.lineno, node.end_lineno or node.lineno) for node in ast.parse(source).body]
    cuts = sorted({first for first, last in tops for line in (min(lines), raising) if first <= line <= last} - {1})
    rows = source.splitlines()
    edges = [1, *cuts, len(rows) + 1]
    return ["\n".join(rows[first - 1 : last - 1]) for first, last in pairwise(edges)]


def asked(shell: Any, cells: list[str]) -> tuple[Any, float, BaseException | None]:
    """The report of ``%inplace_why`` after some cells, its time over theirs, and what refused it."""
    shell.reset(new_session=True)
    with capture_output(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shell.run_cell("%reload_ext inplace_magic", store_history=True)
        begin = time.perf_counter()
        for cell in cells:
            shell.run_cell(cell, store_history=True)
        middle = time.perf_counter()
        result = shell.run_cell("%inplace_why -o report", store_history=True)
    seconds = time.perf_counter() - middle, middle - begin
    return shell.user_ns.get("report"), seconds[0] / seconds[1], result.error_in_exec


def raising_line(source: str) -> int | None:
    """The line of the program itself at which it raises."""
    try:
        with warnings.catch_warnings(), capture_output():
            warnings.simplefilter("ignore")
            exec(compile(source, "<program>", "exec", dont_inherit=True), {"__name__": "__main__"})
    except Exception as error:  # what the program is for
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != "<program>":
            trace = trace.tb_next
        return trace.tb_lineno if trace is not None else None
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=list(FOLDERS))
    parser.add_argument("--only", nargs="*", default=[], help="parts of program names")
    parser.add_argument("-v", action="store_true", help="a line on each program of which it is not named")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shell = a_shell()
    rows: dict[str, Counter[str]] = {"one cell": Counter(), "split over cells": Counter()}
    times: dict[str, list[float]] = {name: [] for name in rows}
    for folder in options.programs:
        for case in score.cases_in(folder):
            skipped = options.only and not any(word in case["case"] for word in options.only)
            if case["symptom"] not in RAISING or skipped:
                continue
            source = score.source_of(folder, case["case"])
            line = raising_line(source)
            wanted = {source.splitlines()[number - 1].strip() for number in case["mutating_lines"]}
            for name, cells in (
                ("one cell", [source]),
                ("split over cells", split(source, case.get("call_lines") or case["mutating_lines"], line or 1)),
            ):
                report, ratio, refused = asked(shell, cells)
                hazard = next(iter(report.hazards), None) if report is not None else None
                at = hazard.mutation if hazard is not None else None
                named = at is not None and (at.text in wanted or at.statement.split("\n")[0].strip() in wanted)
                proof = hazard.proof if hazard is not None else None
                rows[name] += Counter({"programs": 1, "named": int(named), "refused": int(refused is not None)})
                rows[name]["its fix proven"] += int(proof is not None and proof.verdict == "proven")
                times[name].append(ratio)
                if options.v and not named:
                    print(
                        f"{case['case']} ({name}): {refused or report.trace.error or report.verdict}"[:300], flush=True
                    )
    print(tables.counts("run as", ("programs", "named", "its fix proven", "refused"), rows))
    print("\ntimes the cells: " + ", ".join(f"{name} {median(each):.1f}" for name, each in times.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
