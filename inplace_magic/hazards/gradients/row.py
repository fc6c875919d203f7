"""A row of the table of gradients: what is searched for, and what a reader is told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, Severity
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.autograd import IdleStep, Registration
from inplace_magic.record.events import CallEvent


@dataclass(frozen=True)
class Found:
    """One place where a bad sequence was found."""

    calls: Mapping[str, CallEvent | IdleStep | Registration]
    """By what the sentence calls them: ``{"step": …, "backward": …}``."""
    leaf: int | None = None
    """Whose gradient it is."""
    tensor: int | None = None
    """The written tensor, where a call wrote one."""
    variable: str | None = None
    """Its name; None for that of the leaf's gradient."""
    words: Mapping[str, str | int] = field(default_factory=dict)
    """Further words of the sentence."""


@dataclass(frozen=True)
class Row:
    """A bad sequence."""

    code: str
    severity: Severity
    search: Callable[[Story], Iterable[Found]]
    write: str
    """Which of the calls is blamed."""
    message: str
    """In English: what happened, with the calls by their names."""
    fix: str
    also: str = ""
    """Which other one is part of it."""
    read: str = ""
    """Which of the calls used what the blamed one left; empty for none."""
    origin: str = ""
    """Where it came from; empty for nowhere."""
    wrote: str = ""
    """What stands beside the blamed line."""
    reads: str = ""
    came: str = ""
    cures: Cures = field(default_factory=Cures)
    every_call: bool = True
    """True if it rests on something not having happened."""


def rules_of(table: tuple[Row, ...]) -> tuple[Rule, ...]:
    """Return one rule for each code of a table."""
    groups: dict[str, list[Row]] = {}
    for row in table:
        groups.setdefault(row.code, []).append(row)
    return tuple(
        Rule(partial(_check, rows), {code: rows[0].cures}, code=code, severity=rows[0].severity)
        for code, rows in groups.items()
    )


def _check(rows: list[Row], story: Story) -> Iterator[Hazard]:
    """Yield one finding for each blamed line."""
    seen = set()
    for row in rows:
        for found in row.search(story):
            site = found.calls[row.write].callsite
            if site is not None and site not in seen:
                seen.add(site)
                yield _hazard(story, row, found)


def _hazard(story: Story, row: Row, found: Found) -> Hazard:
    calls = found.calls
    leaf = story.bindings.name(found.leaf) if found.leaf is not None else None
    gradient = f"{leaf}.grad" if leaf else None
    words: dict[str, str | int] = {name: wording.spot(call.callsite) for name, call in calls.items()}
    words |= {"gradient": f"`{gradient}`" if gradient else _("the gradients"), **found.words}
    write, read, origin = calls[row.write], calls.get(row.read), calls.get(row.origin)
    parts = sorted((calls[name] for name in (row.write, row.also) if name), key=lambda call: _index(call) or 0)
    return Hazard(
        code=row.code,
        severity=row.severity,
        message=_(row.message).format(**words),
        fix=_(row.fix).format(**words),
        variable=found.variable or gradient,
        mutation=write.callsite,
        mutations=tuple(call.callsite for call in parts if call.callsite is not None),
        origin=origin.callsite if origin is not None else None,
        read=read.callsite if read is not None else None,
        read_call=_index(read),
        tensor=found.tensor,
        call=_index(write),
        badges=Badges(*(_(text) if text else "" for text in (row.wrote, row.reads, row.came))),
    )


def _index(call: CallEvent | IdleStep | Registration | None) -> int | None:
    return call.index if isinstance(call, CallEvent) else None
