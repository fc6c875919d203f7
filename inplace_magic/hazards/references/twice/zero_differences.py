"""``current = saved[:n]``, and then ``(current - saved).pow(2).sum()``: a term of a loss that is zero whatever happens.

A view of all of a tensor differs from it in nothing, now and later, and where neither has a history the difference has
none. As a check somebody may well compute it; a term that goes into a loss was meant to be something else.

``x - x.detach()`` has a history, and ``x[i] - x[j]`` are two views of a third.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.overlap import region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import LOOPS, Listing, whole_listing

_TIMES = 2
"""So often the line has to do it: once, as for the first of several entries, tells nothing."""
_MOST = 64
"""Calls through which a difference is followed into a loss."""


@dataclass(frozen=True)
class ZeroDifference:
    """A line took the difference of a tensor and a view of all of it, each time that it ran."""

    call: CallEvent
    """The first such call."""
    view: CallEvent
    """What took the view."""
    loss: CallEvent
    """What put it together with something that has a history."""
    one: str
    """The name of the view."""
    other: str


def zero_differences(story: Story) -> Iterator[ZeroDifference]:
    """Yields one for each line."""
    found: dict[Callsite, list[tuple[CallEvent, CallEvent]] | None] = {}
    for call in story.doing("compares"):
        site = call.callsite
        if site is None or not site.direct or len(call.inputs) != 2 or call.mutations or call.error is not None:
            continue
        view = _view_of_all(story, call)
        known = found.setdefault(site, [])
        if view is None:
            found[site] = None  # not each time
        elif known is not None:
            known.append((call, view))
    for site, pairs in found.items():
        if pairs is None or len(pairs) < _TIMES or len({view.callsite for _call, view in pairs}) != 1:
            continue
        names = _names(story, pairs[0][0], site, pairs[0][1])
        loss = _loss_behind(story, pairs[0][0]) if names is not None else None
        if names is not None and loss is not None:
            yield ZeroDifference(*pairs[0], loss, *names)


def _view_of_all(story: Story, call: CallEvent) -> CallEvent | None:
    """The call that took one operand as a view of all elements of the other one, where neither has a history."""
    one, other = call.inputs
    if any(meta.requires_grad for meta in call.inputs) or any(out.dtype == "bool" for out in call.outputs):
        return None
    if one.tensor == other.tensor or not _cover_the_same(one, other):
        return None
    for meta, whole in ((one, other), (other, one)):
        made = story.innermost_new(meta.tensor, call.index)
        if made is None or made.kind != "view" or made.does("may hand back") or made.callsite is None:
            continue
        if made.inputs and made.inputs[0].tensor == whole.tensor:
            return made
    return None


def _cover_the_same(one: TensorMetadata, other: TensorMetadata) -> bool:
    """Whether each element of the one is the same of the other."""
    region = region_of(one)
    laid_out = (one.shape, one.strides) == (other.shape, other.strides)
    return laid_out and one.storage is not None and one.storage == other.storage and region == region_of(other)


def _names(story: Story, call: CallEvent, site: Callsite, view: CallEvent) -> tuple[str, str] | None:
    """(name of the view, name of the other), where one statement of the same pass takes the view from that name and
    both stand in the line as they are."""
    listing, taken = whole_listing(story.trace, site), view.callsite
    if listing is None or taken is None or not taken.same_function(site):
        return None
    compares, takes = listing.statement_at(site), listing.statement_at(taken)
    if not isinstance(takes, ast.Assign) or compares is None or takes.lineno >= compares.lineno:
        return None
    one, other = expressions.path_text(takes.targets[0]), _taken_from(takes.value)
    operands = expressions.operands(site.expression, method=call.does("method"))[:2]
    listed = [expressions.path_text(node) for node in operands]
    if (
        one is None
        or other is None
        or set(listed) != {one, other}
        or _loops(listing, takes) != _loops(listing, compares)
    ):
        return None
    between = (
        node
        for name in (one, other)
        for node in listing.stores.get(name, ())
        if listing.scope_of(node) is listing.scope_of(takes) and takes.lineno < node.lineno <= compares.lineno
    )
    return (one, other) if next(between, None) is None else None


def _taken_from(node: ast.expr) -> str | None:
    """`saved` of ``saved[:n]`` and ``saved.view(-1)``."""
    while expressions.path_text(node) is None or isinstance(node, ast.Subscript):
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return None
        if isinstance(node, ast.Attribute):
            node = node.value
    return expressions.path_text(node)


def _loops(listing: Listing, node: ast.AST) -> list[ast.AST]:
    return [above for above in listing.around(node) if isinstance(above, LOOPS)]


def _loss_behind(story: Story, call: CallEvent) -> CallEvent | None:
    """The call that joined what was computed from a difference with something that has a history."""
    known, waiting = {out.tensor for out in call.outputs}, [out.tensor for out in call.outputs]
    for _step in range(_MOST):
        if not waiting:
            return None
        for after in story.given_to.get(waiting.pop(0), ()):
            if after.index <= call.index or after.error is not None:
                continue
            if any(out.requires_grad for out in after.outputs):
                return after if after.does("adds") else None
            fresh = {out.tensor for out in after.outputs} - known
            known |= fresh
            waiting += sorted(fresh)
    return None
