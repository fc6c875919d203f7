"""A method that is to begin anew gives an attribute the value to begin with, and that is the tensor itself.

``self.state = self.start`` in a method that is called again has an effect only where `self.state` has become something
else meanwhile. Where every statement of the class gives it that one tensor, and lines write it in place, it never has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import FUNCTIONS, LOOPS, Listing, whole_listing


@dataclass(frozen=True)
class StartKept:
    """A write of an attribute that a method sets back to what it is anyway."""

    call: CallEvent
    tensor: int
    path: str
    """``self.state``."""
    source: str
    """``self.start``."""
    method: str


def starts_written(story: Story) -> Iterator[StartKept]:
    """Yields one for each attribute."""
    told: set[tuple[str | None, int | None, str]] = set()
    for call, mutation, earlier in story.writes_counted:
        site = call.callsite
        if earlier or site is None or site.caller is None or call.error is not None or call.does("overwrites"):
            continue
        path = story.bindings.written_path(call, mutation.tensor) or ""
        holder, dot, attribute = path.partition(".")
        if not dot or holder not in site.parameters[:1] or not attribute.isidentifier():
            continue
        listing = whole_listing(story.trace, site)
        found = _set_back(listing, site, attribute) if listing is not None else None
        key = site.file, site.cell, path
        if found is not None and key not in told and _are_one(story, mutation.tensor, attribute, found[0]):
            told.add(key)
            yield StartKept(call, mutation.tensor, path, f"{holder}.{found[0]}", found[1])


def _set_back(listing: Listing, site: Callsite, attribute: str) -> tuple[str, str] | None:
    """The other attribute that every statement of the class gives this one, and the method that does so again."""
    statement = listing.statement_at(site)
    around = listing.around(statement) if statement is not None else ()
    kind = next((node for node in around if isinstance(node, ast.ClassDef)), None)
    sources: set[str | None] = set()
    methods: set[str] = set()
    for node in listing.inside(kind) if kind is not None else ():
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and target.attr == attribute and isinstance(node, ast.Assign):
                value = node.value
                own = isinstance(value, ast.Attribute) and expressions.root_name(value) == expressions.root_name(target)
                sources.add(value.attr if own and isinstance(value, ast.Attribute) else None)
                methods.add(getattr(listing.scope_of(node), "name", ""))
    source = next(iter(sources)) if len(sources) == 1 else None
    again = next((name for name in sorted(methods - {"__init__"}) if _is_called_again(listing, name)), None)
    if source is None or again is None or source == attribute or _serves_otherwise(listing, source, attribute):
        return None
    return source, again


def _is_called_again(listing: Listing, method: str) -> bool:
    """Whether the text calls a method in a loop, in a function, or more than once."""
    times = 0
    for node in listing.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            inside = list(listing.around(node))
            function = next((each for each in inside if isinstance(each, FUNCTIONS)), None)
            loops = any(isinstance(each, LOOPS) for each in inside)
            times += 2 if loops or (function is not None and function.name != "__init__") else 1
    return times > 1


def _serves_otherwise(listing: Listing, source: str, attribute: str) -> bool:
    """Whether the value to begin with is read for anything else."""
    for node in listing.nodes:
        if isinstance(node, ast.Attribute) and node.attr == source and isinstance(node.ctx, ast.Load):
            above = listing.parents.get(node)
            targets = above.targets if isinstance(above, ast.Assign) and above.value is node else []
            if not any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets):
                return True
    return False


def _are_one(story: Story, tensor: int, attribute: str, source: str) -> bool:
    """Whether one object was seen to hold the tensor under both attributes."""
    names = [*story.names.get(tensor, ())]
    names += [local.name for local in story.trace.local_names if local.tensor == tensor]
    holders = {name.rpartition(".")[0] for name in names if name.rpartition(".")[2] == attribute}
    return any(name.rpartition(".")[0] in holders for name in names if name.rpartition(".")[2] == source)
