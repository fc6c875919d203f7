"""``raw.norm() / now.norm()``: what one expression gives of two tensors is held against each other.

Where both are one memory, and in one state, the two numbers are one number. A line that goes through all pairs meets
such a pair as well, but others beside it; it is told only where it never held two memories against each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from inplace_magic.analysis.overlap import lies_within, region_of, without_leading_ones
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level

_MOST_STEPS = 4
"""Calls by which a number is followed back to what it was measured of: two of ``x.abs().sum()``."""
_MOST = 16
"""Times that a line is looked at."""


@dataclass(frozen=True)
class Measured:
    """A comparison of what was measured of one memory twice."""

    call: CallEvent
    beside: CallEvent
    """As if the two tensors themselves had been compared when the later one was measured."""
    one: str
    """The text that measured."""
    other: str


def measured_alike(story: Story) -> Iterator[Measured]:
    """Yields the first of each line."""
    found: dict[tuple[object, ...], list[Measured] | None] = {}
    for call, site in chain(_of_tensors(story), _of_numbers(story)):
        line = site.cell, site.file, site.line, site.expression
        known = found.setdefault(line, [])
        if known is None or len(known) == _MOST:
            continue
        measured = _measured(story, call, site)
        if measured is None:
            found[line] = None
        else:
            known.append(measured)
    for entries in found.values():
        yield from entries or ()


def _of_tensors(story: Story) -> Iterator[tuple[CallEvent, Callsite]]:
    """The differences and quotients of two tensors that lines of the user's ask for."""
    for call in story.doing("compares"):
        numbers = len(call.inputs) == 2 and call.outputs and not call.mutations and call.error is None
        asked = call.callsite is not None and call.callsite.direct
        if call.callsite is not None and asked and numbers and all(out.dtype != "bool" for out in call.outputs):
            yield call, call.callsite


def _of_numbers(story: Story) -> Iterator[tuple[CallEvent, Callsite]]:
    """Those of two Python numbers, ``now.norm().item() - raw.norm().item()``, as if the tensors had been compared."""
    before: CallEvent | None = None
    for call in story.doing("reads values"):
        if len(call.inputs) != 1 or call.callsite is None or call.error is not None:
            continue
        if before is not None and before.callsite is not None:
            pairs = zip(before.callsite.chain, call.callsite.chain, strict=False)
            one, other = next(((mine, theirs) for mine, theirs in pairs if mine != theirs), (call.callsite,) * 2)
            if one.same_statement(other) and _differ(other.statement, one.expression, other.expression):
                yield replace(call, inputs=(before.inputs[0], call.inputs[0]), callsite=other), other
        before = call


@lru_cache(maxsize=1024)
def _differ(statement: str, one: str, other: str) -> bool:
    """Whether a statement subtracts or divides the values of two expressions."""
    tree, sides = expressions.parse(statement), (_plain(one), _plain(other))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp)] if tree is not None else []
    held = [node for node in nodes if isinstance(node.op, (ast.Sub, ast.Div))]
    return any((ast.unparse(node.left), ast.unparse(node.right)) == sides for node in held)


def _plain(text: str) -> str:
    node = expressions.parse(text)
    return ast.unparse(node) if node is not None else text


def _measured(story: Story, call: CallEvent, site: Callsite) -> Measured | None:
    made = [story.innermost_new(meta.tensor, call.index) for meta in call.inputs]
    (one, other), first = made, tuple(made)
    for _step in range(_MOST_STEPS):
        if one is None or other is None or one is other or one.name != other.name:
            return None
        if not (_measures_one(one) and _measures_one(other)):
            return None
        if one.inputs[0].storage == other.inputs[0].storage:
            break
        one, other = (story.innermost_new(each.inputs[0].tensor, each.index) for each in (one, other))
    else:
        return None
    sides = one.inputs[0], other.inputs[0]
    earlier, later = sorted((one.index, other.index))
    if not _are_one(*sides, number=one.outputs[0].shape == ()):
        return None
    if story.is_written_between(sides[0].storage, earlier, later):
        return None
    texts = [level(each.callsite, site) if each is not None else None for each in first]
    if texts[0] is None or texts[1] is None:
        return None
    names = _two_names(texts[0].expression, texts[1].expression)
    if names is None or any(
        not _stands_for(story, place, name, side, each)
        for place, name, side, each in zip(texts, names, sides, (one, other), strict=True)
        if place is not None
    ):
        return None
    said = replace(site, expression=f"{names[0]} - {names[1]}")
    beside = replace(call, index=later, inputs=sides, callsite=said)
    return Measured(call, beside, texts[0].expression, texts[1].expression)


def _measures_one(call: CallEvent) -> bool:
    """Whether a call computed one tensor of another one: ``x.sum()``, ``x * x``."""
    return call.kind == "ordinary" and len(call.outputs) == 1 and len({meta.tensor for meta in call.inputs}) == 1


def _are_one(one: TensorMetadata, other: TensorMetadata, *, number: bool) -> bool:
    """Whether two tensors are the same elements; of a number that is made of all of them, in whichever shape."""
    region, beside = region_of(one), region_of(other)
    if one.storage is None or region is None or beside is None or one.version != other.version:
        return False
    if one.tensor == other.tensor and one.is_trainable:
        return False  # a parameter may well stand in two modules
    if without_leading_ones(region) == without_leading_ones(beside):
        return True
    return number and lies_within(region, beside) and lies_within(beside, region)


def _two_names(one: str, other: str) -> tuple[str, str] | None:
    """What two expressions name where they differ in one name alone: `raw` and `now` of ``raw.norm(2)`` and
    ``now.norm(2)``."""
    pairs = set(_differences(expressions.parse(one), expressions.parse(other)))
    pair = pairs.pop() if len(pairs) == 1 else None
    return None if pair is None or pair[0] is None or pair[1] is None else (pair[0], pair[1])


def _differences(one: object, other: object) -> Iterator[tuple[str | None, str | None]]:
    """The paths in which two trees differ; (None, None) where they differ in something else."""
    if isinstance(one, ast.expr) and isinstance(other, ast.expr):
        named = expressions.path_text(one), expressions.path_text(other)
        if None not in named:
            if named[0] != named[1]:
                yield named
            return
    if isinstance(one, ast.Call) and isinstance(other, ast.Call):
        mine, theirs = one.func, other.func
        if isinstance(mine, ast.Attribute) and isinstance(theirs, ast.Attribute) and mine.attr == theirs.attr:
            yield from _differences(mine.value, theirs.value)
            yield from _differences([one.args, one.keywords], [other.args, other.keywords])
            return
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for mine, theirs in zip(one, other, strict=True):
            yield from _differences(mine, theirs)
    elif isinstance(one, ast.AST) and type(one) is type(other):
        for field in one._fields:
            yield from _differences(getattr(one, field, None), getattr(other, field, None))
    elif one != other:
        yield None, None


def _stands_for(story: Story, place: Callsite, name: str, side: TensorMetadata, measures: CallEvent) -> bool:
    """Whether a name of a line is that of the tensor, or of one on its memory."""
    if measures.callsite == place:
        listed = expressions.operands(place.expression, method=measures.does("method"))
        if listed and expressions.path_text(listed[0]) == name:
            return True
    on_it = story.bindings.by_storage.get(side.storage or -1, ())
    return story.bindings.stood_for(place, name, measures.index) in on_it
