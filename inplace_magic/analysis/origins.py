"""What a written value was computed from, followed back through the calls of one run of a function."""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation

_MOST = 32
"""Calls through which one value is followed back."""


def builds_on_itself(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether what a call wrote depends on what stood there, so that the same write done twice gives something else.

    ``x += 1`` does by itself, ``x[0] = 1`` does not; ``boxes[:, 0] = width - boxes[:, 0]`` does, since the value that
    is assigned was computed from the very memory in the same run of the function.
    """
    if not call.does("repeatable"):
        return True
    if not call.does("assigns") or mutation.storage is None:
        return False
    todo = [meta.tensor for meta in call.inputs if meta.tensor != mutation.tensor]
    met: set[int] = set()
    while todo and len(met) < _MOST:
        tensor = todo.pop()
        made = story.innermost_new(tensor, call.index)
        if tensor in met or made is None or made.callsite is None or not made.callsite.same_run(call.callsite):
            continue
        met.add(tensor)
        if any(given.storage == mutation.storage for given in made.inputs):
            return made.kind != "view" or made.outputs[0].storage != mutation.storage
        todo += [given.tensor for given in made.inputs]
    return False
