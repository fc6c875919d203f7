"""What a rule is: what it searches for, what a reader is told of that, and how it is cured.

Adding one is a search, a row and a page. The search yields what it found as often as it meets it, as calls and words;
the row names the calls in its sentences: ``{write}`` is a line with its place, ``{write_code}`` its code alone.

The ways to a diff are tried in their order, and the first that is certain, and holds on paper, wins. Certain means:
told from the syntax of the user's lines and from the trace, and the patched program means what the program meant
before, save for the overwritten values. Where no way is certain there is no diff, and a sentence must do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, Severity
from inplace_magic.hazards.fixes.binding import leaves_a_write
from inplace_magic.hazards.fixes.target import Fix, Written, written
from inplace_magic.language import N_, _
from inplace_magic.record.autograd import IdleStep, Registration
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite

Way = Callable[[Written], Fix | None]
"""A change of the user's lines; None where it is not certain that it cures."""
Advice = Callable[[Story, Hazard], str]
"""A sentence on what to do; empty where it has none."""


@dataclass(frozen=True, kw_only=True)
class Cures:
    """How the findings of one code are cured."""

    ways: tuple[Way, ...] = ()
    """In the order in which they are tried; the first that is certain wins."""
    advice: tuple[Advice, ...] = ()
    """Asked in this order where no way is certain, before the finding's own sentence is taken."""
    another_name_sees_it: bool = False
    """The finding is that another name sees the write, and so shall not be bound to the new tensor as well."""

    def applied(self, story: Story, hazard: Hazard) -> Hazard:
        """Return the finding with its diff and the price of it; with advice where no fix can be derived."""
        write = written(story, hazard, another_name_sees_it=self.another_name_sees_it) if self.ways else None
        fixes = (way(write) for way in self.ways) if write is not None else iter(())
        for fix in fixes:
            if write is not None and fix is not None and not leaves_a_write(write, fix):
                return fix.offered(hazard, hazard.fix)
        said = next((text for advice in self.advice if (text := advice(story, hazard))), hazard.fix)
        return replace(hazard, fix=said)


@dataclass(frozen=True)
class Rule:
    """One rule."""

    name: str
    """The heading of its page: the code of its findings, or a word for several codes."""
    severity: Severity
    """Of most of its findings, for its page."""
    check: Callable[[Story], Iterable[Hazard]]
    """Yields what it finds, as often as it meets it; what is shown of that, `shown` alone decides."""
    cures: Mapping[str, Cures]
    """By each code of its findings."""
    gives_way: bool = False
    """Low priority: `shown` drops its findings where another rule blames the same line or run of a function."""
    every_call: bool = False
    """True if it rests on something not having happened. Where calls were forgotten it may have, or within a replay of
    a CUDA graph, so it is silent."""


@dataclass(frozen=True, slots=True)
class At:
    """A call, named by the line of a caller instead of its own."""

    call: CallEvent
    callsite: Callsite | None


Event = CallEvent | Write | At | IdleStep | Registration | Callsite
"""What a sentence names by its line."""


@dataclass(frozen=True)
class Found:
    """One match of a search."""

    calls: Mapping[str, Event | None]
    """By what the sentence calls them: ``{"step": …, "backward": …}``."""
    tensor: int | None = None
    """The written tensor, where a call wrote one."""
    variable: str | None = None
    """Its name; None for that of the leaf's gradient, else for what the blamed line calls it."""
    words: Mapping[str, object] = field(default_factory=dict)
    """Further words of the sentence."""
    leaf: int | None = None
    """Whose gradient it is, of a gradient."""
    message: str = ""
    """In English: another message than the row's."""
    fix: str = ""
    severity: Severity | None = None
    saved_by: str | None = None
    """The node that keeps it, of what was saved."""
    nbytes: int | None = None
    """Of a finding about memory."""


