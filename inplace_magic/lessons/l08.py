"""Lesson 8: views and version counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inplace_magic.language import _, ngettext
from inplace_magic.lessons.exercise import Feedback
from inplace_magic.lessons.judging import right, run_of_program, wrong
from inplace_magic.lessons.running import Attempt
from inplace_magic.lessons.telling import calls_that_write, facts_of, spot


def versions(program: Callable[[], Any], answer: Mapping[str, Any]) -> Feedback:
    run = run_of_program(program)
    if not isinstance(answer, Mapping) or answer.keys() != run.result.keys():
        names = ", ".join(f"`{name}`" for name in run.result)
        return wrong(_("Give one number for each of {names}, as in the cell.").format(names=names))
    missed = [name for name, tensor in run.result.items() if answer[name] != tensor._version]
    if not missed:
        return right(_why(run, "row"), _why(run, "data")) if {"row", "data"} <= run.result.keys() else right()
    return wrong(*(_why(run, name) for name in missed), run=run)


def _why(run: Attempt, name: str) -> str:
    """The version of a variable, told by the writes that moved its counter."""
    tensor = run.result[name]
    facts = facts_of(run.report, tensor)
    counter = facts.counter if facts is not None else None
    writes = [c for c in calls_that_write(run.report) if any(m.counter == counter for m in c.mutations)]
    others = [other for other, held in run.result.items() if other != name and _counter(run, held) == counter]
    shared = ", ".join(f"`{other}`" for other in others)
    if not writes:
        return _("`{name}` is at version {version}: no write moved its counter.").format(
            name=name, version=tensor._version
        )
    told = {"name": name, "version": tensor._version, "count": len(writes), "write": spot(writes[0]), "names": shared}
    if not others:
        return ngettext(
            "`{name}` is at version {version}: {write} moved its counter, which it has to itself.",
            "`{name}` is at version {version}: {count} writes moved its counter, which it has to itself; the first is "
            "{write}.",
            len(writes),
        ).format(**told)
    return ngettext(
        "`{name}` is at version {version}: {write} moved its counter, which it shares with {names}.",
        "`{name}` is at version {version}: {count} writes moved its counter, which it shares with {names}; the first "
        "is {write}.",
        len(writes),
    ).format(**told)


def _counter(run: Attempt, tensor: object) -> int | None:
    facts = facts_of(run.report, tensor)
    return facts.counter if facts is not None else None
