"""Lesson 8: views and version counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inplace_magic.language import _, ngettext
from inplace_magic.lessons.exercise import Exercise, Feedback
from inplace_magic.lessons.judging import not_a_program, right, wrong
from inplace_magic.lessons.repairs import broken
from inplace_magic.lessons.running import Attempt, attempt
from inplace_magic.lessons.telling import calls_that_write, facts_of, spot


def _versions(program: Callable[[], Any], answer: Mapping[str, Any]) -> Feedback:
    run = attempt(program)
    changed = not_a_program(run)
    if changed is not None:
        return changed
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


EXERCISES = (
    Exercise(
        key="8.1",
        judge=_versions,
        hints=(
            lambda: _("There are three counters in this program. Who shares which?"),
            lambda: _(
                "Views and `detach()` share the counter of their base. `.data` and `.clone()` get one of their own."
            ),
        ),
        solution='answer = {"x": 1, "row": 1, "flat": 1, "cut": 1, "data": 2, "copy": 0}',
        because=lambda: _(
            "`row.add_` moved the counter that `x`, `row`, `flat` and `cut` share. `data` lies on the same memory and "
            "counts for itself; `copy` lies elsewhere and was never written."
        ),
    ),
    Exercise(
        key="8.2",
        judge=broken("8.2"),
        hints=(
            lambda: _("The product saves `out[t - 1]`. Which write comes after that, and which counter does it move?"),
            lambda: _("Collect the rows in a list and make one tensor of them at the end: `torch.stack(rows)`."),
        ),
        solution=(
            "def smooth(x, decay):\n    rows = [x[0]]\n    for t in range(1, len(x)):\n"
            "        rows.append(decay * rows[-1] + (1 - decay) * x[t])\n    return torch.stack(rows)"
        ),
        because=lambda: _(
            "Each row is a tensor of its own with a counter of its own, so no later row moves the counter of a saved "
            "one. `out[t - 1].clone()` in the product would do as well."
        ),
    ),
)
