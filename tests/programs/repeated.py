"""Labelled programs as long loops: what a watch says of them that records calls in a row briefly, and in full.

    python tests/programs/repeated.py [--every 9] [--passes 2000] [--level calls] [-v]

Of a program with one guilty statement four variants run as cells: the statement runs in each pass of a loop of its
own; it runs as it was, after a loop that writes another tensor in each pass; it runs in one pass alone of such a loop,
when three quarters of it have gone by; and it runs as it was, after so many passes of a training step that is right.
Counted are the variants whose guilty statement is named by a full record, and by a brief one; the *lost* ones,
that the full record alone names; those of which anything else is told; and those that had calls without a row.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from programs import packed, score  # noqa: E402  # found by the line above, when this is run

BEGUN = ("import torch as _torch", "_other = _torch.zeros(3)")
STEP = (
    "_weight = _torch.ones(3, requires_grad=True)",
    "for _pass in range({passes}):",
    "    (_weight * _other).exp().sum().backward()",
    "    _weight.grad = None",
)


def variants(source: str, lines: list[int], passes: int) -> Iterator[tuple[str, str, int]]:
    """(which, text, line of the guilty statement) of each variant of a program."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt) and node.lineno in lines]
    plain = [node for node in found if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign))]
    text = source.splitlines()
    if len(plain) != 1 or len(found) != 1 or plain[0].lineno != plain[0].end_lineno:
        return
    at, column = plain[0].lineno - 1, plain[0].col_offset
    if text[at][:column].strip() or ";" in text[at] or text[0].startswith("from __future__"):
        return
    statement, room = text[at][column:], " " * column

    def replaced(*new: str) -> str:
        return "\n".join((*text[:at], *(room + line for line in new), *text[at + 1 :]))

    loop = f"for _pass in range({passes}):"
    yield "in each pass", replaced(loop, f"    {statement}"), at + 2
    yield "after a loop", "\n".join((*BEGUN, loop, "    _other.add_(1)", *text)), at + 5
    late = passes * 3 // 4
    inner = ("    _other.add_(1)", f"    if _pass == {late - 1}:", f"        {statement}")
    yield f"in pass {late:,} alone", replaced(*BEGUN, loop, *inner), at + 6
    good = [line.format(passes=late) for line in STEP]
    yield f"after {late:,} good backwards", "\n".join((*BEGUN, *good, *text)), at + len(BEGUN) + len(STEP) + 1


def told(shell: Any, source: str, line: int, options: str) -> tuple[bool, list[Any], int]:
    """Whether the guilty statement is named, all that is told, and how many calls have no row."""
    _error, _wrong, names = score.outcome(shell, f"%%inplace_watch --out report {options}\n{source}")
    report = names["report"]
    sites = [(each, each.mutation and each.mutation.line) for each in report.hazards]
    named = any(at == line + 1 and each.severity in score.ALARM for each, at in sites)
    all_told = [(each.code, each.severity, at, each.saved and each.saved.line, each.variable) for each, at in sites]
    return named, all_told, sum(call.passes - 1 for call in report.trace.calls)


def main() -> int:
    """Runs, and prints the table; fails where something is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=9, help="programs of which one is taken")
    parser.add_argument("--passes", type=int, default=2000)
    parser.add_argument("--level", choices=("calls", "ops"), default="calls")
    parser.add_argument("-v", action="store_true", help="show what differs")
    options = parser.parse_args()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    shell.Completer.use_jedi = False
    cases = [(folder, case) for folder in packed.SETS for case in score.cases_in(folder)]
    guilty = [(folder, case) for folder, case in cases if case["symptom"] != "harmless"]
    counts: dict[str, Counter[str]] = {}
    programs = 0
    for folder, case in guilty[:: options.every]:
        source = score.source_of(folder, case["case"])
        made = [*variants(source, case["mutating_lines"], options.passes)]
        programs += bool(made)
        for which, text, line in made:
            full, all_full, _ = told(shell, text, line, f"--level {options.level} --full")
            brief, all_brief, without = told(shell, text, line, f"--level {options.level}")
            count = counts.setdefault(which, Counter())
            count.update(variants=1, full=full, brief=brief, lost=full and not brief)
            count.update(differ=all_full != all_brief, without=without > 0)
            if options.v and all_full != all_brief:
                print(case["case"], which, all_full, all_brief, sep="\n    ", flush=True)
    columns = {"variants": "variants", "full": "named in full", "brief": "briefly", "lost": "lost"}
    columns |= {"differ": "told otherwise", "without": "with calls without a row"}
    print(f"{programs} programs, {options.passes} passes, level {options.level}\n")
    print(" | ".join(("", "variant", *columns.values(), "")).strip())
    for which, count in counts.items():
        print(" | ".join(("", which, *(str(count[key]) for key in columns), "")).strip())
    return int(any(count["lost"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
