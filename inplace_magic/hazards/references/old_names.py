"""Other names than that by which a line wrote a tensor, and whether they still stand for it as if it were old."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.second_names import is_noted, sums_its_list
from inplace_magic.hazards.references.second_sides import ran_between
from inplace_magic.record.events import Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.paths import is_some_entry
from inplace_magic.record.places import Callsite


def other_names(story: Story, owned: Owned, mutation: Mutation) -> Iterator[tuple[str, AliasStatement | None]]:
    """Names that an earlier statement of the same function gave the same tensor; and lists that got it by one of those,
    as ``raw.append(logits)`` above ``scores = logits`` does."""
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
    """Whether the name pointed to something else again before the read."""
    bound = story.bindings.bound_last(owned.site.function, path, read)
    return bound is not None and bound[0] >= wrote and bound[1] != tensor


def is_given_again(
    story: Story, owned: Owned, alias: AliasStatement | None, at: Callsite, wrote: int, read: int
) -> bool:
    """Whether a statement between the write and the read gave the tensor that name once more: it is read as written."""
    again = [
        other
        for other in story.aliases.beside(owned.site)
        if alias is not None and (other.target, other.source) == (alias.target, alias.source)
    ]
    if any(owned.site.line < other.line < at.line for other in again):
        return True
    return any(ran_between(story, other, at, wrote, read) for other in again if other.line >= at.line)
