"""Since when the two operands of one call have been two ways to one memory: from when on a write is in both."""

from __future__ import annotations

import ast
from dataclasses import replace

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import AliasStatement
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for
from inplace_magic.source.vocabulary import NOT_ALWAYS_COPIES

_MOST_STEPS = 64
"""Writes ``x -= 1`` through which a name is followed back."""


def operands_of(call: CallEvent, view_texts: frozenset[str] = frozenset()) -> list[str | None]:
    """Return the names of a call's first two operands, without what is on the same memory (``a.detach()``,
    ``a.cpu()``); None for one that has no name."""
    if call.callsite is None:
        return []
    method = call.does("method") and call.callsite.direct
    listed = expressions.operands(call.callsite.expression, method=method)[:2]
    return [expressions.path_text(_unconverted(node, view_texts)) for node in listed]


def _unconverted(node: ast.expr, view_texts: frozenset[str]) -> ast.expr:
    while True:
        node = expressions.without_aliasing(node, view_texts)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return node
        if node.func.attr not in NOT_ALWAYS_COPIES or expressions.root_name(node.func) == "torch":
            return node
        node = node.func.value


def second_taken(story: Story, call: CallEvent) -> int | None:
    """Index of the call that took the older of two views, or the one view of a tensor; None where that is not known."""
    one, other = call.inputs[:2]
    if one.tensor == other.tensor:
        return _bound_at(story, call)
    taken = (story.view_of(meta.tensor, call.index) for meta in (one, other))
    views = [view for view in taken if view is not None and view.inputs[0].storage == one.storage]
    if len(views) == 2 and len({view.inputs[0].tensor for view in views}) == 1 and _made_beside(story, call, views):
        return _bound_at(story, call)  # `w.detach() - kept.detach()`, with one tensor under both names
    if views:
        derived = [view.index for view in views if view.inputs[0].tensor in (one.tensor, other.tensor)]
        return min(derived or [view.index for view in views])
    first = [story.first_seen_on(meta.tensor, meta.storage) for meta in (one, other)]
    if max(first) < call.index:
        return max(first)
    # First seen here: another library can have got at the memory from when on that was given out.
    given_out = next((giving for giving in story.giving_out.get(one.storage, ()) if giving < call.index), None)
    if given_out is None and story.maker_of_storage(one.storage) is not None:
        return call.index
    return given_out


def _made_beside(story: Story, call: CallEvent, views: list[CallEvent]) -> bool:
    """True if both views were taken in the statement of the call itself, of two variables."""
    names, here = operands_of(call, story.bindings.view_texts), call.callsite
    named = all(name is not None and name.isidentifier() for name in names)
    return named and here is not None and all(here.same_statement(view.callsite) for view in views)


def _bound_at(story: Story, call: CallEvent) -> int | None:
    """For one tensor under two names: the call whose result got the second one; the call itself where a side has no
    name, and so was made in this very statement."""
    names, site, one = operands_of(call, story.bindings.view_texts), call.callsite, call.inputs[0]
    if site is None or len(names) != 2:
        return None
    handed = None if site.direct else _handed_at(story, call, {name for name in names if name is not None})
    if handed is not None:
        return handed
    if None in names:
        return call.index
    held = (_held_since(story, site, name or "", one.tensor, call.index) for name in names)
    times = [since for since in held if since is not None]
    if len(times) == 2 and all(story.calls[at].kind == "in-place" for at in times):
        return min(times)  # what the older write gave was kept under a name of its own
    gave_back = [at for at in times if any(meta.tensor == one.tensor for meta in story.calls[at].inputs)]
    return max(times) if len(times) == 2 else gave_back[0] if gave_back else None


def _held_since(story: Story, site: Callsite, name: str, tensor: int, before: int) -> int | None:
    """Since which call a name has held a tensor, as far as it is known; of a parameter, its caller's name for it."""
    bound = _bound_first(story, site.function, name, before)
    since = bound[0] if bound is not None and bound[1] == tensor else None
    if bound is not None and since is None:
        return None
    if name not in site.parameters or site.caller is None:
        return since
    path = expressions.path_text(argument_for(site, name))
    outer = _held_since(story, site.caller, path, tensor, before) if path is not None else None
    return since if outer is None else outer if since is None else min(since, outer)


def _bound_first(story: Story, function: str, name: str, before: int) -> tuple[int, int] | None:
    """(call, tensor) of what a name was bound to last before a call; ``self.x -= 1`` binds it to what it held already.
    Of two variables see `alias-written`."""
    bound = story.bindings.bound_last(function, name, before)
    for _step in range(0 if name.isidentifier() else _MOST_STEPS):
        written = bound is not None and story.calls[bound[0]].kind == "in-place"
        earlier = story.bindings.bound_last(function, name, bound[0]) if bound is not None and written else None
        if bound is None or earlier is None or earlier[1] != bound[1]:
            break
        bound = earlier
    return bound


def _handed_at(story: Story, call: CallEvent, names: set[str]) -> int | None:
    """For a call that library code made: the last one in a statement that gave one of the arguments its name, and that
    got the tensor, as ``before = Normal(mean, scale)`` does, or a function that builds the object; of two arguments
    that got their names so the older one; None where there is none."""
    site, taken = call.callsite, dict[str, int]()
    for earlier in story.given_to.get(call.inputs[0].tensor, ()):
        if earlier.index >= call.index:
            break
        chain = earlier.callsite.chain if earlier.callsite is not None and not earlier.callsite.direct else ()
        place = next((place for place in chain if place.same_run(site)), None)
        for name in names.intersection(place.targets or ()) if place is not None else ():
            taken[name] = earlier.index
    return min(taken.values(), default=None)


def wrote_while_making(story: Story, call: CallEvent, write: Write) -> bool:
    """True if a write belongs to how a function made a tensor that it then gave away: ``x = zeros(n)``, ``x[0] += 1``,
    ``return {"x": x}``. Who has two names for it outside, got them after that."""
    site, maker = write.site, story.maker_of_storage(call.inputs[0].storage)
    made = maker.callsite if maker is not None else None
    if site is None or site.caller is None or made is None or not made.same_run(site):
        return False
    if call.callsite is None or call.callsite.is_below_function(site):
        return False
    name = story.name_written_by(write)
    shared = (a for a in story.aliases.beside(site) if a.source == name and a.target != "return")
    return all(alias.line >= site.line for alias in shared)


def where_named(story: Story, call: CallEvent) -> Callsite | None:
    """The statement of the same function that gave one operand of a call the other one's name: ``before = grad``."""
    site, names = call.callsite, set(operands_of(call, story.bindings.view_texts))
    if site is None:
        return None
    found = (alias for alias in story.aliases.beside(site) if {alias.target, alias.source} == names)
    return next((place_of(alias, site) for alias in found), None)


def place_of(alias: AliasStatement, like: Callsite) -> Callsite:
    """Return the place of a statement in the function of another place."""
    return replace(
        like,
        line=alias.line,
        end_line=None,
        column=None,
        end_column=None,
        text=alias.text,
        expression=alias.text,
        statement=alias.text,
        targets=None,
    )
