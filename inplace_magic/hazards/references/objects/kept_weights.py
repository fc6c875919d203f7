"""Trained weights that somebody kept at a chosen moment, and that training moved on: ``best = model.state_dict()``.

What ``state_dict()`` and ``p.detach()`` give are tensors on the memory of the weights. Whoever keeps them may want to
follow the weights; so only a moment that the program chose counts: one that was the best so far, as the text says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import Reference, Stale, gone_stale, reach_of, writes_since
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, spot_of

_MOST = 16
"""Writes after weights were kept that are looked at: a step makes a few, and one step is enough."""


def kept_weights_moved_on(story: Story) -> Iterator[Stale]:
    """Yields one for each line that wrote weights which were kept, and that were read as kept after that."""
    taken = [call for call in story.doing("detached") if _takes_a_weight(call)]
    if not taken:
        return
    references = list(_read_elsewhere(story, taken))
    best = lru_cache(None)(lambda site: any(is_the_best_so_far(story, place) for place in site.chain))

    def written(kept: Reference, write: Write) -> bool:
        own = write.mutation is None or write.mutation.tensor == kept.tensor
        return not own and may_meet(kept.region, reach_of(write)) and best(kept.place)

    yield from gone_stale(story, references, written, lambda kept, write: _reading(story, kept, write.at), most=_MOST)


def is_the_best_so_far(story: Story, site: Callsite) -> bool:
    """True if a place keeps the best so far, see :func:`keeps_the_best`."""
    spot = spot_of(story.trace, site)
    return spot is not None and keeps_the_best(spot.listing, spot.statement)


def keeps_the_best(listing: Listing, statement: ast.stmt) -> bool:
    """True if a statement stands under a condition that reads what it, or one beside it, assigns again."""
    around = listing.parents.get(statement)
    if not isinstance(around, ast.If) or statement not in around.body:
        return False
    read = set(_measured(around.test))
    targets = (target for each in around.body if isinstance(each, ast.Assign) for target in each.targets)
    assigned = (part for target in targets for part in getattr(target, "elts", [target]))
    return any(expressions.path_text(target) in read for target in assigned)


def _measured(test: ast.expr) -> Iterator[str]:
    """What a condition compares, or hands to a function: not what it asks for being there, as ``best is None`` does."""
    for node in ast.walk(test):
        ordered = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        for inner in ast.walk(node) if ordered or isinstance(node, ast.Call) else ():
            path = expressions.path_text(inner) if isinstance(inner, ast.expr) else None
            if path is not None:
                yield path


def _takes_a_weight(call: CallEvent) -> bool:
    return call.callsite is not None and bool(call.outputs) and call.inputs[0].is_trainable


def _read_elsewhere(story: Story, taken: list[CallEvent]) -> Iterator[Reference]:
    """Those that another statement reads than the one that took them, after a write, and that nobody writes."""
    for call in taken:
        kept = call.outputs[0]
        reference = Reference(kept.tensor, kept.storage, call.index, call.callsite, region=region_of(kept))
        write = next(writes_since(story, reference), None)
        if write is not None and _reading(story, reference, write.at) is not None:
            given = story.given_to.get(kept.tensor, ())
            if all(meta.tensor != kept.tensor for each in given for meta in each.mutated):
                yield reference


def _reading(story: Story, kept: Reference, since: int) -> CallEvent | None:
    """Return the first call after another one that reads a tensor in another statement than that which took it; a copy
    onto itself is told by `same-memory-compared`."""
    for call in story.given_between(kept.tensor, since, len(story.trace.calls)):
        reads = call.looks_at_values or call.does("gives address")
        onto_itself = call.does("copies in") and call.inputs[0].storage == kept.storage
        if reads and call.kind != "view" and not onto_itself and not _in_one_statement(call.callsite, kept.place):
            return call
    return None


def _in_one_statement(one: Callsite | None, other: Callsite | None) -> bool:
    return one is None or other is None or one.same_statement(other)
