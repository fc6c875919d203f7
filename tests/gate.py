"""The gate that a change of a rule passes: what the rules say of the recorded traces of all labelled programs.

    python tests/gate.py [SET ...] [-v] [--accept]

Prints, for each set, failures named, healthy programs that are quiet, raising programs told as their label says, and
how many are told otherwise than ``tests/traces/golden.jsonl`` has it (``-v`` prints those); then the programs that each
code names, and the lines of each room of ``hazards/``, before and now. ``--accept`` writes the golden file anew.
A minute on two cores; ten more with ``--long``. Exits with 1 where a healthy program is told of a mistake, or a raising
one of another line than before.

A line of the golden file is one program: ``[name, right, findings]``, a finding being its code, severity, the line that
wrote, the line that saved, and the variable, as a watched cell has them. Programs too long for a stored trace
(``stored.LONGEST``) have a line as well: ``--long`` runs them, as ``tests/test_rounds.py`` does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent)]

from programs import packed, score  # noqa: E402  # found by the two lines above, when this is run and not imported
from stored import TRACES, name_of, stored_in  # noqa: E402

from inplace_magic.record.garbage import collection_paused  # noqa: E402
from inplace_magic.report import Report  # noqa: E402

GOLDEN = TRACES / "golden.jsonl"
ROOMS = "inplace_magic/hazards"
KINDS = {"silent_wrong": "named", "harmless": "quiet"}


@dataclass(frozen=True)
class Row:
    """What is said of one program."""

    name: str
    kind: str
    """``named``, ``quiet`` or ``raising``: what its label wants of it."""
    right: bool
    """Whether it is told as its label says."""
    found: list[Any]
    codes: tuple[str, ...] = ()
    """Of the alarms at the labelled line."""

    @property
    def golden(self) -> list[Any]:
        """The program's line of the golden file."""
        return [self.name, self.right, self.found]


def row_of(case: dict[str, Any], source: str, report: Report) -> Row:
    """Return what a report says of a program with this label."""
    figures = dict(score.judge(case, source, report))
    kind = KINDS.get(case["symptom"], "raising")
    right = figures["culprit"] if kind == "named" else all(figures.values())
    found = [
        [each.code, each.severity, each.mutation and each.mutation.line, each.saved and each.saved.line, each.variable]
        for each in report.hazards
    ]
    wanted = {line + 1 for line in case["mutating_lines"]}
    codes = {each.code for each in report.hazards if each.is_alarm and each.mutation and each.mutation.line in wanted}
    return Row(case["case"], kind, right, found, tuple(sorted(codes)) if right else ())


def judged(programs: Path, *, long: bool = False) -> list[Row]:
    """Return a row for each stored program of a set; with ``long`` for the others as well, which are run."""
    cases = {case["case"]: case for case in packed.cases_in(programs)}
    with collection_paused():
        rows = [
            row_of(cases.pop(name), packed.source_of(programs, name), report) for name, report in stored_in(programs)
        ]
    return rows + [run(programs, case) for case in cases.values() if long]


def run(programs: Path, case: dict[str, Any]) -> Row:
    """Return the row of a program that is run for it."""
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    source = packed.source_of(programs, case["case"])
    _error, _wrong, report = score.watched(shell, source)
    assert report is not None
    return row_of(case, source, report)


@lru_cache
def golden() -> dict[str, list[Any]]:
    """Return the lines of the golden file by the name of the program."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else []
    return {row[0]: row for row in map(json.loads, lines)}


def accept(rows: list[list[Any]]) -> None:
    """Write these lines into the golden file; other programs keep theirs."""
    known = {**golden(), **{row[0]: row for row in rows}}
    lines = (json.dumps(known[name], ensure_ascii=False) + "\n" for name in sorted(known))
    GOLDEN.write_text("".join(lines), encoding="utf-8")


def complaints(row: Row) -> Iterator[str]:
    """Yield what no change may do."""
    before = golden().get(row.name)
    if row.kind == "quiet" and not row.right:
        yield f"{row.name}: a healthy program is told of a mistake: {row.found}"
    if row.kind == "raising" and not row.right and (before is None or before[1]):
        yield f"{row.name}: a raising program is told otherwise than its label says: {row.found}"


def lines_of_rooms(ref: str | None) -> Counter[str]:
    """Return the lines of each room of ``hazards/``: in the work tree, or in a commit."""
    if ref is None:
        files = {str(path.relative_to(HERE.parent)): path.read_text() for path in (HERE.parent / ROOMS).rglob("*.py")}
    else:
        listed = _git("ls-tree", "-r", "--name-only", ref, f"{ROOMS}/").splitlines()
        files = {name: _git("show", f"{ref}:{name}") for name in listed if name.endswith(".py")}
    rooms: Counter[str] = Counter()
    for name, text in files.items():
        inner = name.removeprefix(f"{ROOMS}/").split("/")
        rooms[inner[0] if len(inner) > 1 else "(own files)"] += text.count("\n")
    return rooms


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=HERE.parent, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> int:
    """Judge, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", help="first, further, held_out, round-07 …; all by default")
    parser.add_argument("-v", action="store_true", help="print each program that is told otherwise")
    parser.add_argument("--long", action="store_true", help="run the programs that have no stored trace, too")
    parser.add_argument("--accept", action="store_true", help="write the golden file anew")
    parser.add_argument("--since", default="HEAD", help="the commit whose lines of code are compared")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sets = [each for each in packed.SETS if not options.sets or name_of(each) in options.sets]
    total: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    rows, wrong = [], []
    with ProcessPoolExecutor(options.jobs) as pool:
        for programs, found in zip(sets, pool.map(partial(judged, long=options.long), sets), strict=True):
            counts: Counter[str] = Counter()
            for row in found:
                counts.update({row.kind: int(row.right), f"of {row.kind}": 1})
                codes.update(row.codes if row.kind == "named" else ())
                before = golden().get(row.name)
                if before != json.loads(json.dumps(row.golden)):
                    counts["changed"] += 1
                    if options.v:
                        print(f"  {row.name} ({row.kind})\n    before {before and before[2]}\n    now    {row.found}")
                wrong += complaints(row)
            rows += found
            total += counts
            print(_line(name_of(programs), counts), flush=True)
    print(_line("all", total))
    print("silent failures named, by code:", ", ".join(f"{code} {count}" for code, count in codes.most_common()))
    was, now = lines_of_rooms(options.since), lines_of_rooms(None)
    print("\n".join(f"{room:14}{was[room]:6} lines, now {now[room]:6}" for room in sorted({*was, *now})))
    print(f"{'hazards':14}{was.total():6} lines, now {now.total():6}")
    print("\n".join(wrong))
    if options.accept:
        accept([row.golden for row in rows])
    return 1 if wrong else 0


def _line(name: str, counts: Counter[str]) -> str:
    figures = (f"{kind} {counts[kind]}/{counts[f'of {kind}']}" for kind in ("named", "quiet", "raising"))
    return f"{name:10} {'  '.join(figures)}  changed {counts['changed']}"


if __name__ == "__main__":
    # By its own name: a worker in which a program ran has IPython's module in the place of this ``__main__``.
    from gate import main as judge

    sys.exit(judge())
