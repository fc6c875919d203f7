"""Runs the drivers on their checkouts, plainly and watched, and says what changed against `findings.jsonl`.

    python tests/corpus/run.py --checkouts FOLDER [OWNER/NAME …] [--save results.jsonl]

FOLDER holds a work tree for each repository, `OWNER+NAME` at the commit that its driver names. This process imports
torch once; each run is a fork of it, which has a limit of time.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

import torch  # noqa: E402
from corpus import body, stand_ins  # noqa: E402
from corpus.body import Mode, Outcome  # noqa: E402

FACTS = HERE / "findings.jsonl"
LIMIT = 90
"""Seconds of CPU time that a run may take; of others a machine may have ten times as many to do."""
LONG_ENOUGH = 0.03
"""Seconds of a plain run from which on its ratio says something."""


@dataclass(frozen=True)
class Driver:
    """How one repository is run."""

    repository: str
    commit: str
    kind: str
    text: str
    second: Mode | None
    """The mode beside `calls`: a third each."""


@dataclass
class Result:
    """One repository, run."""

    repository: str
    commit: str
    kind: str
    problem: str = ""
    """Why it could not be run plainly."""
    modes: list[str] = field(default_factory=list)
    differences: dict[str, list[str]] = field(default_factory=dict)
    """Mode → what is not as in the plain run."""
    as_empty: list[str] = field(default_factory=list)
    """What differs at level `ops`, and just so under a dispatch mode that does nothing."""
    findings: list[dict[str, Any]] = field(default_factory=list)
    infos: list[str] = field(default_factory=list)
    ratio: dict[str, float] = field(default_factory=dict)
    report_seconds: float = 0.0
    calls: int = 0


def drivers() -> list[Driver]:
    """Return all drivers, in the order of their files."""
    found = []
    for file in sorted((HERE / "drivers").glob("*.md")):
        for repository, commit, text in re.findall(
            r"^## (\S+)\n`([\w.]+)`\n(?:[^\n`][^\n]*\n)*```python\n(.*?)^```",
            file.read_text(),
            re.MULTILINE | re.DOTALL,
        ):
            second: tuple[Mode | None, ...] = ("ops", "cells", None)
            found.append(Driver(repository, commit, file.stem, text, second[len(found) % 3]))
    return found


def place_of(driver: Driver, checkouts: Path) -> Path:
    """Return the work tree that a driver imports from; of an installed package, which has a version, its place."""
    name = driver.repository.partition("/")[0]
    if "." not in driver.commit:
        return checkouts / driver.repository.replace("/", "+")
    try:
        package = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return checkouts / name
    return Path(str(package.locate_file(""))) if package.version == driver.commit else checkouts / name


def try_in_fork(driver: Driver, mode: Mode, checkout: Path) -> Outcome:
    """Return the outcome of a run in a process of its own; one that dies or hangs has an error."""
    given, problem = in_fork(lambda place: asdict(body.run(driver.text, mode, checkout, place)), checkout)
    return Outcome(error=problem) if given is None else Outcome(**given)


def in_fork(work: Callable[[Path], Any], checkout: Path) -> tuple[Any, str]:
    """Return what `work` gives, plain data, in a process of its own with a folder of its own; and, if None, why."""
    with tempfile.TemporaryDirectory(prefix="corpus") as folder:
        place = Path(folder)
        process = os.fork()
        if process == 0:
            _child(work, checkout, place)
        deadline = time.monotonic() + 10 * LIMIT
        while (ended := os.waitpid(process, os.WNOHANG)) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                break
            time.sleep(0.01)
        if ended == (0, 0) or (os.WIFSIGNALED(ended[1]) and os.WTERMSIG(ended[1]) == signal.SIGXCPU):
            return None, f"longer than {LIMIT} s"
        if not (place / "given.json").exists():
            return None, f"ended with {ended[1]}: {(place / 'output').read_text(errors='replace')[-2500:]}"
        return json.loads((place / "given.json").read_text()), ""


def _child(work: Callable[[Path], Any], checkout: Path, place: Path) -> None:
    output = os.open(place / "output", os.O_WRONLY | os.O_CREAT)
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + LIMIT, used + LIMIT + 10))
    os.dup2(output, 1)
    os.dup2(output, 2)
    status = 1
    try:
        (place / "work").mkdir()
        os.chdir(place / "work")
        sys.path[:2] = [str(checkout)]
        sys.argv = ["driver.py"]
        (place / "given.json").write_text(json.dumps(work(place)))
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def judge(driver: Driver, checkout: Path) -> Result:
    """Return the comparison of the plain with the watched runs of one driver."""
    result = Result(driver.repository, driver.commit, driver.kind)
    plain, again = try_in_fork(driver, "plain", checkout), None
    if (plain.error and "inplace" not in plain.error) or len(plain.state) < 2:
        result.problem = plain.error or "it leaves nothing that can be compared"
        return result
    for mode in ("calls", driver.second) if driver.second else ("calls",):
        watched = try_in_fork(driver, mode, checkout)
        result.modes.append(mode)
        differing = {name for name, digest in plain.state.items() if watched.state.get(name) != digest}
        if differing:  # a name that differs between two plain runs says nothing
            again = again or try_in_fork(driver, "plain", checkout)
            differing = {name for name in differing if again.state.get(name) == plain.state[name]}
        if differing and mode == "ops":
            empty = try_in_fork(driver, "empty", checkout)
            result.as_empty = sorted(name for name in differing if _as(empty, plain, watched, name))
            differing -= set(result.as_empty)
        other = [str(watched.error)] if watched.error != plain.error else []
        other += [f"fault: {fault}" for fault in watched.faults]
        result.differences[mode] = [*other, *sorted(differing)]
        if plain.seconds >= LONG_ENOUGH:
            result.ratio[mode] = round(watched.seconds / plain.seconds, 2)
        if mode == "calls":
            result.report_seconds, result.calls, result.infos = watched.report_seconds, watched.calls, watched.infos
        _add(result.findings, watched.findings, mode)
    return result


def _as(empty: Outcome, plain: Outcome, watched: Outcome, name: str) -> bool:
    """Return whether the watched run is like the empty mode or nearer to the plain run: versions stand side by side."""
    if name != "versions":
        return empty.state.get(name) == watched.state.get(name)
    columns = [list(map(int, outcome.state[name].split())) for outcome in (empty, plain, watched)]
    return len(set(map(len, columns))) == 1 and all(
        min(e, p) <= w <= max(e, p) for e, p, w in zip(*columns, strict=True)
    )


def _add(known: list[dict[str, Any]], found: Iterable[dict[str, str]], mode: str) -> None:
    for finding in found:
        same = [other for other in known if (other["code"], other["line"]) == (finding["code"], finding["line"])]
        if same and mode not in same[0]["modes"]:
            same[0]["modes"].append(mode)
        elif not same:
            known.append({**finding, "modes": [mode]})


def facts() -> list[dict[str, Any]]:
    """Return the judged findings."""
    return [json.loads(line) for line in FACTS.read_text().splitlines()] if FACTS.exists() else []


def changes(results: list[Result]) -> list[str]:
    """Return what is new, gone or of another severity since the facts were written."""
    ran = {result.repository for result in results if not result.problem}
    known = {(fact["repository"], fact["code"], fact["place"]): fact for fact in facts() if fact["repository"] in ran}
    now = {(result.repository, each["code"], each["place"]): each for result in results for each in result.findings}
    lines = []
    for key, finding in now.items():
        fact = known.get(key)
        if fact is None:
            lines.append(f"+ {key[0]} {finding['severity']} {key[1]} {finding['place']}: {finding['message']}")
        elif fact["severity"] != finding["severity"]:
            lines.append(f"~ {key[0]} {key[1]} {finding['place']}: {fact['severity']} -> {finding['severity']}")
    lines += [
        f"- {key[0]} {fact['severity']} {key[1]} {fact['place']} ({fact['verdict']})"
        for key, fact in known.items()
        if key not in now
    ]
    return lines


def summary(results: list[Result]) -> str:
    """Return the figures of the documentation's page."""
    ran = [result for result in results if not result.problem]
    verdict = {(fact["repository"], fact["code"], fact["place"]): fact["verdict"] for fact in facts()}
    judged = [
        (each, result.repository, verdict.get((result.repository, each["code"], each["place"]), "unjudged"))
        for result in ran
        for each in result.findings
    ]
    told = [(each["code"], each["severity"], word) for each, _, word in judged]
    false = {repository for _, repository, word in judged if word == "false"}
    lines = [f"{len(ran)} repositories ran, {len(results) - len(ran)} did not; with a false alarm: {len(false)}"]
    for mode in ("calls", "ops", "cells"):
        those = [result for result in ran if mode in result.modes]
        ratios = [result.ratio[mode] for result in those if mode in result.ratio]
        middle = f"{statistics.median(ratios):.2f} ({len(ratios)} long enough)" if ratios else "–"
        same = sum(not result.differences[mode] for result in those)
        if mode == "ops" and (odd := sum(bool(result.as_empty) for result in those)):
            lines.append(f"ops: {odd} differ from the plain run as they do under an empty dispatch mode")
        lines.append(f"{mode}: {same} of {len(those)} the same bit for bit; median ratio of time {middle}")
    if ran:
        seconds = sorted(result.report_seconds for result in ran)
        lines.append(f"seconds to the report: median {statistics.median(seconds):.2f}, longest {seconds[-1]:.2f}")
    for (code, severity), count in sorted(Counter((code, severity) for code, severity, _ in told).items()):
        verdicts = Counter(word for each, heard, word in told if (each, heard) == (code, severity))
        lines.append(f"{code} ({severity}): {count}, " + ", ".join(f"{n} {word}" for word, n in verdicts.most_common()))
    return "\n".join(lines)


