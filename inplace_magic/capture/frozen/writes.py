"""Raw records of writes that no call made -> frozen ones, each with its line where only one can have made it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from inplace_magic.capture.log import RawForeignWrite, RawUnseenWrite
from inplace_magic.record.events import ForeignWrite, UnseenWrite
from inplace_magic.record.places import Callsite
from inplace_magic.source.places import Sources


def site_at(number: int | None, sites: Sequence[Callsite]) -> Callsite | None:
    """The place of that number; None where none was noted."""
    return None if number is None else sites[number]


def frozen_foreign(
    raws: Iterable[RawForeignWrite],
    sites: list[Callsite],
    sources: Sources,
    arrays: Mapping[int, tuple[str, ...]],
    giving: set[int | None],
) -> tuple[ForeignWrite, ...]:
    """The writes from outside torch, each with its line where only one can have made it.

    Args:
        sites: all places, by number.
        arrays: names by which the namespace reaches the arrays, by storage.
    """
    return tuple(_foreign(raw, sites, sources, arrays.get(raw.storage.serial, ()), giving) for raw in raws)


def _foreign(
    raw: RawForeignWrite, sites: list[Callsite], sources: Sources, names: tuple[str, ...], giving: set[int | None]
) -> ForeignWrite:
    """The write with the only statement that can have made it, where there is just one.

    Args:
        sites: all places, by number.
    """
    before = site_at(raw.after_site, sites)
    after = site_at(raw.before_site, sites)
    statement = None
    if before is not None:
        given_out = raw.after_site in giving
        held = tuple(name for name in before.targets or () if name) if given_out else ()
        statement = sources.between.only_statement(before, after, (*names, *held), sites, alone=not raw.beside)
        goes_on = any([before.same_run(place) for place in (after.chain if after else ())])
        if statement is None and given_out and not goes_on:
            statement = sources.between.only_write_below(before, held, sites)
    return ForeignWrite(raw.storage.serial, raw.noticed, names, statement, raw.beside)


def frozen_unseen(raw: RawUnseenWrite, sites: list[Callsite], sources: Sources, names: tuple[str, ...]) -> UnseenWrite:
    """The write with the only statement that can have made it, where there is just one."""
    first = site_at(raw.after_site, sites)
    last = site_at(raw.before_site, sites)
    statement = None
    if first is not None:
        statement = sources.between.only_statement(first, last, names, sites, alone=not raw.beside)
    return UnseenWrite(raw.record.counter.serial, raw.before, raw.after, raw.noticed, statement, raw.beside)
