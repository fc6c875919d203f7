"""The whole differential run: ``python tests/no_harm/run.py --level calls``.

Prints, for every list of programs, how many are the same watched as plain, on how many the kind of the call agrees,
and every exception by name. ``--mode empty-function`` and ``--mode empty-dispatch`` give the yardstick: what a mode
that does nothing changes.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from no_harm.differential import MODES, Comparison, Mode, compare, run
from no_harm.exclusions import CHANGED_BY_ANY_DISPATCH_MODE
from no_harm.lists import LISTS


@dataclass
class Tally:
    """The results of one list under one mode."""

    title: str
    mode: Mode
    done: list[Comparison] = field(default_factory=list)
    unmade: list[str] = field(default_factory=list)
    """Operators whose samples the database itself could not make here."""
    seconds: float = 0.0

    @property
    def known(self) -> list[Comparison]:
        """Programs that differ, and that any dispatch mode changes in the same way."""
        names = tuple(CHANGED_BY_ANY_DISPATCH_MODE) if self.mode in ("ops", "empty-dispatch") else ()
        return [c for c in self.done if c.differences and not c.faults and c.program.startswith(names)]

    @property
    def changed(self) -> list[Comparison]:
        """All others that differ, or during which a fault of ours was contained."""
        return [c for c in self.done if (c.differences or c.faults) and c not in self.known]

    @property
    def wrong_kinds(self) -> list[Comparison]:
        return [c for c in self.done if c.kind == "disagreed"]

    def summary(self) -> str:
        """``op_db, calls: same 4296 of 4296; kinds agreed 4100 of 4100``."""
        total = len(self.done)
        judged = sum(c.kind != "not judged" for c in self.done)
        agreed = sum(c.kind == "agreed" for c in self.done)
        raised = sum(c.error is not None for c in self.done)
        parts = [f"{self.title}, {self.mode}: same {total - len(self.changed) - len(self.known)} of {total}"]
        if self.known:
            parts.append(f"{len(self.known)} changed as by any dispatch mode")
        if judged:
            parts.append(f"kinds agreed {agreed} of {judged}")
        births = sum(bool(c.births) for c in self.done)
        if births:
            parts.append(f"{births} give new tensors another version at birth, or a view's node its other name")
        parts.append(f"{raised} raise, {sum(bool(c.unsteady) for c in self.done)} unsteady, {self.seconds:.0f} s")
        return "; ".join(parts)

    def exceptions(self) -> list[str]:
        """One line for every difference, fault and wrong kind."""
        lines = []
        for c in (*self.known, *self.changed):
            lines += [f"  {c.program}: {line}" for line in (*c.differences[:4], *c.faults)]
            lines += [f"  {c.program}: … and {len(c.differences) - 4} more"] if len(c.differences) > 4 else []
        lines += [f"  {c.program}: {c.kind_note}" for c in self.wrong_kinds]
        lines += [f"  {c.program}: two plain runs differ at {c.unsteady[0]}" for c in self.done if c.unsteady]
        return lines + [f"  no samples: {entry}" for entry in self.unmade]


def tallies(
    title: str, modes: Sequence[Mode], limit: int, wanted: Callable[[str], bool] = lambda _: True
) -> list[Tally]:
    """Compares the programs of one list, each run once plainly and once under each mode.

    Args:
        title: a key of :data:`LISTS`.
        modes: what to compare a plain run with.
        limit: programs per operator.
        wanted: which operators, by name.
    """
    results = [Tally(title, mode) for mode in modes]
    for name, programs in LISTS[title](limit):
        if not wanted(name):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = list(programs)
        except Exception as error:  # the database's own sample makers may need what is not installed; said by name
            for result in results:
                result.unmade.append(f"{name} ({type(error).__name__}: {str(error)[:120]})")
            continue
        for program in made:
            plain = run(program, "plain")
            for result in results:
                began = time.perf_counter()
                result.done.append(compare(program, result.mode, plain))
                result.seconds += time.perf_counter() - began
    return results


def main(arguments: list[str] | None = None) -> int:
    """Runs the lists that the command line asks for; 1 when a watched program differs from the plain one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--level", "--mode", dest="modes", action="append", choices=MODES, help="default: calls and ops"
    )
    parser.add_argument("--list", dest="titles", action="append", choices=LISTS, help="default: all")
    parser.add_argument("--limit", type=int, default=8, help="programs per operator (default 8)")
    parser.add_argument("--only", help="operators whose name contains this")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    failed = False
    for title in options.titles or LISTS:
        modes = options.modes or ["calls", "ops"]
        for result in tallies(title, modes, options.limit, lambda name: options.only is None or options.only in name):
            print(result.summary(), flush=True)
            for line in result.exceptions():
                print(line, flush=True)
            failed = failed or bool(result.changed or result.wrong_kinds)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
