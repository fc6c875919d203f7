"""Suspects: writes that another holder of the memory sees, likeliest first, for when no rule has a finding.

A suspect is no alarm. ``x.mul_(2)`` in a helper and a later read of `x` by its caller may be a mistake or the design;
the program does not say which. The list shows where to look when numbers are wrong.

What speaks for a mistake: another name, in another function, reads the written elements; and the write builds on the
old values; and it is a function that writes. What speaks for a design: the memory began as a buffer that is there to be
filled, nobody wrote it before, a line writes it again and again as it does with a state, a constructor writes it, or it
is a trained leaf or a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.ledger import Ledger, Seen
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.language import _
from inplace_magic.record.grouped import grouped
from inplace_magic.record.places import Callsite

_OFTEN = 3
"""Writes of one memory by one line from which on it looks like a state that moves on."""
_FIRST = 2
"""Writes of one memory by one line that are looked at."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A write that another holder of the memory may not expect."""

    mutation: Callsite
    """The line that writes."""
    holder: str
    """The name by which another line reads the memory, ``kept[0]``; without such a read, the name of the writing
    line."""
    read: Callsite | None
    """The line that reads the memory by that other name; None if there is none."""
    written: str | None = None
    """The writing line's name for the memory, or None."""
    since: Callsite | None = None
    """The line since which both names share the memory; None if it ran before the watch."""

    def __str__(self) -> str:
        return self.told(attrgetter("place"))

    def told(self, place: Callable[[Callsite], str]) -> str:
        """Return one sentence with these places: who shares the memory, who writes it, who reads it."""
        write = place(self.mutation)
        if self.read is None:
            return _("{write} writes `{name}`.").format(write=write, name=self.holder)
        shared = _("`{other}` and `{name}` are one memory").format(other=self.holder, name=self.written or "?")
        if self.since is not None:
            shared = _("{shared} since {place}").format(shared=shared, place=place(self.since))
        return _("{shared}; {write} writes `{name}`; {read} reads `{other}`. If that is meant, fine.").format(
            shared=shared, write=write, name=self.written or "?", read=place(self.read), other=self.holder
        )


def suspects(story: Story) -> list[Suspect]:
    """Return the suspected writes of a trace, likeliest first, one for each writing line."""
    found: dict[Callsite, tuple[tuple[int, int], Suspect]] = {}
    for storage in dict.fromkeys((*story.writes_to_storage, *story.foreign_writes)):
        ledger = Ledger(story, storage)
        for site, writes in grouped((write.site, write) for write in ledger.writes).items():
            for write in writes[:_FIRST] if site is not None else ():
                seen = ledger.seen_by_another(write)
                rank = -_weight(ledger, write, seen, len(writes)), write.at
                if site is not None and (site not in found or rank < found[site][0]):
                    found[site] = rank, _suspect(ledger, site, write, seen)
    return [suspect for _rank, suspect in sorted(found.values(), key=lambda entry: entry[0])]


def _weight(ledger: Ledger, write: Write, seen: Seen | None, times: int) -> int:
    """Return the evidence for a mistake minus the evidence for a design."""
    story, site, mutation = ledger.story, write.site, write.mutation
    meta = story.observations.get(mutation.tensor) if mutation is not None else None
    maker = story.maker_of_storage(ledger.storage)
    learns = mutation is not None and ((meta is not None and meta.is_trainable) or story.is_gradient(mutation))
    builds = write.call is None or mutation is None or builds_on_itself(story, write.call, mutation)
    read = seen.read.callsite if seen is not None else None
    facts = (
        (2, seen is not None),
        (1, read is not None and not read.same_function(site)),
        (2, builds),
        (1, site is not None and site.direct),
        (2, site is not None and site.caller is not None),
        (-2, ledger.writes[0].at == write.at),
        (-3, maker is not None and maker.does("buffer")),
        (-1, times >= _OFTEN),
        (-2, site is not None and site.function.rpartition(".")[2] == "__init__"),
        (-3, learns),
    )
    return sum(weight for weight, holds in facts if holds)


def _suspect(ledger: Ledger, site: Callsite, write: Write, seen: Seen | None) -> Suspect:
    story, names = ledger.story, ledger.names(write)
    own = (write.mutation.tensor,) if write.mutation is not None else ()
    known = (story.bindings.name(tensor) for tensor in (*own, *story.bindings.by_storage.get(ledger.storage, ())))
    written = names[0].path if names else next((name for name in known if name is not None), None)
    if seen is None:
        return Suspect(site, written or f"S{ledger.storage}", None, written)
    taken = story.calls.get(seen.since)
    return Suspect(site, seen.holder.path, seen.read.callsite, written, taken.callsite if taken is not None else None)
