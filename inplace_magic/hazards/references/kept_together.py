"""``parts = {"loss": loss, "first": first}``: two names of one tensor that a function puts into one container as two.

What is read by ``parts["first"]`` then is read by neither name, and the function may hand `parts` out, or keep it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.old_names import is_bound_anew
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.second_names import entries_of
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.alias_statements import entries_by_key
from inplace_magic.source.chains import level
from inplace_magic.source.listing import whole_listing


@dataclass(frozen=True)
class AsTwo:
    """Two names of one tensor that a function handed out together, or kept together, and who read it then."""

    other: str
    """The name by which it was not written."""
    alias: AliasStatement
    read: CallEvent


@dataclass(frozen=True)
class _Container:
    """A container that a statement makes of names, and binds to a name."""

    name: str
    line: int
    keys: dict[str, str]
    """The key, as text, by the name of the entry."""


def handed_out_as_two(story: Story, call: CallEvent, mutation: Mutation, owned: Owned, *, keeps: bool) -> AsTwo | None:
    """The second name that a function gave a tensor before it wrote it, where both are returned or kept together.

    Args:
        story: the trace.
        call: the call that wrote.
        mutation: what it wrote.
        owned: the function, and the name by which it wrote.
        keeps: whether containers that it binds to a name count as well.
    """
    site, path = owned.site, owned.path
    here = story.aliases.beside(site)
    returned = {alias.source for alias in here if alias.target == "return"}
    given = (returned | entries_of(here, path, returned)) if site.caller is not None else set()
    for alias in here:
        names = {alias.target, alias.source}
        if path not in names or len(names) < 2 or alias.target == "return" or alias.line >= site.line:
            continue
        (other,) = names - {path}
        held = story.bindings.bound_last(site.function, other, call.index)
        meta = story.observations.get(held[1]) if held is not None else None
        if meta is not None and meta.storage != mutation.storage:
            continue  # the statement did not run
        counts = keeps and "." not in other and "." not in path  # `state = self.state` is a short name for one state
        read = _read_of_both(story, call, mutation, owned, other, names <= given, returned if counts else None)
        if read is not None and not is_bound_anew(story, owned, other, call.index, read.index, mutation.tensor):
            return AsTwo(other, alias, read)
    return None


def _read_of_both(
    story: Story,
    call: CallEvent,
    mutation: Mutation,
    owned: Owned,
    other: str,
    given: bool,
    returned: set[str] | None,
) -> CallEvent | None:
    """The first read of the tensor outside of the function that gives both, or by an entry of the container."""
    site, tensor = owned.site, mutation.tensor
    kept = list(_containers_of(story, site, {owned.path, other})) if returned is not None else []
    if given or any(site.caller is not None and each.name in (returned or ()) for each in kept):
        read = next(story.readers(tensor, call.index, lambda place: level(place, site) is None), None)
        if read is not None:
            return read
    found = (_read_from(story, each, site, other, tensor, call.index) for each in kept)
    return next((read for read in found if read is not None), None)


def _containers_of(story: Story, site: Callsite, names: set[str]) -> Iterator[_Container]:
    """Yields those of the function of a place that are made below it and hold several names, each by itself."""
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    if listing is None or statement is None:
        return
    scope = listing.scope_of(statement)
    for node in ast.walk(scope):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or node.lineno <= site.line:
            continue
        target, entries = expressions.path_text(node.targets[0]), entries_by_key(node.value)
        keys = {path: key for key, value in entries if (path := expressions.path_text(value)) is not None}
        if target is not None and names <= keys.keys() and listing.scope_of(node) is scope:
            yield _Container(target, node.lineno, keys)


def _read_from(
    story: Story, container: _Container, site: Callsite, name: str, tensor: int, after: int
) -> CallEvent | None:
    """The first call of the same function that reads a tensor by what the container holds it as under another name."""

    def counts(place: Callsite | None) -> bool:
        at = level(place, site)
        if at is None or at.line <= container.line:
            return False
        return _takes(expressions.parse(at.statement), container.name, container.keys[name])

    return next(story.readers(tensor, after, counts), None)


def _takes(node: ast.AST | None, container: str, key: str) -> bool:
    """Whether a statement takes an entry of a container by its key, or the container as a whole."""
    nodes = list(ast.walk(node)) if node is not None else []
    keyed = [inner for inner in nodes if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant)]
    keyed = [inner for inner in keyed if expressions.path_text(inner.value) == container]
    if any(ast.unparse(inner.slice) == key for inner in keyed):
        return True
    by_key = {id(inner.value) for inner in keyed}
    whole = (inner for inner in nodes if isinstance(inner, ast.expr) and id(inner) not in by_key)
    return any(expressions.path_text(inner) == container for inner in whole if not _is_bound(inner))


def _is_bound(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)
