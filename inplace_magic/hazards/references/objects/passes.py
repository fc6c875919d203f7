"""``x = layer(x)`` in a loop gave one tensor in two of its passes: a layer made it, the next one wrote it in place."""

from __future__ import annotations

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source.listing import LOOPS, whole_listing


def made_and_written_by_one_line(story: Story, mutation: Mutation) -> bool:
    """Whether one expression in a loop made a tensor in one of its runs and wrote it in another."""
    made, writes = story.maker_of_storage(mutation.storage), story.writes_to_tensor.get(mutation.tensor, ())
    if made is None or not writes or all(output.tensor != mutation.tensor for output in made.outputs):
        return False
    write = writes[-1][0]
    pair = _innermost_expression_of_both(made, write)
    return pair is not None and _are_two_runs(made, write, *pair) and is_in_a_loop(story, pair[0])


def _innermost_expression_of_both(one: CallEvent, other: CallEvent) -> tuple[Callsite, int] | None:
    """The last place on the way to both calls, and its depth."""
    chains = [call.callsite.chain if call.callsite is not None else () for call in (one, other)]
    found = None
    for depth, (mine, theirs) in enumerate(zip(*chains, strict=False)):
        if not mine.same_line(theirs) or mine.expression != theirs.expression:
            break
        found = mine, depth
    return found


def _are_two_runs(one: CallEvent, other: CallEvent, place: Callsite, depth: int) -> bool:
    """Whether an expression that led to two calls ran twice: by different functions, or modules, and not as one that
    has several parts, as ``nn.Sequential`` has."""
    shared = 0
    for mine, theirs in zip(one.modules, other.modules, strict=False):
        if mine != theirs:
            break
        shared += 1
    running = {each.function for each in place.chain}
    if shared and f"{one.modules[shared - 1]}.forward" not in running:
        return False  # the library's own, or one that the line called
    below = [(call.callsite.chain[depth + 1 : depth + 2] if call.callsite is not None else ()) for call in (one, other)]
    if below[0] and below[1]:
        return not below[0][0].same_function(below[1][0])
    if below[0] or below[1]:
        return True
    modules = one.modules[shared:], other.modules[shared:]
    direct = all(call.callsite is not None and call.callsite.direct for call in (one, other))
    return all(modules) or (direct and not any(modules))


def is_in_a_loop(story: Story, site: Callsite) -> bool:
    """Whether a place stands in a loop of its function."""
    listing = whole_listing(story.trace, site)
    statement = listing.statement_at(site) if listing is not None else None
    around = listing.around(statement) if listing is not None and statement is not None else ()
    return any(isinstance(node, LOOPS) for node in around)
