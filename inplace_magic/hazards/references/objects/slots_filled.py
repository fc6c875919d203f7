"""A list whose entries come one by one from something that writes the same tensor for each of them.

``batches = [collate(i) for i in order]`` and ``batches = list(loader)`` keep what they are given; with a loader that
fills one buffer, all entries are what the last one left.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.slots import reads_through, slots_of, two_slots_of
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

_COLLECTS = frozenset(("list", "tuple", "sorted", "deque", "collections.deque"))
"""What goes through an iterator and keeps each entry."""


def slots_filled(story: Story, call: CallEvent, mutation: Mutation) -> tuple[str, str] | None:
    """Two slots of a list whose entries a helper gave (``batches = [collate(i) for i in …]``), which wrote the same
    tensor for each of them; and the list is gone through when all are there."""
    site = call.callsite.caller if call.callsite is not None else None
    if site is None or len(story.names.get(mutation.tensor, ())) < 2:
        return None
    several = {held for held, slots in slots_of(story, mutation.tensor).items() if len(slots) > 1}
    if not several:
        return None
    while site is not None:
        filled = _list_filled(site)
        slots = two_slots_of(story, mutation.tensor, filled) if filled in several else None
        if filled is not None and slots is not None:
            if _collects(site) and not _wrote_again(story, call, mutation):
                return None
            last = story.writes_to_tensor[mutation.tensor][-1][0].index
            reads_it = partial(_goes_through, story, filled)
            reads = Counter(read.callsite for read in story.readers(mutation.tensor, last, reads_it))
            return slots if max(reads.values(), default=0) > 1 else None
        site = site.caller
    return None


def _list_filled(site: Callsite) -> str | None:
    """The list of ``c = [f(i) for i in …]`` and ``c.append(f(i))``, for the place of ``f(i)``; that of ``c =
    list(loader)``, for the place of what is gone through."""
    statement, value = expressions.parse(site.statement), expressions.parse(site.expression)
    entry, name = None, None
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.ListComp):
        entry, name = statement.value.elt, expressions.path_text(statement.targets[0])
    elif isinstance(statement, ast.Call) and isinstance(statement.func, ast.Attribute) and len(statement.args) == 1:
        appends = statement.func.attr == "append"
        entry, name = statement.args[0], expressions.path_text(statement.func.value) if appends else None
    same = entry is not None and value is not None and ast.dump(entry) == ast.dump(value)
    if _collects(site) and site.bound is not None and len(site.bound) == 1:
        return site.bound[0]
    return name if same else None


def _collects(site: Callsite) -> bool:
    """``list(loader)``."""
    node = expressions.parse(site.expression)
    return isinstance(node, ast.Call) and expressions.path_text(node.func) in _COLLECTS


def _wrote_again(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether a line wrote the tensor more than once, reached by the same places: for one entry, and for another."""
    return sum(each.callsite == call.callsite for each, _ in story.writes_to_tensor[mutation.tensor]) > 1


def _goes_through(story: Story, name: str, site: Callsite | None) -> bool:
    return reads_through(story, site, name)
