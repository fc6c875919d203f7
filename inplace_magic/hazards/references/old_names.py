"""Other names than that by which a line wrote a tensor, and whether they still stand for it as if it were old."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.rereading import comes_later
from inplace_magic.hazards.references.second_names import is_noted, name_given_by_the_write, sums_its_list
from inplace_magic.hazards.references.second_sides import ran_between
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.paths import is_some_entry
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_read


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
    """Return a name and the entry that it was taken from, ``labels = batch["ids"]``, where it was put into the same
    container as another entry, ``batch["labels"] = labels``, and that is returned: both are handed out."""
    taken = {a.source for a in aliases if a.target == name and a.source.split("[")[0] in returned}
    given = {a.target for a in aliases if a.source == name and a.target.split("[")[0] in returned}
    both = {source for source in taken for target in given if _holder(source) == _holder(target) and source != target}
    return {name, *both} if both else set()


def _holder(path: str) -> str | None:
    return path.rpartition("[")[0] or None


def reshaped(call: CallEvent) -> bool:
    """True if a call gave a tensor another shape, as ``unsqueeze_`` does, and left its values and their order."""
    if call.kind != "metadata" or call.does("turns"):
        return False
    shapes = {meta.tensor: meta.shape for meta in call.inputs}
    return any(shapes.get(meta.tensor, meta.shape) != meta.shape for meta in call.mutated)


def is_read_by_both(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> bool:
    """True if a write gave the tensor a second name, as ``probs = logs.exp_()`` does, and its function reads it by that
    one later on: it is taken for another tensor then. A sum that gets a name is still a sum."""
    name = name_given_by_the_write(owned)

    def counts(site: Callsite | None) -> bool:
        at = level(site, owned.site)
        return at is not None and comes_later(at, owned) and name in paths_read(site, owned.site)

    if name is None or call.callsite != owned.site or call.does("adds"):
        return False
    return next(story.readers(mutation.tensor, call.index, counts), None) is not None


def is_over(story: Story, owned: Owned, read: CallEvent, at: Callsite, tensor: int) -> bool:
    """True if the name that a write gave the tensor stands for something else by the time of a read, or from this very
    statement on: ``actual = clamp_(x)``, a look at it, and then ``actual = clamp_max(x)``, is one step after the other.
    """
    name = name_given_by_the_write(owned)
    bound = story.bindings.bound_last(owned.site.function, name or "", read.index)
    return name in (at.bound or ()) or (bound is not None and bound[1] != tensor)


def declared_in_place(story: Story, call: CallEvent, read: CallEvent, tensor: int) -> bool:
    """True if a custom ``Function`` wrote its input and said so with ``mark_dirty``: what was written then has the
    history of that function, also for those who held it before."""
    owner = call.callsite.function.rpartition(".")[0].rpartition(".")[2] if call.callsite is not None else ""
    given = next((meta for meta in read.inputs if meta.tensor == tensor), None)
    node = story.nodes.get(given.node) if given is not None and given.node is not None else None
    return bool(owner) and node is not None and node.name == f"{owner}Backward"


def other_names(story: Story, owned: Owned, mutation: Mutation) -> Iterator[tuple[str, AliasStatement | None]]:
    """Yield names that an earlier statement of the same function gave the same tensor; and lists that got it by one of
    those, as ``raw.append(logits)`` above ``scores = logits`` does."""
    direct = list(_named_with(story, owned, mutation))
    yield from direct
    names = {name for name, _alias in direct if name.isidentifier()}
    for alias in story.aliases.beside(owned.site):
        if alias.source in names and is_some_entry(alias.target) and alias.line < owned.site.line:
            yield alias.target, alias


def _named_with(story: Story, owned: Owned, mutation: Mutation) -> Iterator[tuple[str, AliasStatement | None]]:
    for alias in story.aliases.beside(owned.site):
        if alias.line >= owned.site.line:
            continue
        short = not alias.source.isidentifier() and not sums_its_list(story, owned, alias)
        if short and not (alias.source == owned.path and is_noted(story, alias, mutation)):
            continue  # `cache = self.cache`: a short name for state that is there to be changed
        if alias.source == owned.path:
            yield alias.target, alias
        elif alias.target == owned.path:
            yield alias.source, alias


def is_bound_anew(story: Story, owned: Owned, path: str, wrote: int, read: int, tensor: int) -> bool:
    """True if the name pointed to something else again before the read."""
    bound = story.bindings.bound_last(owned.site.function, path, read)
    return bound is not None and bound[0] >= wrote and bound[1] != tensor


def is_given_again(
    story: Story, owned: Owned, alias: AliasStatement | None, at: Callsite, wrote: int, read: int
) -> bool:
    """True if a statement between the write and the read gave the tensor that name once more: it is read as written."""
    again = [
        other
        for other in story.aliases.beside(owned.site)
        if alias is not None and (other.target, other.source) == (alias.target, alias.source)
    ]
    if any(owned.site.line < other.line < at.line for other in again):
        return True
    return any(ran_between(story, other, at, wrote, read) for other in again if other.line >= at.line)
