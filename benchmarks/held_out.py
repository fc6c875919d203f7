"""What the offered fixes do to programs that were written before anybody looked at how fixes are made.

    python benchmarks/held_out.py [--programs tests/programs/held_out] [--only capsule ...] [-v]

Each label holds the right versions of its program, written by hand: lists of texts to replace. A program runs as a
watched cell, `report.prove()` tries its fixes, and those that were not refuted are put in, the untried ones, too.
*cured*: it runs to its end and leaves the values and gradients of one of the right versions, but for rounding; *vain*:
it raises; *wrong*: it leaves others. *by a rule*: the fix was the rule's own, and not a candidate's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import tables
import torch
from fixes_tried import SYMPTOMS, a_shell, tried
from hazards.patching import patched
from programs import score
from proving.righted import is_right, left_by, rights

COLUMNS = ("programs", "fix offered", "by a rule", "proven", "other numbers", "refuted", "not tried", "no fix")
TRUTH = ("cured", "vain", "wrong")


def counted(case: dict[str, Any], source: str, shell: Any) -> tuple[Counter[str], str]:
    """What one program adds to its row, and a line on it."""
    row = Counter({"programs": 1})
    before, after = tried(shell, source)
    findings = [hazard for hazard in after.hazards if hazard.severity in ("error", "silent")]
    kept = [hazard for hazard in findings if hazard.diff]
    if not findings:
        row["no fix"] += 1
        return row, "no finding"
    shown = next((hazard for hazard in findings if hazard.diff), findings[0])
    row["fix offered"] = int(bool(shown.diff))
    row["by a rule"] = int(shown.diff != "" and shown.diff in {hazard.diff for hazard in before.hazards})
    row[shown.proof.verdict if shown.diff or shown.proof.verdict != "not tried" else "no fix"] += 1
    told = f"{shown.code}: {shown.proof.verdict}: {shown.proof.reason}"
    if not kept:
        return row, told
    lines = patched(["%%inplace_watch", *source.splitlines()], [hazard.diff for hazard in kept])[1:]
    state = left_by("\n".join(lines))
    if state is None:
        mark = "vain"
    else:
        mark = "cured" if any(is_right(state, right) for right in rights(case, source)) else "wrong"
    row[mark] += 1
    return row, f"{mark.upper()} {told}\n" + "\n".join(hazard.diff for hazard in kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, nargs="*", default=[score.packed.HELD_OUT])
    parser.add_argument("--only", nargs="*", default=[], help="parts of program names")
    parser.add_argument("-v", action="store_true", help="what is said of each program")
    options = parser.parse_args()
    torch.set_num_threads(1)
    shell = a_shell()
    rows: dict[str, Counter[str]] = {}
    begin = time.perf_counter()
    for folder in options.programs:
        for case in score.cases_in(folder):
            if options.only and not any(word in case["case"] for word in options.only):
                continue
            source = score.source_of(folder, case["case"])
            row, told = counted(case, source, shell)
            rows.setdefault(case["symptom"], Counter()).update(row)
            if options.v:
                print(f"## {case['case']}: {told}", flush=True)
    rows["all"] = sum(rows.values(), Counter())
    named = {SYMPTOMS.get(symptom, symptom): row for symptom, row in rows.items()}
    print(tables.counts("kind", (*COLUMNS, *TRUTH), named))
    print(f"\n{time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
