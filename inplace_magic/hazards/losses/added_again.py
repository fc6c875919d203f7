"""The same amount was added to a weight once more: it was computed anew, and from parameters that had not changed.

An adapter is merged into the weight that it adapts: ``weight += up @ down``. Who merges before each evaluation, and
takes nothing off after it, adds the product once for each of them.

Bad::

    def merge(layer):
        layer.weight.data += layer.up @ layer.down


    for batch in batches:
        merge(layer)                # one more product in the weight
        layer(batch)

Good::

    def merge(layer):
        layer.weight.data += layer.up @ layer.down


    merge(layer)
    for batch in batches:
        layer(batch)

Told from the record: one line added to a memory what had been computed, since it did so last, by the same operations
from the same tensors, trained leaves among them, and those were not written in between; nor was the memory, so nothing
was taken off again. Silent where the amount was computed once and is added in steps, as along a direction; where random
numbers go into it; and where the line has a variable beside attributes and calls, as ``sign * delta()``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions

CODE = "added-again"

_MOST = 32
"""Calls through which an amount is followed back."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each such line."""
    last: dict[tuple[object, ...], CallEvent] = {}
    told: set[tuple[object, ...]] = set()
    is_fixed = cache(_is_fixed)
    for call in story.doing("adds"):
        site = call.callsite
        if site is None or call.kind != "in-place" or len(call.mutations) != 1:
            continue
        mutation, line = call.mutations[0], (site.cell, site.file, site.line)
        key = (*line, mutation.storage)
        before, last[key] = last.get(key), call
        if before is None or line in told or not is_fixed(site):
            continue
        if not _is_the_same_again(story, before, call, mutation):
            continue
        told.add(line)
        yield _hazard(story, call, mutation)


def _is_the_same_again(story: Story, before: CallEvent, call: CallEvent, mutation: Mutation) -> bool:
    for meta in call.inputs:
        maker = story.innermost_new(meta.tensor, call.index) if meta.storage != mutation.storage else None
        if maker is not None and maker.index >= before.index:
            break
    else:
        return False  # a gradient, or a tensor from before the loop
    if story.is_written_between(mutation.storage, before.index, call.index):
        return False
    made, origins = _amount(story, call, mutation, before.index, {})
    if not any(call.kind == "ordinary" for call in made) or not any(meta.is_trainable for meta in origins.values()):
        return False
    earlier, others = _amount(story, before, mutation, -1, origins)
    if others.keys() != origins.keys() or [each.name for each in earlier] != [each.name for each in made]:
        return False
    return not any(story.is_written_between(m.storage, before.index, call.index) for m in origins.values())


def _amount(
    story: Story, call: CallEvent, mutation: Mutation, since: int, ends: dict[int, TensorMetadata]
) -> tuple[list[CallEvent], dict[int, TensorMetadata]]:
    """The calls after another one that made what a call adds, and the tensors with which they began; nothing where
    that is not known, where they draw random numbers, or read the written memory.

    Args:
        story: the trace.
        call: what adds.
        mutation: what it wrote.
        since: index of the other call.
        ends: tensors behind which nothing is looked for.
    """
    made: list[CallEvent] = []
    found: dict[int, TensorMetadata] = {}
    todo = [meta for meta in call.inputs if meta.storage != mutation.storage]
    while todo:
        meta = todo.pop()
        maker = story.innermost_new(meta.tensor, call.index) if meta.tensor not in ends else None
        if meta.storage in (None, mutation.storage) or len(made) > _MOST or (maker and maker.does("draws")):
            return [], {}
        if maker is None or maker.index < since:
            found[meta.tensor] = meta
            continue
        made.append(maker)
        todo += maker.inputs
    return made, found


def _is_fixed(site: Callsite) -> bool:
    """Whether a line says nothing but attributes and calls: a variable, ``sign * delta``, may be another number."""
    node = expressions.parse(site.statement)
    if node is None or any(isinstance(each, ast.IfExp) for each in ast.walk(node)):
        return False
    names = {each for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names <= {each.value for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _hazard(story: Story, call: CallEvent, mutation: Mutation) -> Hazard:
    name = story.bindings.name(mutation.tensor) or story.bindings.written_name(call, mutation.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} adds to {tensor} what it had added before: the amount was computed anew from parameters that had "
            "not changed, and nothing was taken off in between. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), tensor=f"`{name}`" if name else _("a tensor")),
        fix=_("Add it once and note that it is in; or take it off again, with the same amount, before the next time."),
        variable=story.bindings.written_name(call, mutation.tensor),
        tensor=mutation.tensor,
        write=call,
    )


RULE = Rule(check)
