"""What a written value was computed from, followed back through the calls of one run of a function."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.source import expressions

_MOST = 32
"""Calls through which one value is followed back."""


def builds_on_itself(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if what a call wrote depends on what stood there, so that the same write done twice gives something else.

    ``x += 1`` does by itself, ``x[0] = 1`` does not; ``boxes[:, 0] = width - boxes[:, 0]`` does, since the value that
    is assigned was computed from the very memory in the same run of the function. What ``out=x`` takes does where `x`
    is an argument as well.
    """
    site = call.callsite
    if site is not None and site.direct and expressions.keyword(site.expression, "out") is not None:
        return sum(meta.storage == mutation.storage for meta in call.inputs) > 1
    if not call.does("repeatable"):
        return True
    if not call.does("assigns") or mutation.storage is None:
        return False
    return any(
        given.storage == mutation.storage and (made.kind != "view" or made.outputs[0].storage != mutation.storage)
        for made in _made_for(story, call, mutation)
        for given in made.inputs
    )


def comes_from_itself(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """True if a written value was computed from what stood in the memory, and from numbers, alone."""
    made = list(_made_for(story, call, mutation))
    known = {output.tensor for each in made if each.inputs for output in each.outputs}
    given = [meta for each in (call, *made) for meta in each.inputs if meta.tensor not in known]
    return all(meta.storage == mutation.storage for meta in given)


def is_of(story: Story, tensor: int, wholes: Container[int], before: int) -> bool:
    """True if a tensor is one of several, or a view of one."""
    return tensor in wholes or any(view.inputs[0].tensor in wholes for view in story.views_back(tensor, before))


def _made_for(story: Story, call: CallEvent, mutation: Mutation) -> Iterator[CallEvent]:
    """Yield the calls, in the same run of the function, of which the written value was made."""
    todo = [meta.tensor for meta in call.inputs if meta.tensor != mutation.tensor]
    met: set[int] = set()
    while todo and len(met) < _MOST:
        tensor = todo.pop()
        made = story.innermost_new(tensor, call.index)
        here = made is not None and made.callsite is not None and made.callsite.same_run(call.callsite)
        if made is None or tensor in met or not here:
            continue
        met.add(tensor)
        yield made
        if all(given.storage != mutation.storage for given in made.inputs):
            todo += [given.tensor for given in made.inputs]


def scaled_before(story: Story, call: CallEvent) -> CallEvent | None:
    """Return the first half of ``average.mul_(0.9).add_(p, alpha=0.1)`` for the second one: the call that scaled the
    tensor, on whose result the chain goes on."""
    if not call.does("shifts") or len(call.mutations) != 1 or call.callsite is None:
        return None
    writes = story.writes_to_storage.get(call.mutations[0].storage or 0, [])
    place = bisect_left(writes, call.index, key=lambda write: write[0].index) - 1
    if place < 0:
        return None
    (earlier, mutation), site = writes[place], call.callsite
    at = earlier.callsite
    if at is None or at == site or mutation.tensor != call.mutations[0].tensor or not site.same_statement(at):
        return None
    return earlier if earlier.does("scales") and site.expression.startswith(f"{at.expression}.") else None
