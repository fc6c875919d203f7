"""Tensors that a constructor made on the memory of another tensor: ``dose = torch.Tensor(self.open)``.

No call in the record gives such a tensor. It is met when a line writes it, on a memory that is known already.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level
from inplace_magic.source.listing import whole_listing
from inplace_magic.source.vocabulary import SHARING_CONSTRUCTORS


@dataclass(frozen=True)
class Constructed:
    """A written tensor that a constructor had made on another one's memory."""

    name: str
    """What its function calls it."""
    source: str
    """The other one, as the function that has it for its own calls it."""
    text: str
    """The constructor's call."""
    read: CallEvent
    """Reads the other one by that name after the write."""


def find_constructed(story: Story, call: CallEvent, mutation: Mutation) -> Constructed | None:
    """The constructor behind a written tensor.

    Args:
        story: the trace.
        call: the write.
        mutation: what it wrote.
    """
    site = call.callsite
    if site is None or mutation.storage is None or story.innermost_new(mutation.tensor, call.index) is not None:
        return None
    others = [t for t in story.bindings.by_storage.get(mutation.storage, ()) if t != mutation.tensor]
    is_older = any(story.first_seen_on(other, mutation.storage) < call.index for other in others)
    if not is_older and story.maker_of_storage(mutation.storage) is None:
        return None
    name = story.bindings.written_path(call, mutation.tensor)
    given = _given(story, site, name) if name is not None and name.isidentifier() else None
    if name is None or given is None:
        return None
    for source, where in _ways_out(site, given.args[0]):
        if source == name and where is site:
            return None
        read = next(_reads(story, others, call, source, where), None)
        if read is not None:
            return Constructed(name, source, ast.unparse(given), read)
    return None


def _given(story: Story, site: Callsite, name: str) -> ast.Call | None:
    """The constructor's call in the last assignment to a name above a place in its function."""
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    if listing is None or statement is None:
        return None
    scope = listing.scope_of(statement)
    bound = [listing.parents.get(node) for node in listing.stores.get(name, ()) if listing.scope_of(node) is scope]
    above = [each for each in bound if isinstance(each, ast.stmt) and each.lineno < statement.lineno]
    last = max(above, key=attrgetter("lineno"), default=None)
    value = last.value if isinstance(last, ast.Assign) else None
    if not isinstance(value, ast.Call) or len(value.args) != 1 or value.keywords:
        return None
    path = expressions.path_text(value.func) or ""
    return value if path.removeprefix("torch.").removeprefix("cuda.") in SHARING_CONSTRUCTORS else None


def _ways_out(site: Callsite, argument: ast.expr) -> Iterator[tuple[str, Callsite]]:
    """(path, place) of what a constructor was given, in its function and in those that handed it on."""
    path = expressions.path_text(argument)
    place: Callsite | None = site
    while path is not None and place is not None:
        yield path, place
        if path not in place.parameters or place.caller is None:
            return
        path = expressions.path_text(expressions.parameter_argument(place.caller.expression, place.parameters, path))
        place = place.caller


def _reads(story: Story, others: list[int], write: CallEvent, source: str, where: Callsite) -> Iterator[CallEvent]:
    """The calls after a write that get the other tensor by a line that says its name: of an attribute any line does, of
    a variable one of its function. The text tells it: the record has a name where a line binds it, and here it is read
    only."""
    last = source.rpartition(".")[2]
    says = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
    for other in others:
        for read in story.given_to.get(other, ()):
            if read.index <= write.index or read.kind in ("query", "view") or read.mutations:
                continue
            site = read.callsite if "." in source else level(read.callsite, where)
            if site is not None and says.search((site.statement or site.text).replace("'", '"')) is not None:
                yield read