def wanted(named: Sequence[str], checkouts: Path) -> Iterator[tuple[Driver, Path]]:
    """Yield the drivers that are named, or all, and their work trees; this process is prepared to be forked."""
    torch.set_num_threads(1)
    sys.dont_write_bytecode = True
    stand_ins.on_cpu()
    for driver in drivers():
        if not any(part in driver.repository for part in named or [""]):
            continue
        checkout = place_of(driver, checkouts.resolve())
        if checkout.exists():
            yield driver, checkout
        else:
            print(f"{driver.repository}: no {checkout}; git clone it and check {driver.commit[:12]} out")


def main() -> int:
    """Run what the command line names; the exit status is 1 where a watched run was not the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("repositories", nargs="*", help="OWNER/NAME or a part of it; all")
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--save", type=Path, help="a file of results, one repository a line")
    given = parser.parse_args()
    results = []
    for driver, checkout in wanted(given.repositories, given.checkouts):
        result = judge(driver, checkout)
        results.append(result)
        print(told(result), flush=True)
        if given.save:
            with given.save.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")
    print("\nChanged against findings.jsonl:", *(changes(results) or ["nothing"]), "", summary(results), sep="\n")
    return int(any(any(result.differences.values()) for result in results))


def told(result: Result) -> str:
    """Return a line on one repository, and more where something is not as it should be."""
    if result.problem:
        return f"{result.repository}: did not run: {result.problem}"
    same = all(not differing for differing in result.differences.values())
    lines = [
        f"{result.repository}: {'same' if same else 'NOT THE SAME'}, {', '.join(result.modes)}; {result.calls} calls, "
        f"ratio {result.ratio}, report {result.report_seconds:.2f} s"
    ]
    lines += [f"  {mode}: {differing[:8]}" for mode, differing in result.differences.items() if differing]
    lines += [f"  {each['severity']} {each['code']} {each['place']}: {each['message']}" for each in result.findings]
    lines += [f"  ops, as an empty dispatch mode: {result.as_empty}"] if result.as_empty else []
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
