"""Two names of one tensor that a function hands out together: ``return [loss, first] + parts``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.old_names import is_bound_anew
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.source.chains import level


@dataclass(frozen=True)
class AsTwo:
    """Two names of one tensor that a function handed out together, and who read it then."""

    other: str
    """The name by which it was not written."""
    alias: AliasStatement
    read: CallEvent


def handed_out_as_two(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> AsTwo | None:
    """The second name that a function gave a tensor before it wrote it, where both are returned and read outside.

    Args:
        story: the trace.
        call: the call that wrote.
        mutation: what it wrote.
        owned: the function, and the name by which it wrote.
    """
    site, path = owned.site, owned.path
    here = story.aliases.beside(site)
    returned = {alias.source for alias in here if alias.target == "return"}
    given = (returned | _entries_of(here, path, returned)) if site.caller is not None else set()
    for alias in here:
        names = {alias.target, alias.source}
        if path not in names or len(names) < 2 or not names <= given or alias.line >= site.line:
            continue
        (other,) = names - {path}
        held = story.bindings.bound_last(site.function, other, call.index)
        meta = story.observations.get(held[1]) if held is not None else None
        if meta is not None and meta.storage != mutation.storage:
            continue  # the statement did not run
        read = next(story.readers(mutation.tensor, call.index, lambda place: level(place, site) is None), None)
        if read is not None and not is_bound_anew(story, owned, other, call.index, read.index, mutation.tensor):
            return AsTwo(other, alias, read)
    return None


def _entries_of(aliases: Iterable[AliasStatement], name: str, returned: set[str]) -> set[str]:
    """A name and the entry that it was taken from, ``labels = batch["ids"]``, where it was put into the same container
    as another entry, ``batch["labels"] = labels``, and that is returned: both are handed out."""
    taken = {a.source for a in aliases if a.target == name and a.source.split("[")[0] in returned}
    given = {a.target for a in aliases if a.source == name and a.target.split("[")[0] in returned}
    both = {source for source in taken for target in given if _holder(source) == _holder(target) and source != target}
    return {name, *both} if both else set()


def _holder(path: str) -> str | None:
    return path.rpartition("[")[0] or None
