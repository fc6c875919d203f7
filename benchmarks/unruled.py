"""What is found by running alone, without any rule: gradients that are not those of the program's own forward.

    python benchmarks/unruled.py [--programs tests/programs ...] [--only sigmoid ...] [-v]

Each labelled program that runs to its end is a cell under ``%%inplace_watch``. No rule runs; what is left is its
record, and the comparison of the gradients that it used with those that it gets when all is copied that autograd saves.
*wrong*: they differ. *found*: there is a finding; *named*: its line is a labelled one. Of the healthy ones each finding
is a false one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tables
import torch
from fixes_tried import FOLDERS, a_shell, watched
from programs import score

from inplace_magic import report as making
from inplace_magic.errors import InplaceMagicError
from inplace_magic.proving import unruled
from inplace_magic.proving.bench import Bench
from inplace_magic.rerun.guard import Repeated

KINDS = {"silent_wrong": "wrong in silence", "harmless": "healthy"}
COLUMNS = ("programs", "could run again", "takes gradients", "wrong", "found", "named")


@contextmanager
def no_rules() -> Iterator[None]:
    """Reports that are made in the block have no findings: over so many programs the rules take most of the time."""
    found, making.find_hazards = making.find_hazards, lambda _trace: ((), ())
    try:
        yield
    finally:
        making.find_hazards = found


def looked_at(shell: Any, source: str) -> tuple[Counter[str], list[Any], str]:
    """Counts of one program, its findings, and why it could not be run again."""
    with no_rules():
        report = watched(shell, source)
    row = Counter({"programs": 1})
    try:
        with report.origin.begun(None) as staged:
            bench = Bench(staged, report.trace)
            row["could run again"] += 1
            row["takes gradients"] += int(any(group == "gradient" for group, _name in bench.meant.outcome.values))
            row["wrong"] += int(bool(bench.wrong_gradients))
            return row, unruled.found(bench, report), ""
    except (InplaceMagicError, Repeated) as refused:
        row["could run again"] = 0
        return row, [], str(refused)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=[*FOLDERS, *score.packed.ROUNDS])
    parser.add_argument("--only", nargs="*", default=[], help="parts of program names")
    parser.add_argument("-v", action="store_true", help="a line on each program with wrong gradients")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shell = a_shell()
    rows: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    begin = time.perf_counter()
    for folder in options.programs:
        for case in score.cases_in(folder):
            if case["symptom"] not in KINDS or (options.only and not any(w in case["case"] for w in options.only)):
                continue
            source = score.source_of(folder, case["case"])
            torch.manual_seed(0)
            row, findings, refused = looked_at(shell, source)
            lines = {source.splitlines()[number - 1].strip() for number in case["mutating_lines"]}
            blamed = [hazard.mutation for hazard in findings]
            row["found"] = int(bool(findings))
            row["named"] = int(any(site is not None and site.text.strip() in lines for site in blamed))
            rows[case["symptom"]] += row
            if options.v and (row["wrong"] or findings or refused):
                told = refused or [site.place if site is not None else "no line" for site in blamed]
                print(f"{case['case']}: {told}{'' if row['named'] or refused else ' NOT NAMED'}", flush=True)
    print(tables.counts("kind", COLUMNS, {KINDS[kind]: row for kind, row in rows.items()}))
    print(f"\n{time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
