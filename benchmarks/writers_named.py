"""Of how many labelled programs whose backward raises level ``writes`` names the statement that wrote.

    python benchmarks/writers_named.py [-v]

Each program runs as a file inside ``with watch(level="writes")``. Counted are those whose error is the one of the plain
run, whose writing statement is the labelled one, whose node and versions are, where they have a label, and those of
which another statement is named, which must be none.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import torch
from ways import FOLDERS, programs, score


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", action="store_true", help="say what was not named")
    options = parser.parse_args()
    torch.set_num_threads(1)
    counts: Counter[str] = Counter()
    for folder in FOLDERS:
        for name, case, source in programs(folder, []):
            if case["symptom"] != "backward_error":
                continue
            plain = score.plainly(source)
            if plain[0] is None or "modified by an inplace operation" not in plain[0][1]:
                continue
            error, wrong, names = score.outcome_of_file(source, "writes")
            report = names["report"]
            figures = dict(score.judge(case, source, report, above=0))
            counts["programs"] += 1
            counts["same error"] += (score.said(error), wrong) == plain
            counts["writer"] += figures["culprit"]
            counts["another line named"] += not figures["culprit"] and any(h.mutation for h in report.hazards)
            for figure in ("saved_by", "versions"):
                counts[f"{figure}, labelled"] += figure in figures
                counts[figure] += figures.get(figure, False)
            if options.v and not figures["culprit"]:
                print(f"{name}: {[hazard.message for hazard in report.hazards]} {report.blindness}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    return 1 if counts["another line named"] else 0


if __name__ == "__main__":
    sys.exit(main())
