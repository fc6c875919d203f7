"""A long fuzz run: ``python tests/no_harm/fuzz/run.py --programs 20000 --seed 1``.

Prints how many cells were run, how many agreed in every respect, and each that did not, cut down to the statements that
it takes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import torch
from no_harm.fuzz.judge import judge
from no_harm.fuzz.making import make_cell
from no_harm.fuzz.shrink import cut_down, numbered


def main(arguments: list[str] | None = None) -> int:
    """Runs the cells that the command line asks for; 1 when one disagrees."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", choices=("calls", "ops"), default="calls")
    parser.add_argument("--show", type=int, default=5, help="disagreeing cells to cut down and print (default 5)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    random = Random(options.seed)
    counted: Counter[str] = Counter()
    shown = 0
    began = time.perf_counter()
    for number in range(options.programs):
        cell = make_cell(Random(random.getrandbits(64)))
        verdict = judge(cell, options.level)
        counted["run"] += 1
        counted["agreed"] += not verdict.disagreements
        counted["raised"] += verdict.raised
        counted["version errors"] += verdict.version_error
        counted["mutations checked"] += verdict.linked
        counted["mutations of nameless tensors"] += verdict.unlinked
        if verdict.disagreements and shown < options.show:
            shown += 1
            cell = cut_down(cell, options.level)
            print(f"--- program {number} disagrees; cut down:\n{numbered(cell)}")
            print("\n".join(f"  {text}" for text in judge(cell, options.level).disagreements), flush=True)
    seconds = time.perf_counter() - began
    print(", ".join(f"{name} {count}" for name, count in counted.items()) + f"; level {options.level}, {seconds:.0f} s")
    return int(counted["agreed"] < counted["run"])


if __name__ == "__main__":
    raise SystemExit(main())
