"""A list that all calls of a function have, or all objects of a class, and that each of them puts tensors into.

``def collect(x, kept=[])`` and ``kept = []`` in the body of a class are evaluated once. No tensor is written; what
tells is that one line put tensors together for one caller that it had put together for another one before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.shared_containers import class_of_container, default_of, is_container
from inplace_magic.hazards.references.owners import object_of
from inplace_magic.hazards.references.second_sides import place_of
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing


@dataclass(frozen=True)
class GrownList:
    """A line put tensors of an earlier caller together with those of this one."""

    gathered: CallEvent
    path: str
    """The list as the line says it: ``kept``, ``self.kept``."""
    tensor: int
    """One that an earlier caller left there."""
    stored: Callsite
    """Where the function puts a tensor in."""
    before: Callsite
    """The earlier caller."""

    @property
    def write(self) -> Write:
        """What put the tensor in, which no call tells of."""
        return Write(None, None, self.gathered.index, site=self.stored)


def grown_for_two(story: Story, is_shared: Callable[[Story, CallEvent, CallEvent, str], bool]) -> Iterator[GrownList]:
    """Yields one for each line that puts a list together.

    Args:
        story: the trace.
        is_shared: whether two runs of the line, for two callers, have one list, which neither was given.
    """
    first: dict[tuple[object, ...], tuple[CallEvent, frozenset[int]]] = {}
    told: set[tuple[object, ...]] = set()
    for call in story.doing("gathers"):
        site = call.callsite
        path = _list_given(site) if site is not None and call.error is None else None
        if site is None or site.caller is None or path is None:
            continue
        key = site.cell, site.file, site.line, path
        before, kept = first.setdefault(key, (call, frozenset(meta.tensor for meta in call.inputs)))
        if before is call or key in told or before.callsite is None or before.callsite.caller is None:
            continue
        old = next((meta.tensor for meta in call.inputs if meta.tensor in kept), None)
        if old is None or before.callsite.caller == site.caller or not is_shared(story, before, call, path):
            continue
        told.add(key)
        stored = _stored(story, call, path)
        if stored is not None:
            yield GrownList(call, path, old, stored, before.callsite.caller)


def is_default_list(story: Story, site: Callsite, name: str) -> bool:
    """Whether a parameter has a list or dict for its default."""
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    scope = listing.scope_of(statement) if listing is not None and statement is not None else None
    function = isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef))
    return function and is_container(default_of(scope, name))  # type: ignore[arg-type]  # as the line before says


def is_of_the_class(story: Story, before: CallEvent, call: CallEvent, path: str) -> bool:
    """Whether methods of two objects put together a list that the body of their class makes."""
    one, other = (each.callsite for each in (before, call))
    if one is None or other is None:
        return False
    apart = where_they_part(one.chain, other.chain)
    inside = (place for site, part in zip((one, other), apart, strict=True) for place in _below(site, part))
    if any(object_of(place) not in place.parameters[:1] for place in inside):
        return False  # on the way, the method was called for another object than its own
    names = [object_of(place) for place in apart]
    if None in names or names[0] == names[1]:
        return False
    if any({alias.target, alias.source} == set(names) for alias in story.trace.aliases):
        return False  # one object by two names
    return class_of_container(story, other, path) is not None


def _below(site: Callsite, outer: Callsite) -> list[Callsite]:
    """The places by which a method came to a place from within."""
    chain = site.chain
    return list(chain[chain.index(outer) + 1 : -1])


def _list_given(site: Callsite) -> str | None:
    """`kept` of ``torch.stack(kept)``, and ``self.kept``: a list of the function's own parameter or object."""
    node = expressions.parse(site.expression)
    path = expressions.path_text(node.args[0]) if isinstance(node, ast.Call) and node.args else None
    if path is None or "[" in path:
        return None
    root, dot, attribute = path.partition(".")
    own = root in site.parameters[:1] and dot and "." not in attribute
    return path if own or path in site.shared_defaults else None


def _stored(story: Story, call: CallEvent, path: str) -> Callsite | None:
    """The line by which the function, or a method of the class, puts tensors into the list."""
    site, entry = call.callsite, f"{path}[]"
    if site is None:
        return None
    owner = site.function.rpartition(".")[0] if "." in path else ""
    for meta in call.inputs:
        made = story.bindings.made_at.get(meta.tensor)
        here = made is not None and (made.same_function(site) or (owner and made.function.startswith(f"{owner}.")))
        if here and made is not None and entry in (made.targets or ()):
            return made
    for alias in story.aliases.beside(site):
        if alias.target == entry:
            return place_of(alias, site)
    return None
