"""What a program says of a write that gave a tensor a second name, or another shape: whether it knows of it.

``probs = logs.exp_()`` with a later look at `probs` takes the two for two tensors; ``x.unsqueeze_(1)`` says what it
does.
"""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.rereading import comes_later
from inplace_magic.hazards.references.second_names import name_given_by_the_write
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_read


def reshaped(call: CallEvent) -> bool:
    """Whether a call gave a tensor another shape, as ``unsqueeze_`` does, and left its values and their order."""
    if call.kind != "metadata" or call.does("turns"):
        return False
    shapes = {meta.tensor: meta.shape for meta in call.inputs}
    return any(shapes.get(meta.tensor, meta.shape) != meta.shape for meta in call.mutated)


def is_read_by_both(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> bool:
    """Whether a write gave the tensor a second name, as ``probs = logs.exp_()`` does, and its function reads it by that
    one later on: it is taken for another tensor then. A sum that gets a name is still a sum."""
    name = name_given_by_the_write(owned)

    def counts(site: Callsite | None) -> bool:
        at = level(site, owned.site)
        return at is not None and comes_later(at, owned) and name in paths_read(site, owned.site)

    if name is None or call.callsite != owned.site or call.does("adds"):
        return False
    return next(story.readers(mutation.tensor, call.index, counts), None) is not None


def declared_in_place(story: Story, call: CallEvent, read: CallEvent, tensor: int) -> bool:
    """Whether a custom ``Function`` wrote its input and said so with ``mark_dirty``: what was written then has the
    history of that function, also for those who held it before."""
    owner = call.callsite.function.rpartition(".")[0].rpartition(".")[2] if call.callsite is not None else ""
    given = next((meta for meta in read.inputs if meta.tensor == tensor), None)
    node = story.nodes.get(given.node) if given is not None and given.node is not None else None
    return bool(owner) and node is not None and node.name == f"{owner}Backward"
