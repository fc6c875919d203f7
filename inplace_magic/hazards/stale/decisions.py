"""The rows of the search: who holds a tensor, which writes of its memory count, and which read tells.

A row is three questions and a sentence; the search itself (`references/engine.py`) is one for all. Each row is narrow:
a second holder that sees a write is the design of as many programs as it is the mistake of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from operator import itemgetter

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges
from inplace_magic.hazards.fixes.clone import where_it_is_handed
from inplace_magic.hazards.fixes.of_origin import copied_where_taken, state_copied_where_taken
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale, is_there_to_be_written
from inplace_magic.hazards.references.names import taken_for_the_write
from inplace_magic.hazards.rule import Calls, Event, Found, Row, rules_of
from inplace_magic.hazards.stale import parts
from inplace_magic.language import N_, _
from inplace_magic.record.events import CallEvent


def trained_and_taken_again(story: Story) -> Iterator[Stale]:
    """Yields one for each line that trained such memory, with the first write that did not go by the older tensor."""
    ties = _ties(story)

    def given_again(source: Reference, write: Write) -> CallEvent | None:
        used = story.given_to.get(source.tensor, ())
        again = next((at for at in ties[source.storage or 0] if at > write.at), None)
        return story.calls[again] if again is not None and used and used[-1].index > write.at else None

    found = gone_stale(story, _sources(story, ties), lambda _source, write: write.site in story.stepping, given_again)
    return (replace(stale, write=_first_write(story, stale)) for stale in found)


def _first_write(story: Story, stale: Stale) -> Write:
    source = stale.reference.tensor
    for write in story.writes_between(stale.reference.storage, stale.reference.since, stale.write.at):
        call, mutation = write.call, write.mutation
        if write.site is None or call is None or mutation is None:
            continue
        if source not in (mutation.tensor, *taken_for_the_write(story, call, mutation)):
            return write
    return stale.write


def _sources(story: Story, ties: dict[int, list[int]]) -> Iterator[Reference]:
    """Yield the tensors on such memory that are no trained leaf and were met before the first of them."""
    for storage, times in ties.items():
        for tensor in story.bindings.by_storage.get(storage, ()):
            if story.first_seen(tensor) < times[0] and not story.observations[tensor].requires_grad:
                yield Reference(tensor, storage, times[0], story.bindings.made_at.get(tensor))


def _ties(story: Story) -> dict[int, list[int]]:
    """Return the calls at which a trained leaf was given a memory, or first met on it, by memory with more than one; in
    order."""
    takes = [call for call in story.doing("takes memory") if len(call.inputs) > 1]
    given = [(call.index, False, call.inputs[0].tensor, call.inputs[1].storage) for call in takes]
    given += [(at, True, meta.tensor, meta.storage) for at, metas in story.training.items() for meta in metas]
    found: dict[int, list[int]] = {}
    known: set[tuple[int, int]] = set()
    for at, is_met, leaf, storage in sorted(given, key=itemgetter(0, 1)):
        if storage is not None and not (is_met and (leaf, storage) in known):
            known.add((leaf, storage))
            found.setdefault(storage, []).append(at)
    return {storage: ties for storage, ties in found.items() if len(ties) > 1}


def shortened(story: Story) -> Iterator[Stale]:
    """Yields one for each line that looks something up in a table that is not trained."""
    lookups = [call for call in story.doing("looks up") if call.kind == "in-place"]
    tables = {
        mutation.tensor: Reference(mutation.tensor, mutation.storage, call.index - 1, None)
        for call in reversed(lookups)
        for mutation in call.mutations
        if not is_there_to_be_written(story, mutation)
    }

    def looks_up(_table: Reference, write: Write) -> bool:
        return write.call is not None and write.call.does("looks up")

    def read_elsewhere(table: Reference, write: Write) -> CallEvent | None:
        for read in story.given_memory(table.storage):
            asks = read.does("looks up") or read.kind == "query" or read.does("compares")
            if read.index > write.at and not asks:
                return None if read.mutated else read
        return None

    return gone_stale(story, tables.values(), looks_up, read_elsewhere)


def _found(story: Story, stales: Iterable[Stale]) -> Iterator[Found]:
    for stale in stales:
        place, write = stale.reference.place, stale.write
        name = story.bindings.name(stale.reference.tensor) or story.name_written_by(write)
        words = {
            "code": wording.code(place.expression) if place is not None else "",
            "name": f"`{name}`" if name else _("a tensor"),
        }
        fix = _COPY_OF_STATE if place is not None and not place.direct else ""
        calls: dict[str, Event | None] = {"write": write, "read": stale.read, "taken": place}
        yield Found(calls, stale.reference.tensor, story.name_written_by(write) or name, words, fix=fix)


_CALLS = Calls(write="write", origin="taken")
_COPY_OF_STATE = N_("Keep a copy: `copy.deepcopy(…)` around {code}.")

RULES = rules_of(
    Row(
        "taken-memory-trained",
        "warning",
        lambda story: _found(story, trained_and_taken_again(story)),
        _CALLS,
        message=N_(
            "{write} writes parameters that lie in the memory of {name}, so it writes {name}; {read} then uses that "
            "memory again, as if it still held the initial values. PyTorch gives no error."
        ),
        fix=N_("Give the parameters memory of their own: pass a copy (`.clone()`)."),
    ),
    Row(
        "kept-then-written",
        "warning",
        lambda story: _found(story, chain(parts.moved(story), parts.weights_moved_on(story))),
        _CALLS,
        message=N_(
            "{write} changed what {taken} kept, and {read} reads the new values: {code} shares that memory and copies "
            "nothing. PyTorch gives no error."
        ),
        fix=N_("Keep a copy: append `.clone()` to {code}."),
        ways=(state_copied_where_taken, copied_where_taken),
        badges=Badges(origin=N_("kept here")),
    ),
    Row(
        "lookup-shortened",
        "warning",
        lambda story: _found(story, shortened(story)),
        _CALLS,
        message=N_(
            "{write} shortened rows of {name}, and {read} reads the new values: a lookup with `max_norm` writes its "
            "table. PyTorch gives no error."
        ),
        fix=N_("Look up in a copy (`table.clone()`), or shorten the table once, where everybody is to see it."),
        ways=(where_it_is_handed,),
        badges=Badges(wrote=N_("shortened here")),
    ),
)
