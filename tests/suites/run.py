"""Other people's suites, unwatched and watched: ``python tests/suites/run.py einops --modes plain calls ops``.

Runs each suite once for each mode and prints what differs, test by test, and a table. Logs are kept in the folder
``--out``; a run that was broken off goes on where it stopped, and ``--compare-only`` reads what is there.

    python tests/suites/run.py --list
    python tests/suites/run.py einops opt_einsum
    python tests/suites/run.py --checkouts ~/src gpytorch kornia --part 5
    python tests/suites/run.py mine --at ~/src/mine --tests tests
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from suites import driver, records
from suites.catalogue import SUITES, Suite
from suites.compare import HEAD, Comparison, comparable, compare, details, row
from suites.confirm import confirm
from suites.driver import Job
from suites.records import MODES, Mode


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", help="names from --list; without one, all that are to be had")
    parser.add_argument("--list", action="store_true", help="the suites that are known, and how to get each")
    parser.add_argument("--checkouts", type=Path, help="the folder in which checkouts lie, each under its name")
    parser.add_argument("--at", type=Path, help="where a suite lies that is not known; its name is up to you")
    parser.add_argument("--tests", nargs="+", default=[], help="its tests, or some tests of a known one")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["plain", "calls", "ops"])
    parser.add_argument("--out", type=Path, default=Path("build/suites"), help="where the logs are kept")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="one test in N")
    parser.add_argument("--report-every", type=int, default=1, metavar="N", help="the report of one test in N")
    parser.add_argument("--limit", type=float, default=60, help="seconds that one test may take")
    parser.add_argument("--slowest", type=float, default=5, help="tests whose plain body takes longer stay unwatched")
    parser.add_argument("--budget", type=float, help="seconds for each suite and mode")
    parser.add_argument("--confirm", action="store_true", help="run tests that differ again, alone, to see who does it")
    parser.add_argument("--fresh", action="store_true", help="forget the logs that are there")
    parser.add_argument("--compare-only", action="store_true", help="run nothing, read the logs")
    return parser


def main(given: list[str] | None = None) -> int:
    options = arguments().parse_args(given)
    if options.list:
        for suite in SUITES.values():
            print(f"{suite.name:20} {suite.source}")
        return 0
    comparisons = []
    for suite, root in _suites(options):
        if not options.compare_only:
            for mode in options.modes:
                _run(options, suite, root, mode)
        for mode in ("calls", "ops"):
            found = _compare(options, suite, mode)
            if found.compared and mode in options.modes:
                comparisons.append(found)
                print(details(found))
                if options.confirm:
                    _confirm(options, suite, root, found)
    print(f"\n{HEAD}")
    for comparison in comparisons:
        print(row(comparison))
    return 1 if any(c.crashes or c.faults or c.differences for c in comparisons) else 0


def _suites(options: argparse.Namespace) -> list[tuple[Suite, Path]]:
    if options.at is not None:
        name = options.suites[0] if options.suites else options.at.name
        return [(Suite(name, tuple(options.tests)), options.at.resolve())]
    chosen = []
    for name in options.suites or SUITES:
        if name not in SUITES:
            sys.exit(f"No suite is called {name}. There are: {', '.join(SUITES)}; or give its place by --at.")
        suite = SUITES[name]
        root = suite.root(options.checkouts)
        if root is None:
            print(f"{name} is left out: {suite.source}.", file=sys.stderr)
            continue
        chosen.append((replace(suite, tests=tuple(options.tests) or suite.tests), root.resolve()))
    return chosen


def _job(options: argparse.Namespace, suite: Suite, root: Path, mode: Mode) -> Job:
    return Job(
        mode=mode,
        root=root,
        tests=suite.tests,
        log=_log(options, suite, mode),
        # An installed package is on the path already, and its own folder on it would let its modules shadow others.
        paths=() if suite.package is not None else suite.paths,
        directory=suite.directory,
        arguments=suite.arguments,
        environment=dict(suite.environment),
        only=None if mode == "plain" else _worth_watching(options, suite),
        part=options.part,
        report_every=options.report_every,
        limit=options.limit,
        budget=options.budget,
    )


def _run(options: argparse.Namespace, suite: Suite, root: Path, mode: Mode) -> None:
    job = _job(options, suite, root, mode)
    if options.fresh:
        job.log.unlink(missing_ok=True)
    print(f"{suite.name}, {mode} …", file=sys.stderr, flush=True)
    ran = driver.run(job)
    done, _ = records.read(job.log)
    state = "done" if ran.whole else "broken off"
    print(f"{suite.name}, {mode}: {len(done)} tests, {state}. {ran.problem}", file=sys.stderr, flush=True)


def _worth_watching(options: argparse.Namespace, suite: Suite) -> frozenset[str] | None:
    plain, _ = records.read(_log(options, suite, "plain"))
    return frozenset(
        name for name, result in plain.items() if comparable(result) and result.cpu_seconds <= options.slowest
    )


def _compare(options: argparse.Namespace, suite: Suite, mode: Mode) -> Comparison:
    plain, watched = (records.read(_log(options, suite, each))[0] for each in ("plain", mode))
    return compare(suite.name, mode, plain, watched)


def _confirm(options: argparse.Namespace, suite: Suite, root: Path, comparison: Comparison) -> None:
    job = _job(options, suite, root, comparison.mode)
    print("\n### Run again, alone")
    for difference in (*comparison.crashes, *comparison.too_long, *comparison.differences):
        print(f"* {difference.test}: {confirm(job, difference)}", flush=True)


def _log(options: argparse.Namespace, suite: Suite, mode: str) -> Path:
    path: Path = options.out.resolve() / f"{suite.name}.{mode}.jsonl"
    return path


if __name__ == "__main__":
    sys.exit(main())
