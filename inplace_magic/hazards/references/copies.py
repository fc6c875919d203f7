"""A tensor was written by way of one object, and read by way of another one that holds it under the same key.

In ``nodes = [node.copy() for node in chain]`` each new node is an object of its own around the old tensor. A line that
writes ``node.tensor`` says the same of either; which of them it was, and who else held the tensor just then, is in the
record (:class:`~inplace_magic.record.names.Holding`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inplace_magic.analysis.ledger import owners_of
from inplace_magic.analysis.memory.ledger import line_key
from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.engine import writes_of
from inplace_magic.hazards.references.names import is_on, level_of
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.names import Holding
from inplace_magic.record.paths import before_first_step, before_last_step
from inplace_magic.source import expressions
from inplace_magic.source.expressions import operands_given
from inplace_magic.source.listing import LOOPS, texts
from inplace_magic.source.spots import spot_of
from inplace_magic.source.statements import spans

_Key = tuple[str, str]


@dataclass(frozen=True)
class PastAnother:
    """A write past another object that holds the tensor, too."""

    call: CallEvent
    tensor: int
    copy: Holding
    """By way of which it was written."""
    original: Holding
    """What held it, too."""
    read: CallEvent | None = None
    """Reads by way of the original; None where the line writes for another copy, on top of what it wrote for the first.
    """


def written_past_another(story: Story) -> Iterator[PastAnother]:
    """Yields the writes of each line that another holder of the same class gets to see."""
    before: dict[tuple[object, ...], tuple[Holding, list[Holding]]] = {}
    copied: dict[tuple[int, _Key], bool] = {}
    for call, mutation in writes_of(story.in_place):
        held = story.holdings.get(call.index, ())
        tensor = next((h.tensor for h in held if is_on(story, h.tensor, mutation)), None)
        if tensor is None or story.observations[tensor].is_trainable or story.is_gradient(mutation):
            continue
        copy = _written_through(story, call, mutation, tensor, held)
        if copy is None:
            continue
        asked = tensor, _key(copy)
        if asked not in copied:
            copied[asked] = _is_copied(story, call, tensor, copy)
        if not copied[asked]:
            continue
        originals = [h for h in held if h.object != copy.object and _key(h) == _key(copy) and h.tensor == tensor]
        read = next(_reads_of(story, call, mutation, tensor, copy, originals), None)
        if read is not None:
            yield PastAnother(call, tensor, copy, *read)
            continue
        first = before.setdefault((*line_key(call.callsite), tensor), (copy, originals))
        again = _of_both(originals, first[1]) if first[0].object != copy.object else None
        if again is not None and builds_on_itself(story, call, mutation):
            yield PastAnother(call, tensor, copy, again)


def _key(holding: Holding) -> _Key:
    """Class of what holds a tensor, and under which key it does."""
    return holding.kind, before_last_step(holding.path)[1]


def _is_copied(story: Story, call: CallEvent, tensor: int, copy: Holding) -> bool:
    """True if nothing but objects of one class was seen to hold a tensor, under one key, and no name of it was handed
    out more than once: layers that share a cache got it from somebody."""
    if any(_key(holding) != _key(copy) for holding in story.holdings_of.get(tensor, ())):
        return False
    if _is_tied(story, call, copy):
        return False
    made = story.bindings.made_at.get(tensor)
    name = made.targets[0] if made is not None and made.targets and len(made.targets) == 1 else None
    if made is None or name is None or not name.isidentifier() or name == "return":
        return True
    spot = spot_of(story.trace, made)
    scope = ast.walk(spot.scope) if spot is not None else ()
    loads = [n for n in scope if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    repeated = (*LOOPS, ast.ListComp, ast.DictComp, ast.GeneratorExp)
    around = spot.listing.around(loads[0]) if spot is not None and len(loads) == 1 else None
    return around is not None and not any(isinstance(node, repeated) for node in around)


def _is_tied(story: Story, call: CallEvent, copy: Holding) -> bool:
    """True if the text hands the entry on by itself, as ``second.table = first.table`` and ``Layer(4,
    first.table)``; not where that very entry is written below: who takes a tensor and writes it took it for a copy.
    ``Node(node.tensor, node.name)``, of whose arguments each is an attribute of one object, copies that object."""
    key, here = before_last_step(copy.path)[1], call.callsite.function if call.callsite is not None else ""
    for alias in story.aliases.statements:
        both = alias.target != alias.source and alias.target.endswith(key) and alias.source.endswith(key)
        if both and (alias.function, alias.target) != (here, copy.path):
            return True
    for listing in texts(story.trace) if key.startswith(".") else ():
        for node in listing.nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == copy.kind:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                handed = {ast.unparse(e.value) for e in given if isinstance(e, ast.Attribute) and e.attr == key[1:]}
                owners = {ast.unparse(e.value) if isinstance(e, ast.Attribute) else "" for e in given}
                if handed and handed != owners:
                    return True
    return False


def _reads_of(
    story: Story, call: CallEvent, mutation: Mutation, tensor: int, copy: Holding, originals: Sequence[Holding]
) -> Iterator[tuple[Holding, CallEvent]]:
    """(original, the call that reads by way of it) before somebody else writes. A function that takes a copy of the
    original for itself, as the one that writes has done, reads by way of it, too."""
    later = (write.at for write in story.writes_between(mutation.storage, call.index))
    until = next(later, len(story.trace.calls)) if originals else call.index
    for read in story.given_between(tensor, call.index, until):
        held = story.holdings.get(read.index, ())
        here = [holding for holding in held if holding.level == 0]
        if not held or not read.looks_at_values or read.mutations:
            continue
        for node in _operands(read, tensor):
            through, again = _through(story, read, node, tensor, held), _of_both(originals, here)
            if through is None:
                continue
            for original in originals:
                if through.object == original.object and _lives(story, call, read, original):
                    yield original, read
            if again is None or through.object in (copy.object, again.object):
                continue
            if _takes_a_copy(story, call, copy, again) and _takes_a_copy(story, read, through, again):
                yield again, read


def _takes_a_copy(story: Story, call: CallEvent, copy: Holding, original: Holding) -> bool:
    """True if a function made the object that it has a holder in of the object that another holder is in: ``g =
    graph.local()`` and then ``g.weights["flow"]``, where ``graph.weights`` is another dict. The text tells it: the
    record knows which object holds a tensor, and not of which other object that one was made."""
    spot = spot_of(story.trace, call.callsite)
    mine, others = (before_first_step(holding.path)[0] for holding in (copy, original))
    if spot is None or mine == others or copy.level or copy.path == mine:
        return False
    made = spot.value_of(mine)
    return isinstance(made, ast.Call) and expressions.mentions(made, others)


def _operands(read: CallEvent, tensor: int) -> list[ast.expr | None]:
    """Return what a call says of a tensor that it reads; one None where the text does not tell which operand it is."""
    pairs, site = operands_given(read), read.callsite
    if pairs is not None:
        return [node for meta, node in pairs if meta.tensor == tensor]
    one = len(read.inputs) == 1 and site is not None and site.direct
    listed = expressions.operands(site.expression, method=read.does("method")) if one and site is not None else []
    return [listed[0]] if listed else [None]


def _through(
    story: Story, call: CallEvent, node: ast.expr | None, tensor: int, held: Sequence[Holding]
) -> Holding | None:
    """By way of which object the line of a call comes to a tensor; None where the text fits several."""
    here = [holding for holding in held if holding.level == 0 and holding.tensor == tensor]
    if len({holding.object for holding in here}) > 1:
        spot = spot_of(story.trace, call.callsite)
        prefix, step = spot.way_to(node) if spot is not None else ("", "")
        fitting = [
            h for h in here if before_last_step(h.path)[0] == prefix and step in ("", before_last_step(h.path)[1])
        ]
        here = fitting if fitting or prefix else []
    return here[0] if len({holding.object for holding in here}) == 1 else None


def _written_through(
    story: Story, call: CallEvent, mutation: Mutation, tensor: int, held: Sequence[Holding]
) -> Holding | None:
    """Return by way of which object a line writes a tensor, or a function that handed it on to that line."""
    own = _through(story, call, story.bindings.written_operand(call, mutation.tensor), tensor, held)
    for owned in owners_of(story, call, mutation):
        level = level_of(call.callsite, owned.site)
        handed = (h for h in held if h.tensor == tensor and (h.level, h.path) == (level, owned.path))
        own = own or next(handed, None)
    return own


def _of_both(originals: Sequence[Holding], others: Sequence[Holding]) -> Holding | None:
    """One that held the tensor both times, as far as that can be told."""
    for one in originals:
        if any(one.object == other.object and (one.is_sure or one.path == other.path) for other in others):
            return one
    return None


def _lives(story: Story, call: CallEvent, read: CallEvent, original: Holding) -> bool:
    """True if what has the number of the original at a read is the original: a dict that dies leaves its number to
    another one. A name that its function did not bind anew meanwhile kept it."""
    if original.is_sure:
        return True
    root, chain = before_last_step(original.path)[0], call.callsite.chain if call.callsite is not None else ()
    place = chain[-1 - original.level] if original.level < len(chain) else None
    spot = spot_of(story.trace, place) if root.isidentifier() else None
    there = next((p for p in read.callsite.chain if p.same_run(place)), None) if read.callsite is not None else None
    if spot is None or place is None or there is None:
        return False
    stores = [node.lineno for node in spot.stores(root)]
    if there.line > place.line:
        return not any(place.line <= line < there.line for line in stores)
    return not any(spans(loop, line) for loop in spot.loops for line in stores)
