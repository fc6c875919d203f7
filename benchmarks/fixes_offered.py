"""What the fixes that rules show do to the silent failures of the rounds, before any is tried by running it.

    python benchmarks/fixes_offered.py [--programs tests/programs/rounds/14.md ...] [-v]

Each program runs as a cell under ``%%inplace_watch``, and the diffs of all its alarms are put in, as ``%inplace_fix``
puts them in. *cured*: it does not call itself wrong any more; *not cured*: it does, or it raises.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import tables
import torch
from fixes_tried import a_shell, cured, watched
from programs import score

COLUMNS = ("programs", "an alarm", "a fix is shown", "cured", "not cured")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rounds = [*score.packed.ROUNDS]
    parser.add_argument("--programs", type=Path, nargs="*", default=rounds)
    parser.add_argument("-v", action="store_true", help="a line on each program without a fix, or not cured by it")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shell = a_shell()
    rows: dict[str, Counter[str]] = {}
    for folder in options.programs:
        row = rows.setdefault(folder.name, Counter())
        for case in score.cases_in(folder):
            if case["symptom"] != "silent_wrong":
                continue
            source = score.source_of(folder, case["case"])
            torch.manual_seed(0)
            alarms = [hazard for hazard in watched(shell, source).hazards if hazard.is_alarm]
            diffs = [hazard.diff for hazard in alarms if hazard.diff]
            good = bool(diffs) and cured(source, diffs)
            row += Counter({"programs": 1, "an alarm": int(bool(alarms)), "a fix is shown": int(bool(diffs))})
            row += Counter({"cured": int(good), "not cured": int(bool(diffs) and not good)})
            if options.v and alarms and not good:
                said = "\n".join(diffs) or f"no fix: {sorted({hazard.code for hazard in alarms})}"
                print(f"## {case['case']}: {said}", flush=True)
    rows["all"] = sum(rows.values(), Counter())
    print(tables.counts("round", COLUMNS, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
