"""Functions that write their argument and mean to: they hand back a figure beside it, and no tensor in its place.

``norm = clip(gradient, 1.0)`` scales its argument by what was computed from it and gives the norm; ``energy =
step(position, velocity)`` moves its arguments on, pass after pass. Whoever reads the arguments afterwards wants the new
values. A function that gives a tensor about as large as the one that it wrote looks as if it left that one alone.
"""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.rereading import comes_later
from inplace_magic.hazards.references.second_names import name_given_by_the_write
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source.chains import level, paths_read

_LONGEST = 1_000
"""Calls up to which a function is looked at as a whole; a longer one is no helper."""


def reshaped(call: CallEvent) -> bool:
    """Whether a call gave a tensor another shape, as ``unsqueeze_`` does, and left its values and their order."""
    shapes = {meta.tensor: meta.shape for meta in call.inputs}
    changed = any(shapes.get(meta.tensor, meta.shape) != meta.shape for meta in call.mutated)
    return call.kind == "metadata" and changed and not call.does("turns")


def is_read_by_both(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> bool:
    """Whether a write gave the tensor a second name, as ``probs = logs.exp_()`` does, and its function reads it by that
    one later on: it is taken for another tensor then. A sum that gets a name is still a sum."""
    name = name_given_by_the_write(owned)

    def counts(site: Callsite | None) -> bool:
        at = level(site, owned.site)
        return at is not None and comes_later(at, owned) and name in paths_read(site, owned.site)

    if name is None or call.callsite != owned.site or (call.does("adds") and not _scaled_first(story, call, mutation)):
        return False
    return next(story.readers(mutation.tensor, call.index, counts), None) is not None


def _scaled_first(story: Story, call: CallEvent, mutation: Mutation) -> bool:
    """Whether the statement scales what it then adds to: ``mixed = bound.sub_(free).mul_(scale).add_(free)``."""
    before = story.calls.get(call.index - 1)
    while before is not None and before.callsite is not None and before.callsite.same_statement(call.callsite):
        if before.does("scales") and any(other.tensor == mutation.tensor for other in before.mutations):
            return True
        before = story.calls.get(before.index - 1)
    return False


def declared_in_place(story: Story, call: CallEvent, read: CallEvent, tensor: int) -> bool:
    """Whether a custom ``Function`` wrote its input and said so with ``mark_dirty``: what was written then has the
    history of that function, also for those who held it before."""
    owner = call.callsite.function.rpartition(".")[0].rpartition(".")[2] if call.callsite is not None else ""
    given = next((meta for meta in read.inputs if meta.tensor == tensor), None)
    node = story.nodes.get(given.node) if given is not None and given.node is not None else None
    return bool(owner) and node is not None and node.name == f"{owner}Backward"


def is_over(story: Story, owned: Owned, read: CallEvent, at: Callsite, tensor: int) -> bool:
    """Whether the name that a write gave the tensor stands for something else by the time of a read, or from this very
    statement on: ``actual = clamp_(x)``, a look at it, and then ``actual = clamp_max(x)``, is one step after the other.
    """
    name = name_given_by_the_write(owned)
    bound = story.bindings.bound_last(owned.site.function, name or "", read.index)
    again = at.bound or ()
    return name in again or (bound is not None and bound[1] != tensor)


def moves_its_argument(story: Story, call: CallEvent, mutation: Mutation, owned: Owned) -> bool:
    """Whether the function called at `owned` writes its argument as a state that goes on from there.

    Args:
        story: the trace.
        call: the write.
        mutation: what it wrote.
        owned: where the function was called that made it.
    """
    if owned.site == call.callsite or _makes_an_object(call, owned):
        return False
    run = _run(story, call, owned)
    if len(run) > _LONGEST or _gives_one_in_its_place(story, run, mutation):
        return False
    return _goes_on(story, call, mutation, run) or _by_its_own_measure(call, mutation, run)


def _makes_an_object(call: CallEvent, owned: Owned) -> bool:
    """Whether the function is a constructor: what it makes goes on, and not what it was given."""
    chain = call.callsite.chain if call.callsite is not None else ()
    inside = chain[chain.index(owned.site) + 1 :] if owned.site in chain else ()
    return bool(inside) and inside[0].function.endswith("__init__")


def _run(story: Story, call: CallEvent, owned: Owned) -> list[CallEvent]:
    """The calls that one run of the function made."""
    first = last = call.index
    while last - first <= _LONGEST and _is_within(story.calls.get(first - 1), owned):
        first -= 1
    while last - first <= _LONGEST and _is_within(story.calls.get(last + 1), owned):
        last += 1
    return [story.calls[index] for index in range(first, last + 1)]


def _is_within(call: CallEvent | None, owned: Owned) -> bool:
    return call is not None and call.callsite is not None and owned.site in call.callsite.chain


def _gives_one_in_its_place(story: Story, run: list[CallEvent], mutation: Mutation) -> bool:
    """Whether somebody outside read a tensor that the function made, and that is at least half as large."""
    written = story.observations.get(mutation.tensor)
    least = (written.nbytes or 0) / 2 if written is not None else 0
    last = run[-1].index
    for made in (output for call in run if call.kind == "ordinary" for output in call.outputs):
        readers = story.given_to.get(made.tensor, ())
        if readers and readers[-1].index > last and (made.nbytes or 0) >= least:
            return True
    return False


def _goes_on(story: Story, call: CallEvent, mutation: Mutation, run: list[CallEvent]) -> bool:
    """Whether other runs of the same line wrote the tensor, too."""
    writes = (write for write, _mutation in story.writes_to_tensor.get(mutation.tensor, ()))
    return any(not run[0].index <= write.index <= run[-1].index and write.callsite == call.callsite for write in writes)


def _by_its_own_measure(call: CallEvent, mutation: Mutation, run: list[CallEvent]) -> bool:
    """Whether the tensor was changed by something that had been computed from it in the same function."""
    measures = {mutation.tensor}
    for before in run:
        if before.index >= call.index:
            break
        if any(meta.tensor in measures for meta in before.inputs):
            measures |= {output.tensor for output in before.outputs}
    others = {meta.tensor for meta in call.inputs} - {meta.tensor for meta in call.mutated}
    return bool(others) and others <= measures
