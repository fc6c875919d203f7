"""Print the texts of all ranks once: "ranks 0–7" for equal texts, separate ones otherwise.

A finished rank posts its text and waits a moment for the others. The rank that finds all texts prints everything. If
some are missing, because they died, hang or still work, the first rank of each group of equal ones prints its text; a
later equal one prints one line.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from inplace_magic.language import _
from inplace_magic.ranks.boards import Folder, Store, board_of
from inplace_magic.ranks.rank import Rank, ranks_named
from inplace_magic.ranks.stopped import Stopped
from inplace_magic.record.places import Callsite
from inplace_magic.render.deliver import MARK, complain, say, telling
from inplace_magic.render.verdict import is_unexplained, verdict
from inplace_magic.report import Report

PATIENCE = 3.0
"""Seconds that a rank waits for the others. One that failed keeps its connections meanwhile, and others may hang on
them, so they are few."""
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Said:
    """What one rank posts."""

    key: str
    """The same for ranks that say the same: the findings with their lines, else the verdict."""
    text: str
    serious: bool


def said_by(report: Report) -> Said:
    """Return a rank's text about its report."""
    serious = [hazard for hazard in report.hazards if hazard.is_alarm]
    facts: list[Any] = [
        (hazard.code, _place(hazard.mutation), _place(hazard.saved), hazard.variable) for hazard in serious
    ] or [verdict(report)]
    key = hashlib.sha256(json.dumps([*facts, report.faults]).encode()).hexdigest()[:16]
    return Said(key, telling(report), bool(serious) or is_unexplained(report) or bool(report.faults))


def _place(site: Callsite | None) -> tuple[str | None, int | None, int | None] | None:
    return None if site is None else (site.file, site.cell, site.line)


def begin_together(rank: Rank) -> None:
    """Takes back what an earlier run of the same parent may have left; nothing is posted yet. Never raises."""
    if rank.store is None:
        with suppress(OSError):
            Folder(rank).begin(rank.number)


def tell_together(
    rank: Rank, report: Report, stopping: Stopped | None = None, *, quiet: bool = False, told: bool = False
) -> None:
    """Print the texts of this run's ranks on standard error, unless another rank does. Never raises.

    Args:
        stopping: once the signal came, do not wait for the others.
        quiet: print nothing if nothing went wrong.
        told: its text is in the notes of an error that the launcher shows, so no rank prints it.
    """
    try:
        board = board_of(rank)
    except Exception:  # a boundary: without the others, a rank speaks for itself
        _say(said_by(report), [rank.number], quiet=quiet)
        return
    try:
        own = said_by(report)
        board.post(rank.number, json.dumps(asdict(own)))
        if told:
            board.claim(own.key)
            return
        complete = _wait(board, rank, stopping)
        if complete and not board.claim("all"):
            return
        _tell(board, rank, own, complete=complete, quiet=quiet)
        if complete:
            board.clear()
    except Exception as error:  # a boundary, see above
        complain(_("the report could not be shown"), error)


def _wait(board: Folder | Store, rank: Rank, stopping: Stopped | None) -> bool:
    until = time.monotonic() + PATIENCE
    while not board.has(range(rank.size)):
        if time.monotonic() >= until or (stopping is not None and stopping.heard):
            return False
        time.sleep(_PAUSE)
    return True


def _tell(board: Folder | Store, rank: Rank, own: Said, *, complete: bool, quiet: bool) -> None:
    groups: dict[str, tuple[Said, list[int]]] = {}
    missing = []
    for number in range(rank.size):
        posted = own if number == rank.number else _read(board.read(number))
        if posted is None:
            missing.append(number)
        else:
            groups.setdefault(posted.key, (posted, []))[1].append(number)
    spoke = False
    for key, (posted, numbers) in sorted(groups.items(), key=lambda group: (not group[1][0].serious, group[1][1])):
        if not complete and not posted.serious:
            continue  # that nothing is wrong is said when all are there
        if board.claim(key):
            spoke |= _say(posted, [number for number in numbers if board.claim(str(number))], quiet=quiet)
        elif rank.number in numbers and board.claim(str(rank.number)):
            say(MARK + _("{ranks}: the same as above.").format(ranks=ranks_named([rank.number])))
    if missing and spoke:
        say(MARK + _("{ranks}: not heard of until now.").format(ranks=ranks_named(missing)))


def _read(text: str | None) -> Said | None:
    try:
        return None if text is None else Said(**json.loads(text))
    except (TypeError, ValueError):
        return None


def _say(posted: Said, numbers: list[int], *, quiet: bool) -> bool:
    if quiet and not posted.serious:
        return False
    begin = MARK + _("{ranks}:").format(ranks=ranks_named(numbers))
    say(f"{begin} {posted.text.removeprefix(MARK)}" if posted.text.startswith(MARK) else f"\n{begin}{posted.text}")
    return True
