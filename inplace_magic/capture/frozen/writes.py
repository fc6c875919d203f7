"""Raw records of writes that no call made -> frozen ones, each with its line where only one can have made it; and the
sentences and names that a trace of any framework has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from inplace_magic.capture.beside import Beside
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.record.blindness import EDITED, PROCESSES, THREADS
from inplace_magic.record.events import ForeignWrite, UnseenWrite
from inplace_magic.record.names import LocalName, TensorName
from inplace_magic.record.places import Callsite
from inplace_magic.source.places import Sources

if TYPE_CHECKING:
    from inplace_magic.capture.log import RawForeignWrite


def site_at(number: int | None, sites: Sequence[Callsite]) -> Callsite | None:
    """Return the place of that number; None where none was noted."""
    return None if number is None else sites[number]


def frozen_foreign(
    raws: Iterable[RawForeignWrite],
    sites: list[Callsite],
    sources: Sources,
    arrays: Mapping[int, tuple[str, ...]],
    giving: set[int | None],
) -> tuple[ForeignWrite, ...]:
    """Return the writes from outside torch, each with its line where only one can have made it.

    Args:
        sites: all places, by number.
        arrays: names by which the namespace reaches the arrays, by storage.
    """
    return tuple(_foreign(raw, sites, sources, arrays.get(raw.storage.serial, ()), giving) for raw in raws)


def _foreign(
    raw: RawForeignWrite, sites: list[Callsite], sources: Sources, names: tuple[str, ...], giving: set[int | None]
) -> ForeignWrite:
    """Return the write with the only statement that can have made it, where there is just one.

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


Moved = tuple[int | None, int | None, int, int | None, int | None, bool]
"""Of a version that moved between two looks: before, after, how many calls had begun, the places of the looks, and
whether another thread of the user's ran meanwhile."""


def frozen_unseen(
    moved: Moved, counter: int, sites: list[Callsite], sources: Sources, names: tuple[str, ...]
) -> UnseenWrite:
    """Return the write with the only statement that can have made it, where there is just one."""
    before, after, noticed, after_site, before_site, beside = moved
    first, last = site_at(after_site, sites), site_at(before_site, sites)
    statement = None
    if first is not None:
        statement = sources.between.only_statement(first, last, names, sites, alone=not beside)
    return UnseenWrite(counter, before, after, noticed, statement, beside)


def names_by_tensor(names: Iterable[TensorName]) -> dict[int, tuple[str, ...]]:
    """Return the names of each tensor."""
    found: dict[int, tuple[str, ...]] = {}
    for entry in names:
        found[entry.tensor] = (*found.get(entry.tensor, ()), entry.name)
    return found


def local_names(passing: PassingNames, sources: Sources) -> Iterator[LocalName]:
    """Yield the names that the functions of the user's had for tensors."""
    for code, names in passing.seen.values():
        place = sources.locate(code, 0, None)
        for name, serial in names.items():
            yield LocalName(serial, name, place.function, place.cell, place.file)


def not_followed(beside: Beside, sources: Sources) -> Iterator[str]:
    """Sentences on threads and processes of the user's, and on files that were edited since they ran."""
    if beside.threads:
        yield THREADS.format(count=beside.threads)
    if beside.processes:
        yield PROCESSES.format(count=beside.processes)
    for filename in sources.edited:
        yield EDITED.format(file=os.path.basename(filename.replace("\\", "/")))