@dataclass(frozen=True)
class Calls:
    """Which of the found calls are what, by what the sentence calls them."""

    write: str = ""
    """The blamed one; if not said, the one called ``line``, else the first."""
    read: str = "read"
    """The one that used what the blamed one left."""
    origin: str = "origin"
    """The one that the tensor came from."""
    saved: str = "saved"
    """The one that saved it for backward."""
    also: str = ""
    """Another one that is part of the mistake."""


@dataclass(frozen=True)
class Row(Cures):
    """A mistake by what tells it, what is said of it and how it is cured."""

    code: str
    severity: Severity
    search: Callable[[Story], Iterable[Found]]
    calls: Calls = Calls()
    message: str = ""
    """In English: what happened, with the calls by their names; empty where the search says it."""
    fix: str = ""
    nameless: str = N_("a tensor")
    """What a tensor without a name is called."""
    badges: Badges = field(default_factory=Badges)
    """What stands beside the lines, in English."""
    gives_way: bool = False
    """See :class:`Rule`."""


def rules_of(*table: Row, every_call: bool = False) -> tuple[Rule, ...]:
    """Return one rule for each code of a table, whose rows rest on something not having happened if `every_call`."""
    return tuple(
        Rule(code, rows[0].severity, partial(findings, rows), {code: rows[0]}, rows[0].gives_way, every_call)
        for code, rows in grouped((row.code, row) for row in table).items()
    )


def findings(rows: Iterable[Row], story: Story) -> Iterator[Hazard]:
    """Yield one finding for each blamed line; a write that nobody saw may have none."""
    seen: set[Callsite | None] = set()
    for row in rows:
        for found in row.search(story):
            blamed = found.calls[_blamed(row, found)]
            site, unseen = _site(blamed), isinstance(blamed, Write) and blamed.call is None
            if (site is not None or unseen) and site not in seen:
                seen.add(site)
                yield _hazard(story, row, found)


def _blamed(row: Row, found: Found) -> str:
    return row.calls.write or ("line" if "line" in found.calls else next(iter(found.calls)))


def _hazard(story: Story, row: Row, found: Found) -> Hazard:
    of, blamed = row.calls, _blamed(row, found)
    write, read, origin, saved = (found.calls.get(name) for name in (blamed, of.read, of.origin, of.saved))
    leaf = story.bindings.name(found.leaf) if found.leaf is not None else None
    gradient = f"{leaf}.grad" if leaf else None
    variable = found.variable or gradient or _written_name(story, write, found.tensor)
    words: dict[str, object] = {name: wording.spot(_site(event)) for name, event in found.calls.items()}
    words |= {f"{name}_code": wording.line_of(_site(event)) for name, event in found.calls.items()}
    words["gradient"] = f"`{gradient}`" if gradient else _("the gradients")
    words["tensor"] = f"`{variable}`" if variable else _(row.nameless)
    words |= found.words
    parts = sorted((found.calls[name] for name in (blamed, of.also) if name), key=lambda part: _index(part) or 0)
    return Hazard(
        code=row.code,
        severity=found.severity or row.severity,
        message=_(found.message or row.message).format(**words),
        fix=_(found.fix or row.fix).format(**words),
        variable=variable,
        mutation=_site(write),
        mutations=tuple(site for part in parts if (site := _site(part)) is not None),
        saved=_site(saved),
        saved_by=found.saved_by,
        origin=_site(origin),
        read=_site(read),
        saved_call=_index(saved),
        read_call=_index(read),
        tensor=found.tensor,
        call=_index(write),
        nbytes=found.nbytes,
        badges=row.badges.translated(),
    )


def _written_name(story: Story, write: Event | None, tensor: int | None) -> str | None:
    call = write.call if isinstance(write, (Write, At)) else write
    return story.bindings.written_name(call, tensor) if isinstance(call, CallEvent) and tensor is not None else None


def _site(event: Event | None) -> Callsite | None:
    if isinstance(event, Write):
        return event.site
    return event if event is None or isinstance(event, Callsite) else event.callsite


def _index(event: Event | None) -> int | None:
    call = event.call if isinstance(event, (Write, At)) else event
    return call.index if isinstance(call, CallEvent) else None
