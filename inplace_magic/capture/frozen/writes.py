"""Raw records of writes that no call made -> frozen ones, each with its line where only one can have made it; and the
sentences and names that a trace of any framework has."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from inplace_magic.capture.beside import Beside
from inplace_magic.capture.naming.passing_names import PassingNames
from inplace_magic.record.blindness import EDITED, PROCESSES, THREADS
from inplace_magic.record.events import ForeignWrite, UnseenWrite
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import LocalName, TensorName
from inplace_magic.record.places import Callsite
from inplace_magic.source.places import Sources

RawForeignWrite = tuple[ForeignWrite, int | None, int | None]
"""A write, and the numbers of the places between which it was noticed."""
RawUnseenWrite = tuple[UnseenWrite, int, int | None, int | None]
"""As above, with the serial number of the tensor that showed it in between."""


def site_at(number: int | None, sites: Sequence[Callsite]) -> Callsite | None:
    """Return the place of that number; None where none was noted."""
    return None if number is None else sites[number]


def frozen_foreign(
    raws: Iterable[RawForeignWrite],
    sites: list[Callsite],
    sources: Sources,
    arrays: Mapping[int, tuple[str, ...]],
    giving: set[int | None],
) -> Iterator[ForeignWrite]:
    """Yield the writes from outside torch, each with the only statement that can have made it, where there is just one.

    Args:
        sites: all places, by number.
        arrays: names by which the namespace reaches the arrays, by storage.
        giving: numbers of the places that gave memory to other libraries.
    """
    for write, first, last in raws:
        names = arrays.get(write.storage, ())
        before, after = site_at(first, sites), site_at(last, sites)
        statement = None
        if before is not None:
            given_out = first in giving
            held = tuple(name for name in before.targets or () if name) if given_out else ()
            statement = sources.between.only_statement(before, after, (*names, *held), sites, alone=not write.beside)
            goes_on = any([before.same_run(place) for place in (after.chain if after else ())])
            if statement is None and given_out and not goes_on:
                statement = sources.between.only_write_below(before, held, sites)
        yield replace(write, names=names, callsite=statement)


def frozen_unseen(
    raws: Sequence[RawUnseenWrite], sites: list[Callsite], sources: Sources, names: Iterable[TensorName]
) -> Iterator[UnseenWrite]:
    """Yield the writes that moved a version, each with the only statement that can have made it, where there is just
    one."""
    by_tensor = grouped((entry.tensor, entry.name) for entry in (names if raws else ()))
    for write, tensor, after_site, before_site in raws:
        first, last = site_at(after_site, sites), site_at(before_site, sites)
        statement = None
        if first is not None:
            known = tuple(by_tensor.get(tensor, ()))
            statement = sources.between.only_statement(first, last, known, sites, alone=not write.beside)
        yield replace(write, callsite=statement)


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
