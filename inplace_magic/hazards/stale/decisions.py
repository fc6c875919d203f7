"""The rows of the search: who holds a tensor, which writes of its memory count, and which read tells.

A row is three questions and a sentence; the search itself (`references/engine.py`) is one for all. Each row is narrow:
a second holder that sees a write is the design of as many programs as it is the mistake of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.clone import where_it_is_handed
from inplace_magic.hazards.fixes.of_origin import copied_where_taken, state_copied_where_taken
from inplace_magic.hazards.references.engine import Stale
from inplace_magic.hazards.references.objects.kept_weights import kept_weights_moved_on
from inplace_magic.hazards.rule import Rule, Way, row
from inplace_magic.hazards.stale import lookups, parts, taken_memory
from inplace_magic.language import _
from inplace_magic.record.places import Callsite


@dataclass(frozen=True)
class Decision:
    """A row."""

    code: str
    found: Callable[[Story], Iterable[Stale]]
    """The references that were written behind their holder's back and read after that."""
    message: Callable[[Stale], str]
    """With places for the lines that {read}, {write} and took it ({taken}), the {code} that took it, and its {name}."""
    fix: Callable[[Stale], str]
    ways: tuple[Way, ...] = ()
    badges: Callable[[], Badges] = Badges


def _kept(stale: Stale) -> str:
    return _(
        "{read} reads what {taken} had kept, but {write} had written it before: {code} is on the same memory, and no "
        "copy. PyTorch gives no error; the read sees the new values."
    )


def _copied(stale: Stale) -> str:
    state = stale.reference.place is not None and not stale.reference.place.direct
    return (
        _("Keep a copy: `copy.deepcopy(…)` around {code}.") if state else _("Keep a copy: append `.clone()` to {code}.")
    )


def _shortened(stale: Stale) -> str:
    return _(
        "{read} reads {name}, but {write} had shortened rows of it: a lookup with `max_norm` writes its table. PyTorch "
        "gives no error; the read sees the new values."
    )


def _trained(stale: Stale) -> str:
    return _(
        "{write} writes parameters that lie in the memory of {name}, so it writes {name}; {read} then takes that "
        "memory again, as if it still held the start. PyTorch gives no error."
    )


DECISIONS = (
    Decision(
        "taken-memory-trained",
        taken_memory.trained_and_taken_again,
        _trained,
        lambda stale: _("Give the parameters memory of their own: hand over a copy (`.clone()`)."),
    ),
    Decision(
        "kept-then-written",
        lambda story: (*parts.moved(story), *kept_weights_moved_on(story)),
        _kept,
        _copied,
        (state_copied_where_taken, copied_where_taken),
        lambda: Badges(origin=_("kept here")),
    ),
    Decision(
        "lookup-shortened",
        lookups.shortened,
        _shortened,
        lambda stale: _(
            "Look up in a copy (`table.clone()`), or shorten the table once, where everybody is to see it."
        ),
        (where_it_is_handed,),
        lambda: Badges(wrote=_("shortened here")),
    ),
)


def _check(decision: Decision, story: Story) -> Iterator[Hazard]:
    """Yields one finding for each writing line."""
    told: set[Callsite | None] = set()
    for stale in decision.found(story):
        if stale.write.site not in told:
            told.add(stale.write.site)
            yield _hazard(decision, story, stale)


def _hazard(decision: Decision, story: Story, stale: Stale) -> Hazard:
    reference, write = stale.reference, stale.write
    name = story.bindings.name(reference.tensor) or story.name_written_by(write)
    words = {
        "read": wording.spot(stale.read.callsite),
        "write": wording.spot(write.site),
        "taken": wording.spot(reference.place),
        "code": wording.code(reference.place.expression) if reference.place is not None else "",
        "name": f"`{name}`" if name else _("a tensor"),
    }
    return finding(
        decision.code,
        "warning",
        message=decision.message(stale).format_map(words),
        fix=decision.fix(stale).format_map(words),
        variable=story.name_written_by(write) or name,
        origin=reference.place,
        read=stale.read,
        tensor=reference.tensor,
        write=write,
        badges=decision.badges(),
    )


RULES: tuple[Rule, ...] = tuple(row(each.code, "silent", partial(_check, each), *each.ways) for each in DECISIONS)
