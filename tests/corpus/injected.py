"""Writes put into the code of public repositories, one at a time, and whether the package names the line.

    python tests/corpus/injected.py --checkouts FOLDER [OWNER/NAME …] [--each 2] [--seed 0] [--save variants.jsonl]

A plain run of a driver shows which tensors each line of the checkout holds. A statement that writes one of them in
place comes on a line of its own before such a line, in a copy of the file. A variant is kept if PyTorch refuses the
write in its plain run: then the true line is known. The same place is then written silently, by ``.data`` or NumPy.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from corpus import body, run  # noqa: E402
from corpus.body import Mode  # noqa: E402
from corpus.writes import SILENT, Variant, seen_by, text_of, variants, with_text  # noqa: E402

import inplace_magic  # noqa: E402
from inplace_magic.source.hunks import changed, hunks  # noqa: E402

REFUSED = re.compile(r"modified by an inplace operation|leaf Variable.*in-place|is being modified inplace")
MODES: tuple[Mode, ...] = ("calls", "cells", "plain", "plain cells")
CELLS = 1 / 5
"""How many variants run as cells, too."""
TRIES = 8
"""Plain runs that one repository may take."""


def asked(driver: run.Driver, mode: Mode, tree: Path, variant: Variant) -> dict[str, Any]:
    """Return what a run left, and what the package says of it."""

    def is_it(site: Any) -> bool:
        return (site.file, site.line) == (str(tree / variant.file), variant.line)

    def said(one: Any) -> dict[str, Any]:
        candidates = getattr(one, "candidates", ())
        return {
            "code": one.code,
            "word": "silent" if one.mutation is None else "named" if is_it(one.mutation) else "WRONG",
            "rank": next((rank for rank, site in enumerate(candidates, 1) if is_it(site)), 0),
            "message": one.message,
            "why": getattr(one, "proof", None) and one.proof.reason,
            "places": [f"{site.file}:{site.line}: {site.text}" for site in (one.mutation, one.saved) if site],
            "diff": getattr(one, "diff", ""),  # an answer has none
            "proof": one.proof.verdict if getattr(one, "proof", None) else "untried",
        }

    def work(place: Path) -> dict[str, Any]:
        told: dict[str, Any] = asdict(body.run(driver.text, mode, tree, place))
        answer = inplace_magic.answer() if mode.startswith("plain") else None
        report = _why(mode, told) if mode.startswith("plain") else inplace_magic.last_report()
        hazards = [each for each in report.hazards if each.severity in ("error", "silent")] if report else []
        told["alarms"] = [f"{each.severity} {each.message}" for each in hazards]
        hazards.sort(key=lambda each: not (each.mutation and is_it(each.mutation)))
        told["blindness"] = report and report.blindness
        return {**told, "finding": said(hazards[0]) if hazards else None, "answer": answer and said(answer)}

    given, problem = run.in_fork(work, tree)
    return dict(given) if given is not None else {**asdict(body.Outcome(error=problem)), "finding": None}


def _why(mode: Mode, told: dict[str, Any]) -> inplace_magic.Report | None:
    try:
        if mode == "plain":
            return inplace_magic.why()
        shell = sys.modules["IPython"].get_ipython()
        shell.run_line_magic("inplace_why", "--yes -o report_of_why")
        return shell.user_ns["report_of_why"]  # type: ignore[no-any-return]
    except Exception as refused:  # no report is an answer, too
        told["refused"] = f"{type(refused).__name__}: {refused}"
        return None


def fixed(driver: run.Driver, tree: Path, variant: Variant, diff: str) -> str:
    """Return how a plain run with a diff ends."""
    lines, changes = tuple(text_of(tree / variant.file).split("\n")), hunks(diff)
    for hunk in changes:
        if hunk.place != Path(variant.file).name or lines[hunk.first - 1 :][: len(hunk.old)] != hunk.old:
            return "elsewhere"
    with with_text(tree, variant.file, "\n".join(changed(lines, changes))) as mended:
        error = run.try_in_fork(driver, "plain", mended).error
    return "runs" if error is None else "refused again" if REFUSED.search(error) else error


def judge(driver: run.Driver, checkout: Path, chance: random.Random, each: int) -> Iterator[dict[str, Any]]:
    """Yield what is said of the variants of a repository, each with its silent twin."""
    seen, problem = seen_by(driver, checkout)
    if problem or not seen:
        print(f"{driver.repository}: {problem[-200:] or 'no function of it holds a tensor'}", flush=True)
        return
    functions: set[tuple[str, str]] = set()
    for tried, variant in enumerate(variants(seen, checkout, chance)):
        if len(functions) >= each or tried >= TRIES:
            return
        if (variant.file, variant.function) in functions:
            continue
        modes = [mode for mode in MODES if chance.random() < CELLS or not mode.endswith("cells")]
        loud = _judged(driver, checkout, variant, modes)
        if loud is not None:
            functions.add((variant.file, variant.function))
            yield loud
            if "modified by" in loud["error"]:
                modes = [mode for mode in modes if not mode.startswith("plain")]
                silent = _judged(driver, checkout, replace(variant, form=chance.choice(SILENT)), modes)
                yield from (silent,) if silent else ()


def _judged(driver: run.Driver, checkout: Path, variant: Variant, modes: Sequence[Mode]) -> dict[str, Any] | None:
    """Return what is said of a variant; None if it does not end as its kind should."""
    kind = "silent" if variant.form in SILENT else "loud"
    with with_text(checkout, variant.file, variant.of(checkout)) as tree:
        plain = run.try_in_fork(driver, "plain", tree)
        if (plain.error is not None) if kind == "silent" else not REFUSED.search(plain.error or ""):
            return None
        told = {mode: asked(driver, mode, tree, variant) for mode in modes}
        states = [one.pop("state") for one in told.values()]
        again = (
            plain.state if states.count(plain.state) == len(states) else run.try_in_fork(driver, "plain", tree).state
        )
        known = {name: digest for name, digest in plain.state.items() if again.get(name) == digest}
        said = [each for one in told.values() for each in (one["finding"], one.get("answer")) if each]
        ends = {diff: fixed(driver, tree, variant, diff) for diff in {each["diff"] for each in said} - {""}}
        for each in said:
            each["ends"] = ends.get(each["diff"], "")
        for one, state in zip(told.values(), states, strict=True):
            one["differs"] = [name for name, digest in known.items() if state.get(name) != digest]
    return {"repository": driver.repository, "kind": kind, **asdict(variant), "error": plain.error, "told": told}


def summary(results: Sequence[dict[str, Any]]) -> str:
    """Return the figures of the documentation's page."""
    lines: list[str] = []
    for kind in ("loud", "silent"):
        those = [result for result in results if result["kind"] == kind]
        lines.append(f"{kind}: {len(those)} variants of {len({each['repository'] for each in those})} repositories")
        for mode in MODES:
            told = [(each["error"], each["told"][mode]) for each in those if mode in each["told"]]
            same = sum(one["error"] == error and not one["differs"] for error, one in told)
            faults = sum(len(one["faults"]) for _, one in told)
            lines.append(f"  {mode}: the same bit for bit {same} of {len(told)}; faults {faults}")
            for key in ("finding", "answer") if mode.startswith("plain") else ("finding",):
                said = [one.get(key) for _, one in told]
                lines.append(f"    {key}: {_counts(each['word'] if each else 'nothing said' for each in said)}")
                if key == "answer":
                    lines.append(f"    its rank among the candidates: {_counts(each['rank'] for each in said if each)}")
                diffs = [each for each in said if each and each["diff"]]
                lines.append(f"    diffs: {_counts((each['proof'], each['ends'][:40]) for each in diffs)}")
    return "\n".join(lines)


def _counts(words: Iterable[Any]) -> str:
    return ", ".join(f"{word} {count}" for word, count in sorted(Counter(map(str, words)).items()))


def main() -> int:
    """Try what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("repositories", nargs="*", help="OWNER/NAME or a part of it; all")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--each", type=int, default=2, help="variants of one repository")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--save", type=Path, help="a file of results, one variant a line")
    given = parser.parse_args()
    results = []
    for driver, checkout in run.wanted(given.repositories, given.checkouts):
        chance = random.Random(f"{given.seed} {driver.repository}")
        for result in judge(driver, checkout, chance, given.each) if "." not in driver.commit else ():
            results.append(result)
            told = result["told"].items()
            words = [f"{m} {(one[k] or {}).get('word')}" for m, one in told for k in ("finding", "answer") if k in one]
            print(result["repository"], f"{result['file']}:{result['line']}", result["form"], *words, flush=True)
            if given.save:
                with given.save.open("a") as file:
                    file.write(json.dumps(result) + "\n")
    print("", summary(results), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
