"""How often the cause of an unwatched error is named: every labelled program that raises, run as people run it.

    python benchmarks/postmortem.py [--programs DIR ...] [--how cell cells file] [--only NAME ...] [-v]

Each program runs unwatched: as one cell; split over three cells where its lines allow it (up to the write, the write,
the rest); as a file that a cell imports and calls. Then the error alone is asked. Figures, over all of these runs:

  refused   the node that refused has the labelled name
  saver     a line was named as the saver, and is the labelled statement / was named at all
  first     the line that wrote stands first among the candidates
  certain   one line is called the cause
  right     of those, the labelled one
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import io
import itertools
import linecache
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "programs"))

from score import bare, cases_in, packed, source_of, statement_of  # noqa: E402  # the labels and how they are read

from inplace_magic.postmortem import Cell, answer_to  # noqa: E402

FOLDERS = [packed.FIRST, packed.FURTHER, packed.HELD_OUT]
WAYS = ("cell", "cells", "file")


@dataclass
class Run:
    """A program that failed, and how its lines are numbered."""

    error: BaseException
    namespace: dict[str, Any]
    cells: tuple[Cell, ...]
    where: dict[tuple[int | None, str | None], int]
    """By cell and file, how many lines of the program stand above its first line; negative: of something else."""


@dataclass
class Tally:
    """What was counted."""

    asked: int = 0
    refused: int = 0
    saved: int = 0
    saver: int = 0
    savers: int = 0
    first: int = 0
    certain: int = 0
    right: int = 0
    times: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def failure_in(parts: list[tuple[str, int]], filename: str | None = None) -> Run | None:
    """Runs texts as cells, until one fails; with `filename`, the first is a file that a cell imports and calls."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    ran: list[Cell] = []
    where: dict[tuple[int | None, str | None], int] = {}
    for number, (text, above) in enumerate(parts, 1):
        name = f"/tmp/ipykernel_7/{number}_{abs(hash(text))}.py"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        ran.append(Cell(name, number, text))
        where[number, None] = above
        try:
            exec(compile(text, name, "exec"), namespace)
        except Exception as error:
            if filename is not None:
                where = {(None, filename): -1}
            return Run(error, namespace, tuple(ran), where)
    return None


def ways_of(source: str, case: dict[str, Any], how: str, folder: str) -> Run | None:
    """Runs a program in one of the ways; None where it cannot be run so, or does not fail."""
    if how == "cell":
        return failure_in([(source, 0)])
    if how == "cells":
        return failure_in(cut) if (cut := split(source, case)) else None
    path = os.path.join(folder, f"program_{case['case']}.py")
    body = "".join(f"    {line}\n" if line else "\n" for line in source.splitlines())
    Path(path).write_text(f"def run():\n{body}")
    name = f"program_{case['case']}"
    sys.path.insert(0, folder)
    try:
        importlib.invalidate_caches()
        return failure_in([(f"import {name}\n{name}.run()\n", 0)], filename=path)
    finally:
        sys.path.remove(folder)
        sys.modules.pop(name, None)


def split(source: str, case: dict[str, Any]) -> list[tuple[str, int]] | None:
    """The program in three cells: before the statement that wrote, that statement, and the rest."""
    body = ast.parse(source).body
    plain = lambda line: next(  # noqa: E731
        (i for i, n in enumerate(body) if n.lineno <= line <= (n.end_lineno or 0) and not isinstance(n, _DEFINING)),
        None,
    )
    at = next((i for line in (*case["mutating_lines"], *case.get("call_lines", ())) if (i := plain(line))), None)
    if at is None or at + 1 >= len(body) or at == 0:
        return None
    lines = source.splitlines()
    edges = [0, body[at].lineno - 1, body[at + 1].lineno - 1, len(lines)]
    return [("\n".join(lines[a:b]) + "\n", a) for a, b in itertools.pairwise(edges)]


_DEFINING = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def judge(name: str, case: dict[str, Any], source: str, run: Run, tally: Tally) -> None:
    """Asks for the answer and counts."""
    first = statement_of(source)
    began = time.perf_counter()
    answer = answer_to(run.error, namespace=run.namespace, cells=run.cells)
    tally.times.append(time.perf_counter() - began)
    tally.asked += 1
    if answer is None:
        tally.wrong.append(f"{name}: no answer")
        return

    def statement(site: Any) -> int | None:
        above = run.where.get((site.cell, site.file))
        return None if above is None else first.get(site.line + above)

    wanted = {first.get(line) for line in case["mutating_lines"]}
    found = [statement(site) for site in answer.candidates]
    saving = case.get("saving_line")
    if saving:
        tally.savers += 1
        tally.refused += bare(answer.saved_by) == bare(case["saved_by"])
        tally.saved += answer.saved is not None
        right_saver = answer.saved is not None and statement(answer.saved) == first.get(saving)
        tally.saver += right_saver
        if answer.saved is not None and not right_saver:
            tally.wrong.append(f"{name}: saver {answer.saved.line} is not {saving}")
    is_first = bool(found) and found[0] in wanted
    tally.first += is_first
    tally.certain += answer.certain
    tally.right += answer.certain and is_first
    if not is_first or not answer.certain:
        kind = "CERTAIN AND WRONG" if answer.certain else "not certain" if is_first else "not first"
        listed = [f"{site.place} {site.text}" for site in answer.candidates[:4]]
        tally.wrong.append(f"{name}: {kind}: {listed}, labelled {case['mutating_lines']}")


def programs(folders: list[Path], only: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """The labels and texts of programs that raise."""
    for folder in folders:
        for case in cases_in(folder):
            if case["symptom"] == "backward_error" and (not only or case["case"] in only):
                yield case, source_of(folder, case["case"])


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=FOLDERS)
    parser.add_argument("--how", nargs="*", choices=WAYS, default=WAYS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("-v", action="store_true", help="name what was not right")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for how in options.how:
        tally = Tally()
        with tempfile.TemporaryDirectory() as folder:
            for case, source in programs(options.programs, options.only):
                dtype = torch.get_default_dtype()
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    run = ways_of(source, case, how, folder)
                torch.set_default_dtype(dtype)
                if run is not None and "inplace" in str(run.error):
                    judge(case["case"], case, source, run, tally)
        if not tally.asked:
            continue
        times = sorted(tally.times)
        print(
            f"{how}: refused {tally.refused}/{tally.savers}, saver {tally.saver}/{tally.saved} of {tally.savers}, "
            f"first {tally.first}/{tally.asked}, certain {tally.certain}/{tally.asked}, "
            f"right {tally.right}/{tally.certain}, "
            f"median {statistics.median(times) * 1000:.0f} ms, 95 % {times[int(len(times) * 0.95)] * 1000:.0f} ms"
        )
        for line in tally.wrong if options.v else ():
            print("   ", line)


if __name__ == "__main__":
    main()
